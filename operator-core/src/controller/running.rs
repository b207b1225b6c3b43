//! A controller that has been started.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::starting::{Start, Starting};
use crate::{
    cache,
    environment::{Environment, Now},
    event_source::{ConditionalSources, Divisions, EventSource, HeldBack, Opening, WatchScope, run_and_tell},
    observe::{Observation, Observers, SourceHealth},
    processor::{Input, Processor, Snapshot},
    resource::{ObjectKey, ResourceType},
};

/// How long a stop waits for the last Events, which nobody's work depends on.
const LAST_EVENTS: Duration = Duration::from_secs(2);

/// Tasks that end when this is dropped, conditional sources that start and stop their own, and the task that lets runs
/// start, which ends by itself.
#[derive(Debug, Default)]
struct Tasks(Vec<Task>, Arc<ConditionalSources>, Option<JoinHandle<()>>);

#[derive(Debug)]
struct Task {
    /// What doesn't work any more once the task has ended.
    serves: String,
    handle: JoinHandle<()>,
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for task in &self.0 {
            task.handle.abort();
        }
        if let Some(starting) = &self.2 {
            starting.abort();
        }
        self.1.close();
    }
}

/// A part of an event source that doesn't work, or has not seen everything yet.
#[derive(Debug)]
pub(crate) struct Ailing {
    /// The source's name.
    pub(crate) source: String,
    /// The namespace that it concerns, if the source follows several separately.
    pub(crate) namespace: Option<String>,
    /// What it reports about itself.
    pub(crate) health: SourceHealth,
    /// The primaries whose first runs wait for it.
    pub(crate) holds_back: HeldBack,
}

/// A started controller: its event sources follow the cluster, and its processor starts runs once they are synced, as
/// far as a run's primary is concerned, and, if there is an election, this replica leads. Dropping it stops everything
/// at once, including runs.
///
/// All sources start at the same moment, and none waits for another.
#[derive(Debug)]
pub(crate) struct RunningController {
    name: Arc<str>,
    sources: Vec<Arc<dyn EventSource>>,
    divisions: Mutex<Divisions>,
    /// The namespaces that it works in.
    scope: Mutex<WatchScope>,
    primary_type: ResourceType,
    environment: Environment,
    observers: Observers,
    start: Start,
    has_begun: Arc<AtomicBool>,
    /// No run starts before everything is synced.
    as_a_whole: bool,
    conditional: Arc<ConditionalSources>,
    processor: Processor,
    tasks: Mutex<Tasks>,
}

