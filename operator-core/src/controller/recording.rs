//! Events of Kubernetes, as a controller declares them and as it writes them once it is wired.

use std::sync::Arc;

use super::{ControllerBuilder, declaration::Declaration};
use crate::{
    event_source::{PrimaryFollower, Wiring},
    operations::{Recorder, Writer},
    reconciler::Reconciler,
};

impl<R: Reconciler> ControllerBuilder<R> {
    /// Declares whether the controller writes Events about its primaries, with
    /// [`Context::events`](crate::Context::events); by default it doesn't. [`Controller::access`](crate::Controller::access)
    /// then lists the rights for them: `get`, `create` and `patch` on `events` of the core group, in the primaries'
    /// namespaces, or in `default` for cluster-scoped primaries.
    pub fn records_events(mut self, records: bool) -> Self {
        self.said.settings.records_events = records;
        self
    }
}

impl Declaration {
    /// What writes the Events of this controller. What it keeps about a primary goes with the primary.
    pub(super) fn recorder(&self, writer: &Writer, wiring: &Wiring) -> Arc<Recorder> {
        let declared = self.settings.records_events;
        let recorder = Recorder::new(writer.clone(), Arc::clone(&wiring.primaries), declared);
        let follower = Arc::clone(&recorder) as Arc<dyn PrimaryFollower>;
        wiring.primaries.follow(Arc::downgrade(&follower));
        let (kept, primaries) = (Arc::downgrade(&recorder), Arc::downgrade(&wiring.primaries));
        wiring.environment.keeps(format!("{}, events", wiring.controller), move || {
            let primaries = primaries.upgrade()?;
            Some(kept.upgrade()?.leftovers(&|primary| primaries.get(primary).is_some()))
        });
        recorder
    }
}
