//! The event source by which a controller reports that a system is down.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::System;
use crate::{
    event_source::{EventSource, SourceContents, SourceDeclaration, SourceEvents, Sources, Wiring},
    observe::{SourceHealth, SourceIndex},
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
        let events = wiring.events(index, &name);
        sources.add_source(Arc::new(Used { name, system: self.0.clone(), events }));
    }
}

/// A system that a started controller uses.
struct Used {
    name: String,
    system: System,
    events: SourceEvents,
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
}