impl RunningController {
    pub(super) fn start(
        name: Arc<str>,
        (sources, conditional): (Vec<Arc<dyn EventSource>>, Arc<ConditionalSources>),
        (scope, primary_type): (WatchScope, ResourceType),
        (processor, processing): (Processor, BoxFuture<'static, ()>),
        environment: &Environment,
        observers: Observers,
        start: Start,
    ) -> Self {
        let mut tasks = Tasks(Vec::new(), Arc::clone(&conditional), None);
        // One task for each source: one that can't reach its kind slows down nothing else.
        for source in &sources {
            let serves = format!("event source {}", source.name());
            let run = run_and_tell(source, &name, &observers);
            tasks.0.push(Task { serves, handle: environment.spawn(run) });
        }
        let serves = "the processor".to_owned();
        tasks.0.push(Task { serves, handle: environment.spawn(processing) });
        let running = Self {
            name,
            divisions: Mutex::new(Divisions::new(start.own.clone(), [])),
            scope: Mutex::new(scope),
            primary_type,
            environment: environment.clone(),
            observers,
            as_a_whole: start.as_a_whole,
            start,
            has_begun: Arc::default(),
            sources,
            conditional,
            processor,
            tasks: Mutex::new(tasks),
        };
        running.let_start(&mut running.tasks.lock(), running.start.own.clone());
        running
    }

    /// Lets runs start as soon as what concerns them has been seen, also in the namespaces that are new.
    fn let_start(&self, tasks: &mut Tasks, own: BTreeSet<String>) {
        let opening = match self.as_a_whole {
            true => Opening::new(own, &self.sources),
            false => Opening::of_first_runs(own, &self.sources),
        };
        *self.divisions.lock() = opening.divisions().clone();
        let starting = Starting {
            controller: Arc::clone(&self.name),
            sources: self.sources.clone(),
            opening,
            processor: self.processor.clone(),
            environment: self.environment.clone(),
            observers: self.observers.clone(),
            has_begun: Arc::clone(&self.has_begun),
        };
        let starting = self.environment.spawn(starting.run(self.start.clone()));
        if let Some(before) = tasks.2.replace(starting) {
            before.abort();
        }
    }

    /// Works in these namespaces from now on, and has the sources follow that don't have their own. Returns false if it
    /// has stopped.
    ///
    /// What is kept about primaries in namespaces that are left goes; their runs in progress end by themselves. Those
    /// in new ones run once what concerns them has been seen. The others notice nothing.
    pub(crate) fn change_namespaces(&self, scope: &WatchScope) -> bool {
        // Held to the end: neither another change nor a stop comes in between.
        let mut tasks = self.tasks.lock();
        if tasks.0.is_empty() {
            return false;
        }
        let before = std::mem::replace(&mut *self.scope.lock(), scope.clone());
        if before == *scope {
            return true;
        }
        let own = |scope| Divisions::of_controller(scope, &self.primary_type);
        if self.primary_type.is_namespaced() {
            let of = |scope| Some(own(scope)).filter(|own| !own.is_empty());
            self.processor.send(Input::Rescoped { before: of(&before), now: of(scope) });
        }
        // The primaries come first: what is kept for them goes with them, before their secondaries do.
        for source in &self.sources {
            source.change_namespaces(scope);
        }
        self.conditional.change_namespaces(scope);
        self.let_start(&mut tasks, own(scope));
        true
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Resolves once every event source has seen everything, so that runs may start. Conditional ones start later.
    pub(crate) async fn synced(&self) {
        join_all(self.sources.iter().map(|source| source.synced())).await;
    }

    /// The parts of event sources that run and are not healthy, or have not seen everything.
    pub(crate) fn unhealthy(&self) -> Vec<Ailing> {
        let always = self.sources.iter().enumerate().flat_map(|(position, source)| {
            let given_up = || !self.as_a_whole && source.not_waited_for().now_or_never().is_some();
            ailing(source, |part| match part {
                (_, true) => HeldBack::Nobody,
                _ if given_up() => HeldBack::Nobody,
                (namespace, false) => self.divisions.lock().held_back_by(position, namespace),
            })
        });
        // Nobody's first run waits for these: a node does.
        let conditional = self.conditional.running();
        let conditional = conditional.iter().flat_map(|source| ailing(source, |_| HeldBack::Nobody));
        always.chain(conditional).collect()
    }

    /// The objects that can't be decoded, by source, each with its field that isn't as expected.
    pub(crate) fn undecodable(&self) -> Vec<(String, ObjectKey, String)> {
        let conditional = self.conditional.running();
        let all = self.sources.iter().chain(&conditional);
        let of = |source: &Arc<dyn EventSource>| {
            let name = source.name().to_owned();
            source
                .undecodable()
                .into_iter()
                .map(move |(key, error)| (name.clone(), key, error))
                .collect::<Vec<_>>()
        };
        all.flat_map(of).collect()
    }

    /// What doesn't work any more because its task has ended, by a panic. Only a new start brings it back.
    pub(crate) fn ended_tasks(&self) -> Vec<String> {
        let tasks = self.tasks.lock();
        let ended = tasks.0.iter().filter(|task| task.handle.is_finished());
        let conditional =
            self.conditional.ended_tasks().into_iter().map(|name| format!("event source {name}"));
        ended.map(|task| task.serves.clone()).chain(conditional).collect()
    }

    /// The amount of data that is kept about secondaries and primaries that don't exist, by source; empty if nothing
    /// leaks.
    pub(crate) fn leftovers(&self) -> Vec<(String, usize)> {
        let conditional = self.conditional.running();
        let all = self.sources.iter().chain(&conditional);
        let all = all.map(|source| (source.name().to_owned(), source.leftovers()));
        all.filter(|(_, leftovers)| *leftovers > 0).collect()
    }

    /// Tells the observers how the sources, and the runs that wait, are at this moment.
    pub(crate) fn tell_of_now(&self, observers: &Observers, now: Now) {
        let controller = &*self.name;
        for source in self.sources.iter().chain(&self.conditional.running()) {
            let (source, objects) = (source.name(), source.held());
            observers.observe(&Observation::SourceSeen { controller, source, objects });
        }
        let longest_wait = self.processor.longest_wait(now);
        observers.observe(&Observation::ControllerSeen { controller, longest_wait });
    }

    /// The state of the processor, after everything that its sources have delivered so far.
    pub(crate) async fn snapshot(&self) -> Snapshot {
        self.processor.snapshot().await
    }

    /// Whether every running source has seen everything that exists at this moment.
    pub(crate) async fn caught_up(&self) -> Result<bool, cache::Error> {
        for source in &self.sources {
            if !source.caught_up().await? {
                return Ok(false);
            }
        }
        self.conditional.caught_up().await
    }

    /// Whether it writes Events at this moment.
    pub(crate) fn records(&self) -> bool {
        self.start.events.as_ref().is_some_and(|events| events.is_busy())
    }

    /// Starts no more runs, waits up to `timeout` for those in progress, and for their Events if they have ended in
    /// time, and stops everything. Returns whether all of them ended by themselves.
    pub(crate) async fn stop(&self, timeout: Duration) -> bool {
        let began = tokio::time::Instant::now();
        let drained = self.processor.drain(timeout).await;
        if let Some(events) = &self.start.events {
            let left = timeout.saturating_sub(began.elapsed());
            events.finish(left.min(LAST_EVENTS)).await;
        }
        drop(std::mem::take(&mut *self.tasks.lock()));
        drained
    }
}

impl std::fmt::Debug for dyn EventSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The parts of a source that don't work; `holds_back` is called with the namespace of a part, and whether it is
/// synced.
fn ailing(
    source: &Arc<dyn EventSource>,
    holds_back: impl Fn((Option<&str>, bool)) -> HeldBack,
) -> Vec<Ailing> {
    let parts = source.parts().into_iter();
    let ailing = parts.filter_map(|part| {
        let holds_back = holds_back((part.namespace.as_deref(), part.synced));
        let health = match part.health {
            SourceHealth::Healthy if holds_back != HeldBack::Nobody => SourceHealth::Syncing,
            health => health,
        };
        let source = source.name().to_owned();
        (health != SourceHealth::Healthy).then_some(Ailing {
            source,
            namespace: part.namespace,
            health,
            holds_back,
        })
    });
    ailing.collect()
}
