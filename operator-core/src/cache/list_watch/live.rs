//! Reads one live object, past everything that is known about it: the only code that does so, for reads and for writes.

use http::{HeaderValue, Request, header};
use kube::{Client, client::Body, core::Status};
use serde_json::value::RawValue;

use crate::{
    client::{exchange, is_end_of},
    resource::{ObjectKey, ResourceType},
};

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
