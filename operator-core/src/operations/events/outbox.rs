//! Events that wait, and the task that brings them to the cluster or to a receiver, one after the other.

use std::{collections::VecDeque, mem, sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::Event;
use parking_lot::Mutex;
use tokio_util::task::AbortOnDropHandle;

use super::{
    forward::Receiver,
    note::{Note, Reporter, kind},
};
use crate::{
    cache::read_live,
    error::BoxError,
    observe::{EventOutcome, Observation},
    operations::{
        Error,
        send::{
            body,
            request::{Verb, WriteRequest, Writer},
        },
    },
    resource::{ObjectKey, ResourceVersion},
};

/// The number of Events that may wait: while nobody answers, nothing grows without bounds.
const MOST_WAITING: usize = 1_024;

/// The number of states of an Event that are tried: another replica may count it up, or its time may be over.
const ATTEMPTS: u32 = 5;

/// The Events of a controller on their way.
pub(super) struct Outbox {
    /// `None` for the cluster.
    receiver: Option<Receiver>,
    writer: Writer,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Note>,
    /// Brings away what is waiting, and ends when it is empty.
    task: Option<AbortOnDropHandle<()>>,
    is_busy: bool,
    /// The last one couldn't be brought there.
    fails: bool,
}

impl Outbox {
    pub(super) fn new(receiver: Option<Receiver>, writer: Writer) -> Arc<Self> {
        Arc::new(Self { receiver, writer, queue: Mutex::default() })
    }

    /// Takes an Event, if there is room for it.
    pub(super) fn put(self: &Arc<Self>, note: Note) {
        let mut queue = self.queue.lock();
        if queue.waiting.len() >= MOST_WAITING {
            drop(queue);
            let is_written = self.receiver.is_none();
            let outcome = if is_written { EventOutcome::Overflowed } else { EventOutcome::NotForwarded };
            return self.tell(&note, outcome);
        }
        queue.waiting.push_back(note);
        if !mem::replace(&mut queue.is_busy, true) {
            let task = self.writer.environment.spawn("Events", Arc::clone(self).work());
            queue.task = Some(AbortOnDropHandle::new(task));
        }
    }

    /// Whether some are still on their way.
    pub(super) fn is_busy(&self) -> bool {
        self.queue.lock().is_busy
    }

    /// Waits until all of them are there, at most for that time; what is left is given up.
    pub(super) async fn finish(&self, timeout: Duration) {
        let Some(task) = self.queue.lock().task.take() else { return };
        let _ = tokio::time::timeout(timeout, task).await;
    }

    async fn work(self: Arc<Self>) {
        while let Some(note) = self.next() {
            let (writer, component) = (&self.writer, &*self.writer.controller);
            let (now, instance) = (writer.environment.wall_clock().now(), writer.environment.host());
            let reporter = Reporter { component, instance, now };
            let (brought, failed) = match &self.receiver {
                None => {
                    let written = write(writer, &note, reporter).await;
                    (written.map_err(BoxError::from), EventOutcome::Failed)
                }
                Some(receiver) => {
                    (receiver.send(&note, reporter, &writer.environment).await, EventOutcome::NotForwarded)
                }
            };
            let has_failed = mem::replace(&mut self.queue.lock().fails, brought.is_err());
            let outcome = brought.unwrap_or_else(|error| {
                self.log(&note, &error, has_failed);
                failed
            });
            self.tell(&note, outcome);
        }
    }

    fn next(&self) -> Option<Note> {
        let mut queue = self.queue.lock();
        let next = queue.waiting.pop_front();
        queue.is_busy = next.is_some();
        next
    }

    /// Once for each time that it begins to fail: a right that is missing is missing for all Events.
    fn log(&self, note: &Note, error: &BoxError, has_failed: bool) {
        let (controller, primary, reason) = (&*self.writer.controller, &note.about.key, &*note.reason);
        let done = if self.receiver.is_none() { "written" } else { "forwarded" };
        let quiet =
            matches!(error.downcast_ref(), Some(Error::Fenced { .. } | Error::NamespaceTerminating { .. }));
        if quiet || has_failed {
            tracing::debug!(controller, %primary, reason, %error, "an Event was not {done}");
        } else {
            tracing::warn!(
                controller, %primary, reason, %error,
                "an Event was not {done}; its run is not affected, and further ones are logged at level debug"
            );
        }
    }

    pub(super) fn tell(&self, note: &Note, outcome: EventOutcome) {
        let (controller, primary, reason) = (&*self.writer.controller, &note.about.key, &*note.reason);
        let told = Observation::EventRecorded { controller, primary, reason, outcome };
        self.writer.observers.observe(&told);
    }
}

/// Writes an Event to the cluster, or counts it up.
async fn write(writer: &Writer, note: &Note, reporter: Reporter<'_>) -> Result<EventOutcome, Error> {
    let (place, kind) = (note.place(reporter.component), kind());
    for _ in 0..ATTEMPTS {
        let known = known(writer, &place).await?;
        let (verb, content, outcome) = match &known {
            None => (Verb::Create, note.body(&place, reporter), EventOutcome::Created),
            Some(known) => (Verb::MergePatch, note.again(known, reporter.now), EventOutcome::Repeated),
        };
        let version = known.as_ref().and_then(|known| known.metadata.resource_version.as_deref());
        let base = version.and_then(ResourceVersion::parse);
        let write = WriteRequest::of(verb, &kind, &place, body::bytes(&content));
        let write = WriteRequest { base, ..write };
        match writer.send(&note.about.key, &write).await {
            Ok(_) => return Ok(outcome),
            // Somebody was faster, or its time was over.
            Err(error) if error.is_conflict() || error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Contended { kind, key: place, attempts: ATTEMPTS })
}

/// The Event of that name.
async fn known(writer: &Writer, place: &ObjectKey) -> Result<Option<Event>, Error> {
    let read = read_live(&writer.clients.reads, &kind(), place, "application/json").await;
    let Some(found) = read? else { return Ok(None) };
    let known = serde_json::from_str(found.get());
    known.map(Some).map_err(|source| Error::undecodable(kind(), place.clone(), source))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;
    use crate::{
        client::Clients,
        environment::Environment,
        observe::{Observer, Observers},
        operations::events::note::{About, Severity},
        resource::{ObjectKey, ResourceType, Uid},
    };

    #[derive(Debug, Default)]
    struct Outcomes(Mutex<Vec<EventOutcome>>);

    impl Observer for Outcomes {
        fn observe(&self, observation: &Observation<'_>) {
            if let Observation::EventRecorded { outcome, .. } = observation {
                self.0.lock().push(*outcome);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_silent_receiver_has_no_time_for_is_dropped_and_an_end_does_not_wait_for_it() {
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", silent.local_addr().expect("its address"));
        let (environment, outcomes) = (Environment::real(), Arc::new(Outcomes::default()));
        let nowhere = kube::Config::new(http::Uri::from_static("http://127.0.0.1:1"));
        let writer = Writer {
            clients: Clients::new(&nowhere, &[], None, &environment).expect("clients"),
            controller: Arc::from("web"),
            field_manager: Arc::from("web"),
            environment: environment.clone(),
            observers: Observers::new(vec![Arc::clone(&outcomes) as Arc<dyn Observer>]),
            undeclared: Arc::default(),
        };
        let outbox = Outbox::new(Receiver::at(&url), writer);
        let (kind, key) = (ResourceType::of::<Pod>(), ObjectKey::namespaced("shop", "one"));
        let about = About { kind, key, uid: Uid::new("u1"), version: None, primary: None };
        let note = Note::new(about, Severity::Normal, "Made".to_owned(), "a page".to_owned(), None);
        for _ in 0..MOST_WAITING + 6 {
            outbox.put(note.clone());
        }
        assert_eq!(*outcomes.0.lock(), [EventOutcome::NotForwarded; 6]);
        let (began, limit) = (tokio::time::Instant::now(), Duration::from_secs(2));
        outbox.finish(limit).await;
        assert_eq!(began.elapsed(), limit);
        environment.idle().await;
        assert_eq!(outcomes.0.lock().len(), 6, "the rest is given up");
    }
}
