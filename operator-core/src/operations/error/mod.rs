//! The errors of a write.

mod meaning;
mod refusal;

use std::sync::Arc;

use kube::core::Status;
use serde::de::Error as _;

use crate::{
    cache::{self, Unopened, Unread, WhyUnopened, WhyUnread},
    client::{Closed, is_not_served},
    observe::with_sources,
    resource::{ObjectKey, ResourceType},
};

pub(super) use meaning::{PATCH, masked};
pub(crate) use meaning::{is_servers, says_misfit};
use refusal::words;

/// An error of this module. Its text never contains a value of a Secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server answered, and refused.
    #[error("{kind} {key}: the api server refused to {verb} it: {} ({} {})", words(status), status.code, status.reason)]
    Refused {
        /// What was tried, for example `apply`.
        verb: &'static str,
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The server's answer.
        status: Box<Status>,
    },
    /// The server refused the object as invalid, because of what others have written into it, or beside that.
    #[error("{refused}; what others have written there: {theirs}")]
    InTheWay {
        /// The server's answer.
        refused: Box<Error>,
        /// Places in the object, and who has written them; no values.
        theirs: String,
    },
    /// The server refused a change of a field that can't be changed in an existing object. What would help comes first: a
    /// refusal may repeat a whole template, and conditions and Events are cut at the end.
    #[error("the existing object can't be changed as desired: {advice}; {refused}")]
    Immutable {
        /// The server's answer.
        refused: Box<Error>,
        /// What would help, or why the object isn't created again; no values.
        advice: String,
    },
    /// The server can't read what is applied, or the object that it is applied to, by the schema of its kind: a field that
    /// the schema lacks, a value of another type, a key that is there twice. Nothing was written. It is the code's mistake,
    /// or the installed definition is another one than that for which the code was made.
    #[error(
        "{refused}; this doesn't fit the schema of its kind: correct the object in the code, or install the definition that the code was made for"
    )]
    Misfit {
        /// The server's answer.
        refused: Box<Error>,
    },
    /// The object was deleted to be created again, and still exists: finalizers or a grace period keep it.
    #[error("{kind} {key} is being deleted, and is created again once it is gone")]
    Going {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// Nothing answers at the object's path (a 404 that doesn't name the object): the definition or the version isn't
    /// served, or not yet, or something between the operator and the server answers instead. It says nothing about the
    /// object.
    #[error(
        "{kind} {key}: the attempt to {verb} it was answered 404 ({message}): the kind, or its subresource, isn't served, or no longer is; see `kubectl api-resources`"
    )]
    NotServed {
        /// What was tried.
        verb: &'static str,
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// What the answer says.
        message: String,
    },
    /// There was no answer, or only part of one: the outcome of the write is unknown.
    #[error("{kind} {key}: no answer to the attempt to {verb} it, so its outcome is unknown")]
    Unanswered {
        /// What was tried.
        verb: &'static str,
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// What happened instead of an answer.
        #[source]
        source: Box<kube::Error>,
    },
    /// The operator has stopped, or no longer leads: the write was not sent. Code that holds on to a context after that
    /// can't write any more.
    #[error(
        "{kind} {key}: not sent, because the operator has stopped or is not the leader; end the work when its run is dropped"
    )]
    Fenced {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// The object's namespace is being terminated: nothing can be created in it any more until there is another one
    /// with that name. A run whose primary is in that namespace, and so is about to be removed as well, is not retried.
    #[error(
        "{kind} {key}: its namespace is being terminated, so nothing can be created in it; everything in it, including a primary, is about to be deleted"
    )]
    NamespaceTerminating {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// The object is gone, or another one has taken its name: what was known about it is no longer valid.
    #[error("{kind} {key} is gone, or was replaced by another object with that name; the run is over")]
    Gone {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// The run's primary is being deleted, or gone, which the run didn't know, and an object that is not (or no longer)
    /// its own was to get an owner reference to it: that object would be collected with the primary. Nothing was
    /// written, and the run is over.
    #[error("{kind} {key} is being deleted, so it can no longer own anything; the run is over")]
    OwnerGoes {
        /// The primary's type.
        kind: ResourceType,
        /// The primary.
        key: ObjectKey,
    },
    /// Others write the object so often that no state of it lasted long enough to be updated.
    #[error("{kind} {key}: still in conflict with other writers after {attempts} attempts")]
    Contended {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The number of states of it that were tried.
        attempts: u32,
    },
    /// Someone else has changed the same list of the object: it is no longer clear which of its items was meant.
    #[error("{kind} {key}: someone else has changed the same list in the meantime; nothing was written")]
    Overtaken {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// An object can't be written as JSON.
    #[error("{kind} cannot be serialized")]
    Serialize {
        /// The object's type.
        kind: ResourceType,
        /// The error of serde.
        #[source]
        source: serde_json::Error,
    },
    /// The server's answer is not an object of the expected type.
    #[error("{kind} {key}: the api server's answer cannot be read")]
    Undecodable {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The error of serde.
        #[source]
        source: serde_json::Error,
    },
    /// An object without a name can't be written.
    #[error(
        "a {kind} without `metadata.name` cannot be written; give it a name that follows from its primary's"
    )]
    Unnamed {
        /// The object's type.
        kind: ResourceType,
    },
    /// A namespaced object without a namespace can't be written.
    #[error("{kind} {name} has no `metadata.namespace`; give it the primary's, or the one it belongs to")]
    NoNamespace {
        /// The object's type.
        kind: ResourceType,
        /// The object's name.
        name: String,
    },
    /// The name can't be part of a URL, so the server can't accept it.
    #[error("{kind} {key}: not a valid object name; use lower-case letters, digits, `-` and `.`")]
    InvalidName {
        /// The object's type.
        kind: ResourceType,
        /// The name as it was given.
        key: ObjectKey,
    },
    /// A replacement without the version it was made from would silently undo what others have changed since.
    #[error(
        "{kind} {key}: an update needs the `metadata.resourceVersion` of the state it was made from; take it from the cached object"
    )]
    Unversioned {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// A run can't create its own primary: it exists, or it was deleted and must not come back.
    #[error("{kind} {key} is the run's own primary, which can't be created; apply or patch it instead")]
    OwnPrimary {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// A status function has set the field in which the framework keeps an id.
    #[error(
        "{kind} {key}: the status function sets `status.{field}` to {said}, but the id of what was made in another system is {kept}; leave the field out of the status, the framework writes it"
    )]
    OwnField {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The field.
        field: Arc<str>,
        /// What it is set to.
        said: String,
        /// What is kept there.
        kept: String,
    },
    /// A merge patch must look like the object that it changes.
    #[error(
        "{kind} {key}: a merge patch must be a json object, and so must its `metadata`, for example `{{ \"spec\": {{ … }} }}`"
    )]
    InvalidPatch {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// What a reconciler wants to apply of its primary is not a part of it.
    #[error("{kind} {key}: the patch to apply {what}")]
    PartialApply {
        /// The primary's type.
        kind: ResourceType,
        /// The primary.
        key: ObjectKey,
        /// What is wrong with it, and what to do about that.
        what: String,
    },
    /// The object exists, and its event source is [bounded](crate::ControllerBuilder::bounded): it is not known in full,
    /// and a read of the cache can't wait for the server.
    #[error(
        "{kind} {key} exists, but its event source is bounded and can't be read without asking the server; first call `context.fetch_secondaries::<{}>().await?`, or `context.fetch::<{}>(&key).await?`", kind.kind(), kind.kind()
    )]
    NotHeld {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// An object of a [bounded](crate::ControllerBuilder::bounded) event source, or the primary of a bounded controller,
    /// is not held in full, and can't be read from the server.
    #[error("{kind} {key}: it is not held in full, and can't be read")]
    NotFetched {
        /// The object's type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// Why not.
        #[source]
        source: cache::Error,
    },
    /// The controller has no event source of that name for such objects.
    #[error(
        "the controller has no event source `{name}` for {kind}; declare one with `.watches(InformerEventSource::<{kind}>::new().name(\"{name}\"))`"
    )]
    UnknownEventSource {
        /// The name.
        name: String,
        /// The object's type.
        kind: String,
    },
    /// The controller doesn't watch such objects, so it would neither see its own writes nor find any.
    #[error(
        "the controller has no event source for {kind}; write `.owns::<{kind}>()` for those with an owner reference, `.refers_to::<{kind}>(…)` for those that the primary names, or `.watches(…)`"
    )]
    NoEventSource {
        /// The object's type.
        kind: String,
    },
}

