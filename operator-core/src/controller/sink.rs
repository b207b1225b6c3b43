//! Hands events on to the processor; event sources don't know it.

use std::sync::{Arc, OnceLock, Weak};

use crate::{
    event_source::{ConditionalSources, EventSink, PrimaryChange},
    observe::Cause,
    processor::{Input, Processor},
    reconciler::workflow::LatestResults,
    resource::{ObjectKey, Uid},
};

/// The way from event sources to a processor. The processor runs what a dispatcher does, the dispatcher reads what the
/// sources know, and the sources deliver here: so the last link of that circle is closed when all parts exist.
#[derive(Debug, Default)]
pub(super) struct ProcessorSink(OnceLock<Connected>);

#[derive(Debug)]
struct Connected {
    processor: Processor,
    /// Held by the controller, and themselves holding this sink.
    conditional: Weak<ConditionalSources>,
    latest: Arc<LatestResults>,
}

impl ProcessorSink {
    /// Closes the circle. Must be called before any source runs.
    pub(super) fn connect(
        &self,
        processor: Processor,
        conditional: &Arc<ConditionalSources>,
        latest: Arc<LatestResults>,
    ) {
        self.0.get_or_init(|| Connected { processor, conditional: Arc::downgrade(conditional), latest });
    }

    /// Asks the processor whether another run of `key` is to come anyway.
    pub(super) fn next_reconciliation_imminent(&self, key: &ObjectKey) -> bool {
        self.0.get().is_some_and(|connected| connected.processor.next_reconciliation_imminent(key))
    }

    fn connected(&self) -> &Connected {
        self.0.get().expect("a controller connects its sink before it runs its sources")
    }

    fn send(&self, input: Input) {
        self.connected().processor.send(input);
    }
}

impl EventSink for ProcessorSink {
    fn primary_changed(&self, change: PrimaryChange<'_>) {
        let PrimaryChange { key, uid, cause, deleting } = change;
        self.send(Input::PrimaryChanged { key: key.clone(), uid: Uid::new(uid), cause, deleting });
    }

    fn primary_deleted(&self, key: &ObjectKey, uid: &str) {
        if let Some(conditional) = self.connected().conditional.upgrade() {
            conditional.primary_gone(key);
        }
        self.connected().latest.forget(key);
        self.send(Input::PrimaryDeleted { key: key.clone(), uid: Uid::new(uid) });
    }

    fn related_changed(&self, primary: &ObjectKey, cause: Cause) {
        self.send(Input::Related { key: primary.clone(), cause });
    }
}
