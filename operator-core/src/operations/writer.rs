//! The way out: each write of the library passes [`Writer::send`].

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use kube::{
    Client,
    client::Body,
    core::{Status, response::StatusDetails},
};
use serde_json::value::RawValue;

use super::Error;
use crate::{
    cache::decode,
    client::retry_after,
    environment::Environment,
    observe::{Observation, Observers, WriteEffect},
    resource::{KubeObject, ObjectKey, ResourceType, ResourceVersion},
};

/// How a write is expressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// POST to the collection.
    Create,
    /// Server-side apply that takes fields from other managers.
    Apply,
    /// PUT of the whole object.
    Update,
    /// JSON patch (RFC 6902).
    JsonPatch,
    /// JSON merge patch (RFC 7386).
    MergePatch,
    /// DELETE with preconditions.
    Delete,
}

impl Verb {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Apply => "apply",
            Self::Update => "update",
            Self::JsonPatch | Self::MergePatch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// A write on its way out.
#[derive(Debug)]
pub(crate) struct Write<'w> {
    pub(crate) verb: Verb,
    pub(crate) target_type: &'w ResourceType,
    pub(crate) target: &'w ObjectKey,
    pub(crate) subresource: Option<&'static str>,
    pub(crate) body: Bytes,
    /// The version that the write builds upon; tells whether the server found something to change.
    pub(crate) base: Option<ResourceVersion>,
}

/// The only place that writes to the API server.
///
/// # Guarantees
/// - Each write is sent once and ends within the clients' deadline.
/// - Each write, whatever comes of it, is told to the observers: kind, name, effect and duration, never content.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) client: ClientHandle,
    pub(crate) reads: ClientHandle,
    pub(crate) controller: Arc<str>,
    pub(crate) field_manager: Arc<str>,
    pub(crate) environment: Environment,
    pub(crate) observers: Observers,
}

/// A client that can be printed.
#[derive(Clone)]
pub(crate) struct ClientHandle(pub(crate) Client);

impl std::fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

impl Writer {
    /// Sends `write` for the run of `primary`, and says nothing about what is in the answer.
    pub(super) async fn send(&self, primary: &ObjectKey, write: &Write<'_>) -> Result<Vec<u8>, Error> {
        let started = self.environment.now();
        let result = self.exchange(write).await;
        let text;
        let effect = match &result {
            Ok((code, answer)) => effect(write, *code, answer),
            Err(error) => {
                text = error.to_string();
                WriteEffect::Failed { error: &text }
            }
        };
        self.observers.observe(&Observation::Wrote {
            controller: &self.controller,
            primary,
            target_type: write.target_type,
            target: write.target,
            subresource: write.subresource,
            effect,
            took: self.environment.now() - started,
        });
        result.map(|(_, answer)| answer)
    }

    /// Tells the observers that nothing differed, so that nothing was sent.
    pub(crate) fn matched(
        &self,
        primary: &ObjectKey,
        target_type: &ResourceType,
        target: &ObjectKey,
        subresource: Option<&'static str>,
    ) {
        self.observers.observe(&Observation::Wrote {
            controller: &self.controller,
            primary,
            target_type,
            target,
            subresource,
            effect: WriteEffect::Matched,
            took: std::time::Duration::ZERO,
        });
    }

    /// Reads the live object, past all caches; `None` when it doesn't exist.
    pub(crate) async fn get<K: KubeObject>(
        &self,
        target_type: &ResourceType,
        target: &ObjectKey,
    ) -> Result<Option<K>, Error> {
        let path = format!("{}/{}", target_type.collection_path(target.namespace()), target.name());
        let request = Request::get(path).body(Vec::new()).map_err(|_| invalid_name(target_type, target))?;
        let (verb, kind, key) = ("get", target_type.clone(), target.clone());
        let answered = answer(&self.reads.0, request.map(Body::from)).await;
        match answered.map_err(|source| Error::unanswered(verb, kind.clone(), key.clone(), source))? {
            Ok((_, body)) => match serde_json::from_slice(&body) {
                Ok(object) => Ok(Some(object)),
                Err(source) => Err(Error::undecodable(kind, key, source)),
            },
            Err(status) if status.code == 404 => Ok(None),
            Err(status) => Err(Error::refused(verb, kind, key, status)),
        }
    }

    async fn exchange(&self, write: &Write<'_>) -> Result<(StatusCode, Vec<u8>), Error> {
        let (kind, key) = (write.target_type, write.target);
        let unanswered = |source| Error::unanswered(write.verb.as_str(), kind.clone(), key.clone(), source);
        let answered = answer(&self.client.0, self.request(write)?).await.map_err(unanswered)?;
        answered.map_err(|status| Error::refused(write.verb.as_str(), kind.clone(), key.clone(), status))
    }

