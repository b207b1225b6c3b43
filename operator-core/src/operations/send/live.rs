//! Reads the live object, past all caches: used if the answer to a write, or the lack of one, leaves open what exists
//! now.

use futures::{FutureExt, future::BoxFuture};
use serde::de::Error as _;

use crate::operations::{Error, Writer};
use crate::{
    cache::{Informer, Unread, read_live},
    resource::{AnyObject, ObjectKey, ResourceType},
};

/// The live object, complete, including the managed fields of others. `None` if it doesn't exist.
///
/// Boxed, as in `Writer::send`.
pub(crate) fn live<'r>(
    writer: &'r Writer,
    informer: &'r Informer,
    key: &'r ObjectKey,
) -> BoxFuture<'r, Result<Option<AnyObject>, Error>> {
    look(writer, informer, key).boxed()
}

async fn look(writer: &Writer, informer: &Informer, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
    let kind = informer.resource_type();
    let read = read_live(&writer.clients.reads, kind, key, "application/json").await;
    let Some(object) = read.map_err(|error| unread(error, kind, key))? else { return Ok(None) };
    // None of the object's values is repeated, whatever its kind.
    let whole = informer.view().whole(object.get());
    whole
        .map(Some)
        .map_err(|words| Error::undecodable(kind.clone(), key.clone(), serde_json::Error::custom(words)))
}

/// Why an object couldn't be read.
pub(in crate::operations) fn unread(error: Unread, kind: &ResourceType, key: &ObjectKey) -> Error {
    const VERB: &str = "get";
    let (kind, key) = (kind.clone(), key.clone());
    match error {
        Unread::InvalidName => Error::InvalidName { kind, key },
        Unread::Unanswered(source) => Error::unanswered(VERB, kind, key, source),
        Unread::Refused(status) => Error::refused(VERB, kind, key, status),
        Unread::NoObject(source) => Error::undecodable(kind, key, source),
    }
}
