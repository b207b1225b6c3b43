//! Reads one live object, past everything that is known about it: the only code that does so, for reads and for writes.

use std::{sync::Arc, time::Duration};

use http::{HeaderValue, Request, header};
use kube::{Client, client::Body, core::Status};
use serde_json::value::RawValue;

use super::{Collection, decode, words};
use crate::{
    cache::{
        Error,
        engine::Decoded,
        text::{Face, Item, TextObject},
    },
    client::{exchange, is_end_of},
    resource::{ObjectKey, ResourceType},
};

/// The maximum time for a read, including the wait for a request budget.
const DEADLINE: Duration = Duration::from_secs(60);

/// The newest state of an object, in the form in which it is kept; `None` if the server doesn't have it.
pub(in crate::cache) async fn object(
    collection: &Collection,
    key: &ObjectKey,
    face: &dyn Face,
) -> Result<Option<Arc<TextObject>>, Error> {
    let resource_type = &collection.resource_type;
    let refused = |status, reason| Error::Get {
        object: format!("{}/{}", collection.path(), key.name()),
        reason,
        status,
    };
    let read = read_live(&collection.client, resource_type, key, collection.accept());
    let read = tokio::time::timeout(DEADLINE, read).await;
    let read = read.map_err(|_| refused(None, format!("no answer within {} s", DEADLINE.as_secs())))?;
    let item = match read {
        Ok(Some(item)) => item,
        Ok(None) => return Ok(None),
        Err(Unread::Refused(status)) => {
            let failure = decode::refusal(status.code, &status, resource_type);
            return Err(refused(failure.status, failure.reason));
        }
        Err(Unread::Unanswered(error)) => return Err(refused(None, words(&error))),
        Err(Unread::InvalidName) => return Err(refused(None, "the name can't stand in a URL".to_owned())),
        Err(Unread::NoObject(error)) => {
            let error = resource_type.masked(error);
            return Err(refused(None, format!("the answer is no object: {error}")));
        }
    };
    match face.take(&Item::of(item.get())) {
        Decoded::Object { kept, .. } => Ok(Some(kept)),
        Decoded::Undecodable(undecodable) => Err(refused(None, undecodable.error)),
    }
}

/// Why there is no object to return.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The name can't be part of a URL.
    InvalidName,
    /// There was no answer, or only part of one.
    Unanswered(Box<kube::Error>),
    /// The server refused.
    Refused(Box<Status>),
    /// The answer is not JSON.
    NoObject(serde_json::Error),
}

/// The newest state of an object in the form requested by `accept`, not decoded yet; `None` if the server doesn't have
/// it.
///
/// Only a 404 that names the object [counts as that](is_end_of).
pub(crate) async fn read_live(
    client: &Client,
    resource_type: &ResourceType,
    key: &ObjectKey,
    accept: &'static str,
) -> Result<Option<Box<RawValue>>, Unread> {
    let path = format!("{}/{}", resource_type.collection_path(key.namespace()), key.name());
    let request = Request::get(path).header(header::ACCEPT, HeaderValue::from_static(accept));
    let request = request.body(Body::empty()).map_err(|_| Unread::InvalidName)?;
    let answer = exchange(client, request).await;
    match answer.map_err(|error| Unread::Unanswered(Box::new(error)))? {
        Ok((_, body)) => serde_json::from_slice(&body).map(Some).map_err(Unread::NoObject),
        Err(status) if is_end_of(&status, key.name()) => Ok(None),
        Err(status) => Err(Unread::Refused(status)),
    }
}