    /// The object in an answer, as caches hold it: managed fields of others would only be built to be thrown away.
    pub(super) fn decode<K: KubeObject>(&self, write: &Write<'_>, answer: &[u8]) -> Result<K, Error> {
        serde_json::from_slice::<&RawValue>(answer)
            .and_then(|answer| decode(answer.get(), &[&self.field_manager]))
            .map_err(|source| Error::undecodable(write.target_type.clone(), write.target.clone(), source))
    }

    fn request(&self, write: &Write<'_>) -> Result<Request<Body>, Error> {
        let collection = write.target_type.collection_path(write.target.namespace());
        let object = || {
            let subresource = write.subresource.map(|name| format!("/{name}")).unwrap_or_default();
            format!("{collection}/{}{subresource}", write.target.name())
        };
        let manager = &self.field_manager;
        let (method, uri, content) = match write.verb {
            Verb::Create => {
                (Method::POST, format!("{collection}?fieldManager={manager}"), "application/json")
            }
            Verb::Update => (Method::PUT, format!("{}?fieldManager={manager}", object()), "application/json"),
            Verb::Apply => (
                Method::PATCH,
                format!("{}?force=true&fieldManager={manager}", object()),
                "application/apply-patch+yaml",
            ),
            Verb::JsonPatch => {
                (Method::PATCH, format!("{}?fieldManager={manager}", object()), "application/json-patch+json")
            }
            Verb::MergePatch => (
                Method::PATCH,
                format!("{}?fieldManager={manager}", object()),
                "application/merge-patch+json",
            ),
            Verb::Delete => (Method::DELETE, object(), "application/json"),
        };
        Request::builder()
            .method(method)
            .uri(uri)
            .header(header::CONTENT_TYPE, content)
            .header(header::ACCEPT, "application/json")
            .body(Body::from(write.body.clone()))
            .map_err(|_| invalid_name(write.target_type, write.target))
    }
}

/// The answer to a request: code and body, or the refusal. Goes round kube's own reading of answers, which logs those that
/// it doesn't understand as a whole, be it a Secret.
async fn answer(
    client: &Client,
    request: Request<Body>,
) -> Result<Result<(StatusCode, Vec<u8>), Box<Status>>, kube::Error> {
    let response = client.send(request).await?;
    let code = response.status();
    let asked = retry_after(response.headers());
    let body = response.into_body().collect().await?.to_bytes();
    if code.is_success() {
        return Ok(Ok((code, body.into())));
    }
    // A proxy between us and the server answers in its own words, and be it in JSON.
    let status = serde_json::from_slice::<Status>(&body).ok().filter(|status| status.code != 0);
    let mut status = status.unwrap_or_else(|| {
        Status::failure(String::from_utf8_lossy(&body).trim(), "Unknown").with_code(code.as_u16())
    });
    if let Some(asked) = asked {
        let seconds = u32::try_from(asked.as_secs()).unwrap_or(u32::MAX);
        let none = || StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: Vec::new(),
            retry_after_seconds: 0,
        };
        status.details.get_or_insert_with(none).retry_after_seconds = seconds;
    }
    Ok(Err(Box::new(status)))
}

fn invalid_name(kind: &ResourceType, key: &ObjectKey) -> Error {
    Error::InvalidName { kind: kind.clone(), key: key.clone() }
}

fn effect(write: &Write<'_>, code: StatusCode, answer: &[u8]) -> WriteEffect<'static> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        metadata: Metadata,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        resource_version: Option<String>,
        deletion_timestamp: Option<serde::de::IgnoredAny>,
        #[serde(default)]
        finalizers: Vec<serde::de::IgnoredAny>,
    }
    match write.verb {
        Verb::Delete => WriteEffect::Deleted,
        _ if code == StatusCode::CREATED => WriteEffect::Created,
        _ => {
            let answer = serde_json::from_slice::<Versioned>(answer).ok().map(|answer| answer.metadata);
            let version = answer
                .as_ref()
                .and_then(|answer| ResourceVersion::parse(answer.resource_version.as_deref()?));
            match answer {
                // The last finalizer's end is not stored any more, so that the version stays: the object goes instead.
                Some(answer) if answer.deletion_timestamp.is_some() && answer.finalizers.is_empty() => {
                    WriteEffect::Deleted
                }
                _ if version.is_some() && version == write.base => WriteEffect::Unchanged,
                _ => WriteEffect::Updated,
            }
        }
    }
}
