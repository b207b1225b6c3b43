//! Requests, and how they are sent: each write of the library passes through [`Writer::send`]. What the writes of a run
//! find out about its primary is noted here.

use std::{collections::BTreeSet, sync::Arc};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use http::{Method, Request, StatusCode, header};
use kube::{api::PropagationPolicy, client::Body};
use parking_lot::Mutex;
use serde_json::Value;

use super::body;
use crate::operations::{
    error::{Error, PATCH},
    matcher::Part,
    primary::{at, put_at},
    undeclared::Undeclared,
};
use crate::{
    cache::HeldObjects,
    client::{Clients, exchange},
    environment::{Environment, Now},
    event_source::{AnySecondary, PrimarySource, Sources},
    observe::{Observation, Observers, SourceIndex, WriteEffect},
    resource::{ObjectKey, ResourceType, ResourceVersion},
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
    pub(in crate::operations) const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Apply => "apply",
            Self::Update => "update",
            Self::JsonPatch | Self::MergePatch => PATCH,
            Self::Delete => "delete",
        }
    }
}

/// A write to be sent.
#[derive(Debug)]
pub(crate) struct WriteRequest<'w> {
    pub(crate) verb: Verb,
    pub(crate) kind: &'w ResourceType,
    pub(crate) key: &'w ObjectKey,
    pub(crate) subresource: Option<&'static str>,
    pub(crate) body: Bytes,
    /// The version that the write is based on; shows whether the server found something to change.
    pub(crate) base: Option<ResourceVersion>,
}

impl<'w> WriteRequest<'w> {
    /// A write of an object as a whole, whatever there is.
    pub(in crate::operations) fn of(
        verb: Verb,
        kind: &'w ResourceType,
        key: &'w ObjectKey,
        body: Bytes,
    ) -> Self {
        Self { verb, kind, key, subresource: None, body, base: None }
    }
}

/// The only place that writes to the API server.
///
/// # Guarantees
/// - Each write is sent once and ends within the clients' deadline.
/// - Each write, whatever its outcome, is reported to the observers: kind, name, effect and duration, never content.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) clients: Clients,
    pub(crate) controller: Arc<str>,
    pub(crate) field_manager: Arc<str>,
    pub(crate) environment: Environment,
    pub(crate) observers: Observers,
    pub(crate) undeclared: Arc<Undeclared>,
}

impl Writer {
    /// Sends `write` for the run of `primary`, and doesn't interpret the answer.
    ///
    /// Boxed, because most runs send nothing: otherwise the size of a request would enlarge everything that may send
    /// one.
    pub(in crate::operations) fn send<'r>(
        &'r self,
        primary: &'r ObjectKey,
        write: &'r WriteRequest<'_>,
    ) -> BoxFuture<'r, Result<Bytes, Error>> {
        self.send_and_tell(primary, write).boxed()
    }

    async fn send_and_tell(&self, primary: &ObjectKey, write: &WriteRequest<'_>) -> Result<Bytes, Error> {
        let started = self.environment.now();
        let answered = self.exchanged(write, "").await;
        let took = self.environment.now() - started;
        let text;
        let (effect, result) = match answered {
            Ok((code, answer)) => (effect(write, code, &Stored::read(&answer)), Ok(answer)),
            Err(error) => {
                text = error.to_string();
                (WriteEffect::Failed { error: &text }, Err(error))
            }
        };
        self.observers.observe(&Observation::Wrote {
            controller: &self.controller,
            primary,
            target_type: write.kind,
            target: write.key,
            subresource: write.subresource,
            effect,
            took,
        });
        result
    }

    /// Notifies the observers that nothing differed, so that nothing was sent.
    pub(crate) fn matched(
        &self,
        primary: &ObjectKey,
        kind: &ResourceType,
        key: &ObjectKey,
        subresource: Option<&'static str>,
    ) {
        self.observers.observe(&Observation::Wrote {
            controller: &self.controller,
            primary,
            target_type: kind,
            target: key,
            subresource,
            effect: WriteEffect::Matched,
            took: std::time::Duration::ZERO,
        });
    }

    /// What the server would answer to a write that it doesn't carry out. Nothing is written, and no observer is told.
    pub(in crate::operations) async fn try_out(&self, write: &WriteRequest<'_>) -> Result<Bytes, Error> {
        Ok(self.exchanged(write, "&dryRun=All").await?.1)
    }

    /// `option` is added to the parameters.
    async fn exchanged(&self, write: &WriteRequest<'_>, option: &str) -> Result<(StatusCode, Bytes), Error> {
        let (verb, kind, key) = (write.verb.as_str(), write.kind, write.key);
        let answered = exchange(&self.clients.direct, self.request(write, option)?).await;
        answered
            .map_err(|source| Error::unanswered(verb, kind.clone(), key.clone(), Box::new(source)))?
            .map_err(|status| Error::refused(verb, kind.clone(), key.clone(), status))
    }

    fn request(&self, write: &WriteRequest<'_>, option: &str) -> Result<Request<Body>, Error> {
        let object = write.kind.object_path(write.key).ok_or_else(|| invalid_name(write.kind, write.key))?;
        let path = match (write.verb, write.subresource) {
            (Verb::Create, _) => write.kind.collection_path(write.key.namespace()),
            (_, Some(subresource)) => format!("{object}/{subresource}"),
            (_, None) => object,
        };
        let parameters = format!("fieldManager={}{option}", self.field_manager);
        let (method, uri, content) = match write.verb {
            Verb::Create => (Method::POST, format!("{path}?{parameters}"), "json"),
            Verb::Update => (Method::PUT, format!("{path}?{parameters}"), "json"),
            Verb::Apply => (Method::PATCH, format!("{path}?force=true&{parameters}"), "apply-patch+yaml"),
            Verb::JsonPatch => (Method::PATCH, format!("{path}?{parameters}"), "json-patch+json"),
            Verb::MergePatch => (Method::PATCH, format!("{path}?{parameters}"), "merge-patch+json"),
            Verb::Delete => (Method::DELETE, path, "json"),
        };
        Request::builder()
            .method(method)
            .uri(uri)
            .header(header::CONTENT_TYPE, format!("application/{content}"))
            .header(header::ACCEPT, "application/json")
            .body(Body::from(write.body.clone()))
            .map_err(|_| invalid_name(write.kind, write.key))
    }
}

