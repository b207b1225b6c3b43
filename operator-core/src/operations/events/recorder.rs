//! The queue of a controller's Events, and the task that writes them.

use std::{collections::VecDeque, fmt, mem, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::Event;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::{
    note::{Known, Note, Reporter},
    spam::EventQuota,
};
use crate::{
    cache::read_live,
    event_source::PrimaryScopes,
    observe::{EventOutcome, Observation},
    operations::{
        error::Error,
        send::{
            body,
            request::{Verb, WriteRequest, Writer},
        },
    },
    resource::{Access, ObjectKey, ResourceType, ResourceVersion},
};

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
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// That of all primaries that are gone, together.
    gone: EventQuota,
    queue: VecDeque<Note>,
    /// Writes what is in the queue, and ends when it is empty.
    task: Option<JoinHandle<()>>,
    is_busy: bool,
    /// It was said that Events are not declared.
    told: bool,
    /// The last one couldn't be written.
    fails: bool,
}

impl Recorder {
    pub(crate) fn new(writer: Writer, scopes: Arc<PrimaryScopes>, declared: bool) -> Arc<Self> {
        let kind = ResourceType::of::<Event>();
        Arc::new(Self { writer, scopes, kind, declared, state: Mutex::default() })
    }

    /// Takes an Event, to be written soon, unless its primary has had too many.
    pub(super) fn record(self: &Arc<Self>, note: Note) {
        let (primary, now) = (&note.about.key, self.writer.environment.now());
        let mut state = self.state.lock();
        let own = |quota: &mut EventQuota| quota.take(now);
        let passes = self.scopes.of(primary).change(own);
        if !self.declared && !mem::replace(&mut state.told, true) {
            tracing::warn!(
                controller = &*self.writer.controller,
                "the controller writes Events and doesn't say so, so its `access()` lacks the rights for them; declare `.records_events(true)`"
            );
        }
        let dropped = if !passes.unwrap_or_else(|| state.gone.take(now)) {
            Some(EventOutcome::Suppressed)
        } else if state.queue.len() >= MOST_WAITING {
            Some(EventOutcome::Overflowed)
        } else {
            None
        };
        if let Some(outcome) = dropped {
            drop(state);
            self.tell(&note, outcome);
            return;
        }
        state.queue.push_back(note);
        if !mem::replace(&mut state.is_busy, true) {
            state.task = Some(self.writer.environment.spawn(Arc::clone(self).work()));
        }
    }

    /// Whether some Events are still to be written.
    pub(crate) fn is_busy(&self) -> bool {
        self.state.lock().is_busy
    }

    /// Waits until all Events are written, at most for that time; what is left is given up.
    pub(crate) async fn finish(&self, timeout: Duration) {
        let Some(mut task) = self.state.lock().task.take() else { return };
        if tokio::time::timeout(timeout, &mut task).await.is_err() {
            task.abort();
        }
    }

    async fn work(self: Arc<Self>) {
        while let Some(note) = self.next() {
            let outcome = match self.write(&note).await {
                Ok(outcome) => {
                    self.state.lock().fails = false;
                    outcome
                }
                Err(error) => {
                    self.log(&note, &error);
                    EventOutcome::Failed
                }
            };
            self.tell(&note, outcome);
        }
    }

    fn next(&self) -> Option<Note> {
        let mut state = self.state.lock();
        let next = state.queue.pop_front();
        state.is_busy = next.is_some();
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
            let write = WriteRequest {
                verb,
                kind: &self.kind,
                key: &place,
                subresource: None,
                body: body::bytes(&content),
                base: known.as_ref().and_then(|known| ResourceVersion::parse(known.version())),
            };
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
    async fn known(&self, place: &ObjectKey) -> Result<Option<Known>, Error> {
        let read = read_live(&self.writer.clients.reads, &self.kind, place, "application/json").await;
        let Some(found) = read? else { return Ok(None) };
        let known = serde_json::from_str(found.get());
        known.map(Some).map_err(|source| Error::undecodable(self.kind.clone(), place.clone(), source))
    }

    /// Once for each time that it begins to fail: a right that is missing is missing for all Events.
    fn log(&self, note: &Note, error: &Error) {
        let (controller, primary, reason) = (&*self.writer.controller, &note.about.key, &*note.reason);
        let quiet = matches!(error, Error::Fenced { .. } | Error::NamespaceTerminating { .. });
        if quiet || mem::replace(&mut self.state.lock().fails, true) {
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

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("controller", &self.writer.controller).finish_non_exhaustive()
    }
}
