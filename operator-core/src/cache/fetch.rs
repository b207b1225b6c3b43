//! Reading one object from the server.

use serde_json::value::RawValue;

use crate::resource::{KubeObject, ObjectKey};

use super::{
    Error,
    engine::Decoded,
    list_watch::{Collection, decode, failure::Failure, fetch},
    shape::Shape,
};

/// The newest state of an object, in the form in which it is kept; `None` when the server doesn't have it.
pub(super) async fn object<K: KubeObject>(
    collection: &Collection,
    key: &ObjectKey,
    shape: &Shape<K>,
) -> Result<Option<K>, Error> {
    let refused = |failure: Failure| Error::Get {
        object: format!("{}/{}", collection.path(), key.name()),
        reason: failure.reason,
        status: failure.status,
    };
    let request = collection.get(key.name()).map_err(refused)?;
    let body = match fetch(collection, request).await {
        Ok(body) => body,
        // A server that has just started also answers 404 until it knows its types; then it names no object.
        Err(failure) if failure.status == Some(404) && failure.object.as_deref() == Some(key.name()) => {
            return Ok(None);
        }
        Err(failure) => return Err(refused(failure)),
    };
    let item: &RawValue = serde_json::from_slice(&body)
        .map_err(|error| collection.resource_type.masked(error))
        .map_err(|error| refused(Failure::new(format!("the answer is no object: {error}"))))?;
    match decode::object(item, &collection.resource_type, shape) {
        Decoded::Object(object) => Ok(Some(object)),
        Decoded::Undecodable { error, .. } => Err(refused(Failure::new(error))),
    }
}