/// The field manager of the ids and notes that a controller with this field manager writes.
pub(crate) fn records_manager(field_manager: &str) -> String {
    // A field manager has 128 characters at most.
    format!("{field_manager:.120}-records")
}

/// The run that writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritingRun<'c> {
    /// The primary of the run.
    pub(crate) key: &'c ObjectKey,
    /// Its incarnation.
    pub(crate) uid: &'c str,
    /// Whether the run has begun with a primary that is being deleted: a clean-up.
    pub(crate) is_cleanup: bool,
    /// The controller's finalizer, if it uses one.
    pub(crate) finalizer: Option<&'c str>,
    /// The annotations of the primary that are the framework's, not the reconciler's.
    pub(crate) own_annotations: [&'c str; 4],
    /// The fields of the primary's status that the framework writes itself: not a status function's either.
    pub(crate) own_fields: &'c [Arc<str>],
    /// What its writes find out about the primary.
    pub(crate) findings: &'c Mutex<Findings>,
    /// What bounded event sources hold in full for the run.
    pub(crate) held: &'c HeldObjects,
    /// What becomes of what a deleted object owns.
    pub(crate) propagation: &'c PropagationPolicy,
    pub(crate) primaries: &'c PrimarySource,
    pub(crate) sources: &'c Sources,
    pub(crate) writer: &'c Writer,
}

impl WritingRun<'_> {
    /// A deletion of the object with this uid, at this version if one is given, and of what it owns.
    pub(in crate::operations) fn deletion<'w>(
        &self,
        kind: &'w ResourceType,
        key: &'w ObjectKey,
        uid: Option<&str>,
        version: Option<&str>,
    ) -> WriteRequest<'w> {
        let body = body::deletion(uid, version, self.propagation);
        WriteRequest::of(Verb::Delete, kind, key, body::bytes(&body))
    }

    /// Sends a write, once, and records what its error says about the primary.
    pub(in crate::operations) async fn send(&self, write: &WriteRequest<'_>) -> Result<Bytes, Error> {
        self.noted(self.writer.send(self.key, write).await)
    }

    /// Sets what is the framework's on the primary to what it is in `from`: `to` is what user code makes of `from`.
    pub(in crate::operations) fn keep_own(&self, part: Part, from: &Value, to: &mut Value) {
        if part == Part::Object {
            body::keep_annotations(from, to, self.own_annotations);
            self.keep_finalizer(from, to);
        }
        for field in self.own_fields.iter().filter(|_| part == Part::Status) {
            let kept = at(&from["status"], field).cloned();
            if kept.is_some() || at(&to["status"], field).is_some() {
                put_at(&mut to["status"], field, kept);
            }
        }
    }

    /// Takes what is the framework's on the primary out of a merge patch, or of a part that is applied. A patch that takes a
    /// whole object away takes away the rest of what is in it in `newest`.
    pub(in crate::operations) fn leave_own(&self, newest: &Value, part: &mut Value) {
        for name in self.own_annotations {
            body::leave(newest, part, &["metadata", "annotations", name]);
        }
        for field in self.own_fields {
            let path: Vec<&str> = std::iter::once("status").chain(field.split('.')).collect();
            body::leave(newest, part, &path);
        }
        if part.pointer("/metadata/finalizers").is_some() {
            self.keep_finalizer(newest, part);
        }
    }

    fn keep_finalizer(&self, from: &Value, to: &mut Value) {
        if let Some(finalizer) = self.finalizer.filter(|finalizer| body::lists_finalizer(finalizer, from)) {
            body::add_finalizer(finalizer, to);
        }
    }

    /// Records what an error says about the primary.
    pub(crate) fn noted<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.inspect_err(|error| self.findings.lock().take(error, self.key, self.writer.environment.now()))
    }
}

