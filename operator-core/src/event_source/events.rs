//! The connection of an event source to the controller: its reports, and the report of its end.

use std::{future::Future, panic, sync::Arc};

use super::{EventSink, EventSource, Primaries};
use crate::{
    environment::{Environment, fenced_future},
    observe::{Action, Cause, Observation, Observers, SourceHealth, SourceIndex},
    resource::ObjectKey,
};

/// A custom event source triggers primaries with this. Cheap to clone. JOSDK: `EventHandler`.
#[derive(Clone)]
pub struct SourceEvents {
    pub(super) name: Arc<str>,
    pub(super) index: SourceIndex,
    pub(super) controller: Arc<str>,
    pub(super) primaries: Arc<dyn Primaries>,
    pub(super) environment: Environment,
    pub(super) observers: Observers,
    pub(super) sink: Arc<dyn EventSink>,
}

impl SourceEvents {
    /// Triggers a reconcile of a primary. Several calls before its next run cause one run; a primary that doesn't exist
    /// is ignored. Never blocks.
    pub fn wake(&self, primary: &ObjectKey) {
        self.received(primary, Action::Updated);
        self.sink.related_changed(primary, Cause::Source(self.index));
    }

    pub(super) fn received(&self, key: &ObjectKey, action: Action) {
        let (controller, source) = (&*self.controller, &*self.name);
        self.observers.observe(&Observation::EventReceived { controller, source, key, action });
    }

    /// Triggers a reconcile of all primaries that are known at this moment.
    pub fn wake_all(&self) {
        for primary in self.primaries.keys() {
            self.wake(&primary);
        }
    }

    /// The controller's primaries.
    #[must_use]
    pub fn primaries(&self) -> &dyn Primaries {
        &*self.primaries
    }

    /// The operator's clock, randomness and tasks.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Reports the health of the source to the observers, and so to the log. A source that implements
    /// [`EventSource::health`](super::EventSource::health) itself must return the same there.
    pub fn report(&self, health: &SourceHealth) {
        let (controller, source) = (&*self.controller, &*self.name);
        self.observers.observe(&Observation::SourceHealth { controller, source, health });
    }
}

debug_of!(SourceEvents: "SourceEvents", |it| name: it.name);

/// Runs a source. When it panics, the observers are notified that it has stopped: only a new start of the operator
/// brings it back.
pub(crate) fn run_and_tell(
    source: &Arc<dyn EventSource>,
    controller: &Arc<str>,
    observers: &Observers,
) -> impl Future<Output = ()> + Send + use<> {
    let (source, controller, observers) = (Arc::clone(source), Arc::clone(controller), observers.clone());
    async move {
        let run = async { source.run().await };
        if let Err(payload) = fenced_future(run).await {
            let error = "its task panicked";
            let (controller, source) = (&*controller, source.name());
            observers.observe(&Observation::SourceStopped { controller, source, namespace: None, error });
            // The panic continues: the owner of the task must see it as well.
            panic::resume_unwind(payload);
        }
    }
}
