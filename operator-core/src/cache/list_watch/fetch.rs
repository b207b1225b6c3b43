//! Reads one live object, past everything that is known about it: the only code that does so, for reads and for writes.

use std::sync::Arc;

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

/// An object that couldn't be read.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) kind: ResourceType,
    pub(crate) key: ObjectKey,
    pub(crate) why: WhyUnread,
}

/// Why there is no object to return.
#[derive(Debug)]
pub(crate) enum WhyUnread {
    /// The name can't be part of a URL.
    InvalidName,
    /// There was no answer, or only part of one.
    Unanswered(Box<kube::Error>),
    /// The server refused.
    Refused(Box<Status>),
    /// The answer is not JSON.
    NoObject(serde_json::Error),
}

/// The newest state of an object in the form of `accept`, not decoded yet; `None` if the server doesn't have it.
///
/// Only a 404 that names the object [counts as that](is_end_of).
pub(crate) async fn read_live(
    client: &Client,
    resource_type: &ResourceType,
    key: &ObjectKey,
    accept: &'static str,
) -> Result<Option<Box<RawValue>>, Unread> {
    let unread = |why| Unread { kind: resource_type.clone(), key: key.clone(), why };
    let path = resource_type.object_path(key).ok_or_else(|| unread(WhyUnread::InvalidName))?;
    let request = Request::get(path).header(header::ACCEPT, HeaderValue::from_static(accept));
    let request = request.body(Body::empty()).map_err(|_| unread(WhyUnread::InvalidName))?;
    let answer = exchange(client, request).await;
    match answer.map_err(|error| unread(WhyUnread::Unanswered(Box::new(error))))? {
        Ok((_, body)) => {
            serde_json::from_slice(&body).map(Some).map_err(|error| unread(WhyUnread::NoObject(error)))
        }
        Err(status) if is_end_of(&status, key.name()) => Ok(None),
        Err(status) => Err(unread(WhyUnread::Refused(status))),
    }
}

/// The newest state of an object, in the form in which it is kept; `None` if the server doesn't have it.
pub(in crate::cache) async fn object(
    collection: &Collection,
    key: &ObjectKey,
    face: &dyn Face,
) -> Result<Option<Arc<TextObject>>, Error> {
    let kind = &collection.settings.resource_type;
    let refused = |reason| Error::Get { object: path(kind, key), reason, status: None };
    let read = read_live(&collection.client, kind, key, collection.accept()).await;
    let Some(item) = read? else { return Ok(None) };
    match face.take(&Item::of(item.get())) {
        Decoded::Object { kept, .. } => Ok(Some(kept)),
        Decoded::Undecodable(undecodable) => Err(refused(undecodable.error)),
    }
}

fn path(kind: &ResourceType, key: &ObjectKey) -> String {
    format!("{}/{}", kind.collection_path(key.namespace()), key.name())
}

impl From<Unread> for Error {
    fn from(Unread { kind, key, why }: Unread) -> Self {
        let (status, reason) = match why {
            WhyUnread::Refused(status) => {
                let failure = decode::refusal(status.code, &status, &kind);
                (failure.status, failure.reason)
            }
            WhyUnread::Unanswered(error) => (None, words(&error)),
            WhyUnread::InvalidName => (None, "the name can't be part of a URL".to_owned()),
            WhyUnread::NoObject(error) => {
                (None, format!("the answer isn't an object: {}", kind.masked(error)))
            }
        };
        Self::Get { object: path(&kind, &key), reason, status }
    }
}
