//! Events of Kubernetes about primaries: what `kubectl describe` and `kubectl events` show. JOSDK: `EventRecorder`.
//!
//! ```text
//! Events::normal, warn ─▶ quota of the primary (`note`, pure) ── used up ──▶ dropped, counted
//!                            │
//!                            ▼
//!         queue of the controller, bounded ─▶ one task ─▶ GET by its name (`note`, pure)
//!                                                            ├─ none ─▶ POST, with the count 1
//!                                                            └─ one ──▶ PATCH: one more, and when; bound to the version
//! ```
//!
//! If Events are forwarded, those that pass wait in a second queue as well, that of the receiver.
//!
//! # Guarantees
//! - A run neither waits for an Event nor fails because of one: what can't be written is logged, counted and forgotten.
//! - The same Event about the same object has the same name, whichever replica writes it and however often the operator
//!   has been restarted: it is counted up, not repeated.
//! - A primary gets a burst of Events, then one now and then; what is kept for that goes with the primary.
//! - Events of one controller are written one after the other, in the order of the calls.
//!
//! # Assumptions
//! - There is a runtime where [`Events::normal`] and [`Events::warn`] are called, as there is in a run.

mod forward;
mod note;
mod outbox;

use std::{mem, sync::Arc, time::Duration};

use futures::future::OptionFuture;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use parking_lot::Mutex;
use tracing::Level;

pub(crate) use forward::Receiver;
pub(crate) use note::About;
use note::{EventQuota, Note, Severity};
use outbox::Outbox;

use super::send::request::Writer;
use crate::{
    event_source::PrimaryScopes,
    observe::EventOutcome,
    resource::{Access, ObjectKey, ResourceType},
};

/// Writes Events about the primary of a run, got from [`Context::events`](crate::Context::events). JOSDK:
/// `EventRecorder`.
///
/// Both methods return at once; the Event is written a moment later, as a core/v1 Event in the primary's namespace, or in
/// `default` for a cluster-scoped primary. If it can't be written, that is logged and counted
/// (`kubernetes_events_total`), and nothing else happens. The same Event again, also after a restart, raises the count of
/// the first one.
///
/// A primary may have 25 Events at once and one more every five minutes, as in Kubernetes' own controllers, and five warnings
/// beside them; what exceeds that is dropped and counted. The objects of its [bundles](crate::Objects) have as many together.
///
/// The controller has to declare that it writes Events, with
/// [`records_events`](crate::ControllerBuilder::records_events).
#[derive(Clone, Debug)]
pub struct Events<'c> {
    recorder: &'c Arc<Recorder>,
    about: About,
    key: Option<String>,
}

impl<'c> Events<'c> {
    pub(crate) fn new(recorder: &'c Arc<Recorder>, about: About) -> Self {
        Self { recorder, about, key: None }
    }

    /// Records that something went as it should: `reason` is one word such as `Created`, for machines, `message` a
    /// sentence for people. They are cut after 128 and 1024 bytes. Never put a value of a Secret into a message: whoever
    /// may read Events can read it.
    pub fn normal(&self, reason: impl Into<String>, message: impl Into<String>) {
        self.record(Severity::Normal, reason.into(), message.into());
    }

    /// The same for something that needs attention.
    pub fn warn(&self, reason: impl Into<String>, message: impl Into<String>) {
        self.record(Severity::Warning, reason.into(), message.into());
    }

    /// The same Events, told apart by `key` instead of by their message: for a message with a number or a time in it,
    /// which would otherwise be another Event each time. The newest message is shown.
    #[must_use]
    pub fn keyed(&self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self.clone() }
    }

    /// The same about an object that the primary has made.
    pub(crate) fn on(&self, kind: &ResourceType, meta: &ObjectMeta) -> Self {
        let about = About {
            kind: kind.clone(),
            key: ObjectKey::in_meta(meta),
            uid: meta.uid.as_deref().unwrap_or_default().into(),
            version: meta.resource_version.clone(),
            primary: Some(self.about.key.clone()),
        };
        Self { about, ..self.clone() }
    }

    /// The same for something of this level.
    pub(crate) fn at(&self, level: Level, reason: String, message: String) {
        let severity = match level {
            Level::ERROR | Level::WARN => Severity::Warning,
            Level::INFO => Severity::Normal,
            _ => Severity::Trace,
        };
        self.record(severity, reason, message);
    }

    fn record(&self, severity: Severity, reason: String, message: String) {
        let note = Note::new(self.about.clone(), severity, reason, message, self.key.clone());
        self.recorder.record(note);
    }
}

/// The rights that Events need.
pub(crate) fn access() -> Access {
    Access { resource_type: note::kind(), subresource: None, verbs: vec!["get", "create", "patch"] }
}

/// Writes the Events of one controller.
pub(crate) struct Recorder {
    writer: Writer,
    scopes: Arc<PrimaryScopes>,
    /// Whether the controller says that it writes any.
    pub(crate) declared: bool,
    cluster: Arc<Outbox>,
    /// Those that are forwarded, if there is a receiver.
    forwarded: Option<Arc<Outbox>>,
    state: Mutex<State>,
}

/// The quotas of a primary.
#[derive(Debug, Default)]
struct Quotas {
    own: EventQuota,
    /// That of all its objects, together.
    of_objects: EventQuota,
}

#[derive(Debug, Default)]
struct State {
    /// The quota of all primaries that are gone, together.
    gone: EventQuota,
    /// It was said that Events are not declared.
    told: bool,
}

impl Recorder {
    pub(crate) fn new(
        writer: Writer,
        scopes: Arc<PrimaryScopes>,
        declared: bool,
        receiver: Option<Receiver>,
    ) -> Arc<Self> {
        let cluster = Outbox::new(None, writer.clone());
        let forwarded = receiver.map(|receiver| Outbox::new(Some(receiver), writer.clone()));
        Arc::new(Self { writer, scopes, declared, cluster, forwarded, state: Mutex::default() })
    }

    /// Takes an Event, to be written soon, unless its primary has had too many.
    fn record(&self, note: Note) {
        let now = self.writer.environment.now();
        let mut state = self.state.lock();
        let About { key, primary, .. } = &note.about;
        let passes = self.scopes.of(primary.as_ref().unwrap_or(key)).change(|quotas: &mut Quotas| {
            let quota = if primary.is_some() { &mut quotas.of_objects } else { &mut quotas.own };
            quota.take(note.severity, now)
        });
        if !self.declared && !mem::replace(&mut state.told, true) {
            tracing::warn!(
                controller = &*self.writer.controller,
                "the controller writes Events and doesn't say so, so its `access()` lacks the rights for them; declare `.records_events(true)`"
            );
        }
        let passes = passes.unwrap_or_else(|| state.gone.take(note.severity, now));
        drop(state);
        if !passes {
            return self.cluster.tell(&note, EventOutcome::Suppressed);
        }
        if let Some(forwarded) = self.forwarded.as_ref().filter(|_| note.is_forwarded()) {
            forwarded.put(note.clone());
        }
        self.cluster.put(note);
    }

    /// Whether some Events are still to be written.
    pub(crate) fn is_busy(&self) -> bool {
        self.cluster.is_busy()
    }

    /// Waits until all Events are written and forwarded, at most for that time; what is left is given up.
    pub(crate) async fn finish(&self, timeout: Duration) {
        let forwarded = self.forwarded.as_ref().map(|forwarded| forwarded.finish(timeout));
        tokio::join!(self.cluster.finish(timeout), OptionFuture::from(forwarded));
    }
}

debug_of!(Recorder: "Recorder", |it| controller: it.writer.controller);