impl Error {
    pub(super) fn refused(
        verb: &'static str,
        kind: ResourceType,
        key: ObjectKey,
        status: Box<Status>,
    ) -> Self {
        let causes = || status.details.iter().flat_map(|details| &details.causes);
        if status.code == 403 && causes().any(|cause| cause.reason == "NamespaceTerminating") {
            return Self::NamespaceTerminating { kind, key };
        }
        let misfits = says_misfit(&status);
        let status = meaning::masked_status(&kind, status);
        // A creation's 404 names the namespace that is missing.
        if is_not_served(&status) {
            return Self::NotServed { verb, kind, key, message: status.message };
        }
        let refused = Self::Refused { verb, kind, key, status };
        if misfits { Self::Misfit { refused: Box::new(refused) } } else { refused }
    }

    pub(super) fn status_not_served(kind: ResourceType, key: ObjectKey) -> Self {
        let message = "the object exists: its definition lacks `subresources: { status: {} }`".to_owned();
        Self::NotServed { verb: PATCH, kind, key, message }
    }

    pub(super) fn unanswered(
        verb: &'static str,
        kind: ResourceType,
        key: ObjectKey,
        source: Box<kube::Error>,
    ) -> Self {
        if with_sources(&*source).any(|cause| cause.is::<Closed>()) {
            return Self::Fenced { kind, key };
        }
        Self::Unanswered { verb, kind, key, source }
    }

    pub(super) fn undecodable(kind: ResourceType, key: ObjectKey, source: serde_json::Error) -> Self {
        let source = masked(&kind, source);
        Self::Undecodable { kind, key, source }
    }
}

impl From<Unopened> for Error {
    fn from(Unopened { kind, key, why }: Unopened) -> Self {
        match why {
            WhyUnopened::Undecodable(error) => Self::undecodable(kind, key, serde_json::Error::custom(error)),
            WhyUnopened::NotHeld => Self::NotHeld { kind, key },
        }
    }
}

/// A read past all caches.
impl From<Unread> for Error {
    fn from(Unread { kind, key, why }: Unread) -> Self {
        const VERB: &str = "get";
        match why {
            WhyUnread::InvalidName => Self::InvalidName { kind, key },
            WhyUnread::Unanswered(source) => Self::unanswered(VERB, kind, key, source),
            WhyUnread::Refused(status) => Self::refused(VERB, kind, key, status),
            WhyUnread::NoObject(source) => Self::undecodable(kind, key, source),
        }
    }
}
