//! The event source by which a controller tells that a system is down.

use std::sync::{Arc, Weak};

use futures::{FutureExt, future::BoxFuture};

use super::{System, SystemState};
use crate::{
    event_source::{
        EventSource, Primaries, PrimaryFollower, SourceContents, SourceDeclaration, SourceEvents, Sources,
        Wiring,
    },
    observe::{SourceHealth, SourceIndex},
    resource::ObjectKey,
};

/// The source of a system, as nodes declare it.
#[derive(Debug)]
pub(super) struct Health(pub(super) System);

impl SourceDeclaration for Health {
    fn name(&self) -> String {
        format!("system {}", self.0.shared.name)
    }

    fn contents(&self) -> SourceContents {
        SourceContents::Nothing
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        let name = self.name();
        let used = Arc::new(Used {
            system: self.0.clone(),
            controller: Arc::clone(&wiring.controller),
            primaries: Arc::clone(&wiring.primaries),
            events: wiring.events(index, &name),
            name,
        });
        self.0.shared.state.lock().users.add(&used);
        let follower: Arc<dyn PrimaryFollower> = Arc::clone(&used) as _;
        wiring.primaries.follow(Arc::downgrade(&follower));
        sources.add_source(used);
    }
}

/// A system that a started controller uses.
struct Used {
    name: String,
    system: System,
    controller: Arc<str>,
    primaries: Arc<dyn Primaries>,
    events: SourceEvents,
}

impl PrimaryFollower for Used {
    fn primary_gone(&self, key: &ObjectKey) {
        self.system.shared.state.lock().backoff.forget(&self.controller, key);
    }
}

impl EventSource for Used {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        let (system, events) = (self.system.clone(), self.events.clone());
        async move {
            let mut told = SourceHealth::Healthy;
            loop {
                let changed = system.shared.changed.notified();
                let (health, until) = system.told(events.environment().wall_clock());
                if health != told {
                    events.report(&health);
                    told = health;
                }
                tokio::select! {
                    biased;
                    () = changed => {}
                    () = system.clock().sleep_until(until) => {}
                }
            }
        }
        .boxed()
    }

    fn health(&self) -> SourceHealth {
        self.system.health(self.events.environment().wall_clock())
    }

    fn leftovers(&self) -> usize {
        let exists = |primary: &ObjectKey| self.primaries.contains(primary);
        self.system.shared.state.lock().backoff.leftovers(&self.controller, exists)
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        let SystemState { backoff, users, .. } = &mut *self.system.shared.state.lock();
        users.remove(&self.primaries);
        backoff.forget_all(&self.controller);
    }
}

/// The primaries of the controllers that use a system.
#[derive(Default)]
pub(super) struct Users(Vec<(Arc<str>, Weak<dyn Primaries>)>);

impl Users {
    fn add(&mut self, used: &Used) {
        self.0.push((Arc::clone(&used.controller), Arc::downgrade(&used.primaries)));
    }

    fn remove(&mut self, primaries: &Arc<dyn Primaries>) {
        let removed = Arc::downgrade(primaries);
        let position = self.0.iter().position(|(_, primaries)| primaries.ptr_eq(&removed));
        position.map(|position| self.0.remove(position));
    }

    /// Those of this controller: several where a test has several operators, none where nothing runs.
    pub(super) fn of(&self, controller: &str) -> Vec<Arc<dyn Primaries>> {
        let of = self.0.iter().filter(|(name, _)| **name == *controller);
        of.filter_map(|(_, primaries)| primaries.upgrade()).collect()
    }
}