/// The group and the kind of what a function has asked for, its key if it was one object, and the node of the function.
type AskedFor = (String, String, Option<ObjectKey>, String);

/// What the writes of one run have found out about its primary; it is read when the run has ended. Kept separately from
/// their errors, because user code may wrap an error, return another one instead, or none.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The primary is gone or replaced.
    pub(crate) primary_is_gone: bool,
    /// The primary is being deleted, which its run didn't know.
    pub(crate) primary_is_going: bool,
    /// The status was written without a field that the installed definition lacks, which is to be tried again.
    pub(crate) status_is_incomplete: bool,
    /// The primary's own namespace is being terminated, so that the primary is about to be removed as well.
    pub(crate) namespace_ends: bool,
    /// When the server is ready for another request, if it has refused one for now.
    pub(crate) not_before: Option<Now>,
    /// What the functions of nodes have asked for: by kind, and by key if only one object was asked for; and the nodes.
    asked: BTreeSet<AskedFor>,
    /// The answer to a function of the run would be another one by now: the source of an object that a node has written
    /// since then.
    pub(crate) overtaken: Option<SourceIndex>,
}

impl Findings {
    /// A node's function has asked for the object with that key, or for all objects of the kind that belong to the primary.
    pub(crate) fn note_asked(&mut self, kind: &ResourceType, key: Option<&ObjectKey>, node: &str) {
        self.asked.insert((kind.group().to_owned(), kind.kind().to_owned(), key.cloned(), node.to_owned()));
    }

    /// A node has changed an object. What it has made itself is no news to it.
    pub(in crate::operations) fn note_written(&mut self, of: &AnySecondary, key: &ObjectKey, node: &str) {
        let written = of.resource_type();
        let is_overtaken = self.asked.iter().any(|(group, kind, asked, by)| {
            (group.as_str(), kind.as_str()) == (written.group(), written.kind())
                && asked.as_ref().is_none_or(|asked| asked == key)
                && by != node
        });
        if is_overtaken {
            self.overtaken = Some(of.index());
        }
    }

    /// Takes from the error of a write, or of a read, what it says about the run's `primary`.
    fn take(&mut self, error: &Error, primary: &ObjectKey, now: Now) {
        if let Some(asked) = error.retry_after() {
            self.not_before = self.not_before.max(Some(now + asked));
        }
        if let Error::NamespaceTerminating { key, .. } = error {
            self.namespace_ends |= key.namespace() == primary.namespace();
        }
    }
}

fn invalid_name(kind: &ResourceType, key: &ObjectKey) -> Error {
    Error::InvalidName { kind: kind.clone(), key: key.clone() }
}

/// The stored object's state, from an answer.
struct Stored {
    version: Option<ResourceVersion>,
    /// When the last finalizer is removed, that is not stored, so the version stays the same: the object is removed
    /// instead.
    goes: bool,
}

impl Stored {
    fn read(answer: &[u8]) -> Self {
        #[derive(serde::Deserialize)]
        struct Versioned<'a> {
            #[serde(borrow)]
            metadata: Metadata<'a>,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata<'a> {
            resource_version: Option<&'a str>,
            deletion_timestamp: Option<serde::de::IgnoredAny>,
            finalizers: Option<Vec<serde::de::IgnoredAny>>,
        }
        let Ok(Versioned { metadata }) = serde_json::from_slice::<Versioned<'_>>(answer) else {
            return Self { version: None, goes: false };
        };
        Self {
            version: metadata.resource_version.and_then(ResourceVersion::parse),
            goes: metadata.deletion_timestamp.is_some()
                && metadata.finalizers.is_none_or(|left| left.is_empty()),
        }
    }
}

fn effect(write: &WriteRequest<'_>, code: StatusCode, stored: &Stored) -> WriteEffect<'static> {
    match write.verb {
        Verb::Delete => WriteEffect::Deleted,
        _ if code == StatusCode::CREATED => WriteEffect::Created,
        _ if stored.goes => WriteEffect::Deleted,
        _ if stored.version.is_some() && stored.version == write.base => WriteEffect::Unchanged,
        _ => WriteEffect::Updated,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn an_answer_shows_what_is_stored(
            marked: bool,
            finalizers in prop_oneof![Just(Value::Null), Just(json!([])), Just(json!(["theirs"]))],
            version in prop::option::of("[1-9][0-9]{0,3}"),
        ) {
            let mut answer = json!({ "metadata": { "name": "a", "uid": "u", "resourceVersion": version } });
            if marked {
                answer["metadata"]["deletionTimestamp"] = json!("2026-11-21T12:00:00Z");
            }
            answer["metadata"]["finalizers"] = finalizers;
            let read = Stored::read(answer.to_string().as_bytes());
            prop_assert_eq!(read.version, version.as_deref().and_then(ResourceVersion::parse));
            let goes = marked && answer["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty);
            prop_assert_eq!(read.goes, goes);
        }
    }
}
