//! Reads the live object, past all caches: used if the answer to a write, or the lack of one, leaves open what exists
//! now.

use futures::{FutureExt, future::BoxFuture};
use serde::de::Error as _;

use super::{Error, Writer};
use crate::{
    cache::{AnyInformer, Unread, read_live},
    resource::{AnyObject, ObjectKey},
};

/// The live object, complete, including the managed fields of others. `None` if it doesn't exist.
///
/// Boxed, as in `Writer::send`.
pub(crate) fn live<'r>(
    writer: &'r Writer,
    informer: &'r AnyInformer,
    key: &'r ObjectKey,
) -> BoxFuture<'r, Result<Option<AnyObject>, Error>> {
    look(writer, informer, key).boxed()
}

async fn look(writer: &Writer, informer: &AnyInformer, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
    const VERB: &str = "get";
    let kind = informer.resource_type();
    let read = read_live(&writer.clients.reads, kind, key, "application/json").await;
    let (kind, key) = (kind.clone(), key.clone());
    match read {
        Ok(Some(object)) => match informer.view().whole(object.get()) {
            Ok(object) => Ok(Some(object)),
            // None of the object's values is repeated, whatever its kind.
            Err(words) => Err(Error::undecodable(kind, key, serde_json::Error::custom(words))),
        },
        Ok(None) => Ok(None),
        Err(Unread::InvalidName) => Err(Error::InvalidName { kind, key }),
        Err(Unread::Unanswered(source)) => Err(Error::unanswered(VERB, kind, key, source)),
        Err(Unread::Refused(status)) => Err(Error::refused(VERB, kind, key, status)),
        Err(Unread::NoObject(source)) => Err(Error::undecodable(kind, key, source)),
    }
}
