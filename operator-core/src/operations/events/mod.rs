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

use std::{collections::VecDeque, mem, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::Event;
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tracing::Level;

pub(crate) use forward::{Forwarder, Receiver};
pub(crate) use note::About;
use note::{EventQuota, Note, RecordedEvent, Reporter, Severity};

use super::{
    error::Error,
    send::{
        body,
        request::{Verb, WriteRequest, Writer},
    },
};
use crate::{
    cache::read_live,
    event_source::PrimaryScopes,
    observe::{EventOutcome, Observation},
    resource::{Access, ObjectKey, ResourceType, ResourceVersion},
};

/// Writes Events about the primary of a run, got from [`Context::events`](crate::Context::events). JOSDK:
/// `EventRecorder`.
///
/// Both methods return at once; the Event is written a moment later, as a core/v1 Event in the primary's namespace, or in
/// `default` for a cluster-scoped primary. If it can't be written, that is logged and counted
/// (`kubernetes_events_total`), and nothing else happens. The same Event again, also after a restart, raises the count of
/// the first one.
///
/// A primary may have 25 Events at once and one more every five minutes, as in Kubernetes' own controllers; what
/// exceeds that is dropped and counted.
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

/// The number of Events that may wait: while the server doesn't answer, nothing grows without bounds.
const MOST_WAITING: usize = 1_000;

/// The number of states of an Event that are tried: another replica may count it up, or its time may be over.
const ATTEMPTS: u32 = 5;

/// The rights that Events need.
pub(crate) fn access() -> Access {
    Access {
        resource_type: ResourceType::of::<Event>(),
        subresource: None,
        verbs: vec!["get", "create", "patch"],
    }
}

/// Writes the Events of one controller.
pub(crate) struct Recorder {
    writer: Writer,
    scopes: Arc<PrimaryScopes>,
    kind: ResourceType,
    /// Whether the controller says that it writes any.
    declared: bool,
    /// Gets them as well, if there is one.
    forwarder: Option<Arc<Forwarder>>,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// That of all primaries that are gone, together.
    gone: EventQuota,
    waiting: VecDeque<Note>,
    /// Writes what is waiting, and ends when it is empty.
    task: Option<JoinHandle<()>>,
    is_busy: bool,
    /// It was said that Events are not declared.
    told: bool,
    /// The last one couldn't be written.
    fails: bool,
}

impl Recorder {
    pub(crate) fn new(
        writer: Writer,
        scopes: Arc<PrimaryScopes>,
        declared: bool,
        forwarder: Option<Arc<Forwarder>>,
    ) -> Arc<Self> {
        let kind = ResourceType::of::<Event>();
        Arc::new(Self { writer, scopes, kind, declared, forwarder, queue: Mutex::default() })
    }

    /// Takes an Event, to be written soon, unless its primary has had too many.
    fn record(self: &Arc<Self>, note: Note) {
        let (primary, now) = (&note.about.key, self.writer.environment.now());
        let mut queue = self.queue.lock();
        let own = |quota: &mut EventQuota| quota.take(now);
        let passes = self.scopes.of(primary).change(own);
        if !self.declared && !mem::replace(&mut queue.told, true) {
            tracing::warn!(
                controller = &*self.writer.controller,
                "the controller writes Events and doesn't say so, so its `access()` lacks the rights for them; declare `.records_events(true)`"
            );
        }
        let dropped = if !passes.unwrap_or_else(|| queue.gone.take(now)) {
            Some(EventOutcome::Suppressed)
        } else if queue.waiting.len() >= MOST_WAITING {
            Some(EventOutcome::Overflowed)
        } else {
            None
        };
        if let Some(outcome) = dropped {
            drop(queue);
            self.tell(&note, outcome);
            return;
        }
        queue.waiting.push_back(note);
        if !mem::replace(&mut queue.is_busy, true) {
            queue.task = Some(self.writer.environment.spawn("Events", Arc::clone(self).work()));
        }
    }

    /// Whether the controller says that it writes Events.
    pub(crate) fn is_declared(&self) -> bool {
        self.declared
    }

    /// Whether some Events are still to be written.
    pub(crate) fn is_busy(&self) -> bool {
        self.queue.lock().is_busy
    }

    /// Waits until all Events are written, at most for that time; what is left is given up.
    pub(crate) async fn finish(&self, timeout: Duration) {
        let Some(mut task) = self.queue.lock().task.take() else { return };
        if tokio::time::timeout(timeout, &mut task).await.is_err() {
            task.abort();
        }
    }

    async fn work(self: Arc<Self>) {
        while let Some(note) = self.next() {
            let outcome = match self.write(&note).await {
                Ok(outcome) => {
                    self.queue.lock().fails = false;
                    outcome
                }
                Err(error) => {
                    self.log(&note, &error);
                    EventOutcome::Failed
                }
            };
            self.tell(&note, outcome);
            if let Some(forwarder) = self.forwarder.as_ref().filter(|_| note.is_forwarded()) {
                forwarder.take(note, &self.writer.controller);
            }
        }
    }

    fn next(&self) -> Option<Note> {
        let mut queue = self.queue.lock();
        let next = queue.waiting.pop_front();
        queue.is_busy = next.is_some();
        next
    }

    /// Writes an Event, or counts it up.
    async fn write(&self, note: &Note) -> Result<EventOutcome, Error> {
        let component = &*self.writer.controller;
        let place = note.place(component);
        for _ in 0..ATTEMPTS {
            let known = self.known(&place).await?;
            let now = self.writer.environment.wall_clock().now();
            let instance = self.writer.environment.host();
            let (verb, content, outcome) = match &known {
                None => {
                    let content = note.body(&place, Reporter { component, instance, now });
                    (Verb::Create, content, EventOutcome::Created)
                }
                Some(known) => (Verb::MergePatch, note.again(known, now), EventOutcome::Repeated),
            };
            let base = known.as_ref().and_then(|known| ResourceVersion::parse(known.version()));
            let write = WriteRequest::of(verb, &self.kind, &place, body::bytes(&content));
            let write = WriteRequest { base, ..write };
            match self.writer.send(&note.about.key, &write).await {
                Ok(_) => return Ok(outcome),
                // Somebody was faster, or its time was over.
                Err(error) if error.is_conflict() || error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Contended { kind: self.kind.clone(), key: place, attempts: ATTEMPTS })
    }

    /// The Event of that name.
    async fn known(&self, place: &ObjectKey) -> Result<Option<RecordedEvent>, Error> {
        let read = read_live(&self.writer.clients.reads, &self.kind, place, "application/json").await;
        let Some(found) = read? else { return Ok(None) };
        let known = serde_json::from_str(found.get());
        known.map(Some).map_err(|source| Error::undecodable(self.kind.clone(), place.clone(), source))
    }

    /// Once for each time that it begins to fail: a right that is missing is missing for all Events.
    fn log(&self, note: &Note, error: &Error) {
        let (controller, primary, reason) = (&*self.writer.controller, &note.about.key, &*note.reason);
        let quiet = matches!(error, Error::Fenced { .. } | Error::NamespaceTerminating { .. });
        if quiet || mem::replace(&mut self.queue.lock().fails, true) {
            tracing::debug!(controller, %primary, reason, %error, "an Event was not written");
        } else {
            tracing::warn!(
                controller, %primary, reason, %error,
                "an Event was not written; its run is not affected, and further ones are logged at level debug"
            );
        }
    }

    fn tell(&self, note: &Note, outcome: EventOutcome) {
        self.writer.observers.observe(&Observation::EventRecorded {
            controller: &self.writer.controller,
            primary: &note.about.key,
            reason: &note.reason,
            outcome,
        });
    }
}

debug_of!(Recorder: "Recorder", |it| controller: it.writer.controller);
