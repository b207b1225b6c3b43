//! Passes events on to the processor; event sources don't know it.

use std::sync::Arc;

use crate::{
    event_source::{EventSink, PrimaryChange},
    observe::Cause,
    processor::{Input, Processor},
    resource::{Departed, ObjectKey, Uid},
};

impl EventSink for Processor {
    fn primary_changed(&self, change: PrimaryChange<'_>) {
        let PrimaryChange { key, uid, cause, deleting } = change;
        self.send(Input::PrimaryChanged { key: key.clone(), uid: Uid::new(uid), cause, deleting });
    }

    fn primary_deleted(&self, key: &ObjectKey, uid: &str, last: Option<Departed>) {
        let last = last.map(Arc::new);
        self.send(Input::PrimaryDeleted { key: key.clone(), uid: Uid::new(uid), last });
    }

    fn related_changed(&self, primary: &ObjectKey, cause: Cause) {
        self.send(Input::Related { key: primary.clone(), cause });
    }
}
