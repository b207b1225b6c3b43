//! A controller that has been started.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    fmt,
    future::pending,
    mem,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use parking_lot::Mutex;
use tokio_util::task::AbortOnDropHandle;

use crate::{
    cache,
    environment::Now,
    event_source::{
        ConditionalSources, Divisions, EventSource, HeldBack, Opening, Opens, SourcePart, WatchScope, Wiring,
        run_and_tell,
    },
    observe::{Observation, Observers, SourceHealth},
    operations::Recorder,
    processor::{Input, Processor, Snapshot},
    resource::ObjectKey,
};

/// Sources have at least this time to be synced before a warning, or before a start fails, whatever was configured.
pub(crate) const SHORTEST_SYNC_TIMEOUT: Duration = Duration::from_millis(10);

/// How long a stop waits for the last Events. No work depends on them.
const LAST_EVENTS: Duration = Duration::from_secs(2);

/// Tasks that end when this is dropped, conditional sources that start and stop their own tasks, and the opening.
#[derive(Debug, Default)]
struct Tasks(Vec<Task>, Arc<ConditionalSources>, Option<Starting>);

/// The task that lets runs start, which ends by itself. After the beginning of a stop there isn't one.
#[derive(Debug)]
struct Starting {
    /// The number of its opening.
    opening: u64,
    _handle: AbortOnDropHandle<()>,
}

#[derive(Debug)]
struct Task {
    /// The part that doesn't work any more once the task has ended.
    serves: String,
    handle: AbortOnDropHandle<()>,
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.1.close();
    }
}

/// A started controller: its event sources follow the cluster, and its processor starts runs once they are synced, as
/// far as a run's primary is concerned, and, if there is an election, this replica leads. Dropping it stops everything
/// at once, including runs.
///
/// All sources start at the same moment, and none waits for another.
#[derive(Debug)]
pub(crate) struct RunningController {
    parts: Arc<Parts>,
    /// The namespaces that it works in.
    scope: Mutex<WatchScope>,
    divisions: Mutex<Divisions>,
    tasks: Mutex<Tasks>,
}

/// The parts of a controller, in each of its states.
pub(super) struct Parts {
    pub(super) wiring: Wiring,
    /// The sources that always run.
    pub(super) sources: Vec<Arc<dyn EventSource>>,
    pub(super) conditional: Arc<ConditionalSources>,
    pub(super) processor: Processor,
    /// Writes Events; a stop waits for it.
    pub(super) events: Option<Arc<Recorder>>,
    /// After this time, and each further one, sources that are not synced are warned about; `None` for never.
    pub(super) cache_sync_timeout: Option<Duration>,
    /// No run starts before everything is synced.
    pub(super) as_a_whole: bool,
    /// Whether runs of some primaries have started, perhaps before the namespaces were changed.
    pub(super) has_begun: AtomicBool,
}

impl RunningController {
    pub(super) fn start(parts: Parts, processing: BoxFuture<'static, ()>) -> Self {
        let Wiring { controller, environment, observers, primary_type, .. } = &parts.wiring;
        let scope = parts.wiring.scope.clone();
        let mut tasks = Tasks(Vec::new(), Arc::clone(&parts.conditional), None);
        // One task for each source: a source that can't reach its kind slows down nothing else.
        for source in &parts.sources {
            let serves = format!("event source {}", source.name());
            let run = run_and_tell(source, controller, observers);
            tasks.0.push(Task {
                serves,
                handle: AbortOnDropHandle::new(environment.spawn("event source", run)),
            });
        }
        let serves = "the processor".to_owned();
        tasks.0.push(Task {
            serves,
            handle: AbortOnDropHandle::new(environment.spawn("processor", processing)),
        });
        let own = match parts.as_a_whole {
            true => BTreeSet::new(),
            false => Divisions::of_controller(&scope, primary_type),
        };
        let running = Self {
            parts: Arc::new(parts),
            scope: Mutex::new(scope),
            divisions: Mutex::new(Divisions::new(BTreeSet::new(), [])),
            tasks: Mutex::new(tasks),
        };
        running.let_start(&mut running.tasks.lock(), own, 0);
        running
    }

    /// Lets runs start as soon as everything that concerns them has been seen, also in the namespaces that are new.
    fn let_start(&self, tasks: &mut Tasks, own: BTreeSet<String>, number: u64) {
        let sources = &self.parts.sources;
        let opening = match self.parts.as_a_whole {
            true => Opening::new(own, sources),
            false => Opening::of_first_runs(own, sources),
        };
        *self.divisions.lock() = opening.divisions.clone();
        let handle = self
            .parts
            .wiring
            .environment
            .spawn("start of runs", Arc::clone(&self.parts).open_as_seen(number, opening));
        tasks.2 = Some(Starting { opening: number, _handle: AbortOnDropHandle::new(handle) });
    }

    /// Works in these namespaces from now on, and makes the sources without their own namespaces follow. Returns false
    /// if it has stopped.
    ///
    /// All data about primaries in namespaces that are left is dropped; their runs in progress end by themselves.
    /// Primaries in new namespaces run once everything that concerns them has been seen. The others aren't affected.
    pub(crate) fn change_namespaces(&self, scope: &WatchScope) -> bool {
        // Held to the end, so neither another change nor a stop comes in between.
        let mut tasks = self.tasks.lock();
        let Some(number) = tasks.2.as_ref().map(|starting| starting.opening + 1) else { return false };
        let before = mem::replace(&mut *self.scope.lock(), scope.clone());
        if before == *scope {
            return true;
        }
        // The sources may be synced in the former namespaces, but not in these.
        tasks.2 = None;
        let own = |scope| Divisions::of_controller(scope, &self.parts.wiring.primary_type);
        let of = |scope| Some(own(scope)).filter(|own| !own.is_empty());
        self.parts.processor.send(Input::Rescoped { opening: number, before: of(&before), now: of(scope) });
        // The primaries come first: their data is dropped with them, before their secondaries are.
        for source in &self.parts.sources {
            source.change_namespaces(scope);
        }
        self.parts.conditional.change_namespaces(scope);
        self.let_start(&mut tasks, own(scope), number);
        true
    }

    pub(crate) fn name(&self) -> &str {
        &self.parts.wiring.controller
    }

    /// Resolves once every event source has seen everything, and runs may start. Conditional sources start later.
    pub(crate) async fn synced(&self) {
        join_all(self.parts.sources.iter().map(|source| source.synced())).await;
    }

    /// The parts of event sources that run and are not healthy, or have not seen everything: the source's name, the
    /// part, and the primaries whose first runs wait for it.
    pub(crate) fn unhealthy(&self) -> Vec<(String, SourcePart, HeldBack)> {
        let always = self.parts.sources.iter().enumerate().flat_map(|(position, source)| {
            let given_up = || !self.parts.as_a_whole && source.not_waited_for().now_or_never().is_some();
            ailing(source, |part| match part {
                (_, true) => HeldBack::Nobody,
                _ if given_up() => HeldBack::Nobody,
                (namespace, false) => self.divisions.lock().held_back_by(position, namespace),
            })
        });
        // No primary's first run waits for these: a node does.
        let conditional = self.parts.conditional.running();
        let conditional = conditional.iter().flat_map(|source| ailing(source, |_| HeldBack::Nobody));
        always.chain(conditional).collect()
    }

    /// The objects that can't be decoded, by source, each with the field that isn't as expected.
    pub(crate) fn undecodable(&self) -> Vec<(String, ObjectKey, String)> {
        let conditional = self.parts.conditional.running();
        let all = self.parts.sources.iter().chain(&conditional);
        let of = |source: &Arc<dyn EventSource>| {
            let (name, found) = (source.name().to_owned(), source.undecodable());
            found.into_iter().map(move |(key, error)| (name.clone(), key, error))
        };
        all.flat_map(of).collect()
    }

    /// The parts that don't work any more because their task has ended, by a panic. Only a new start brings them back.
    pub(crate) fn ended_tasks(&self) -> Vec<String> {
        let tasks = self.tasks.lock();
        let ended = tasks.0.iter().filter(|task| task.handle.is_finished());
        let conditional =
            self.parts.conditional.ended_tasks().into_iter().map(|name| format!("event source {name}"));
        ended.map(|task| task.serves.clone()).chain(conditional).collect()
    }

    /// The amount of data that is kept about secondaries and primaries that don't exist, by source; empty if nothing
    /// leaks.
    pub(crate) fn leftovers(&self) -> Vec<(String, usize)> {
        let conditional = self.parts.conditional.running();
        let all = self.parts.sources.iter().chain(&conditional);
        let all = all.map(|source| (source.name().to_owned(), source.leftovers()));
        // The data about a primary is in its scope.
        let Wiring { scopes, primaries, .. } = &self.parts.wiring;
        let astray = ("scopes of primaries".to_owned(), scopes.astray(&**primaries));
        let all = all.chain([astray]);
        all.filter(|(_, leftovers)| *leftovers > 0).collect()
    }

    /// Reports the current state of the sources, and of the waiting runs, to the observers.
    pub(crate) fn tell_of_now(&self, observers: &Observers, now: Now) {
        let controller = self.name();
        for source in self.parts.sources.iter().chain(&self.parts.conditional.running()) {
            let (source, objects) = (source.name(), source.held());
            observers.observe(&Observation::SourceSeen { controller, source, objects });
        }
        let longest_wait = self.parts.processor.longest_wait(now);
        observers.observe(&Observation::ControllerSeen { controller, longest_wait });
    }

    /// The state of the processor, after everything that its sources have delivered so far.
    pub(crate) async fn snapshot(&self) -> Snapshot {
        self.parts.processor.snapshot().await
    }

    /// Whether every running source has seen everything that exists at this moment.
    pub(crate) async fn caught_up(&self) -> Result<bool, cache::Error> {
        for source in &self.parts.sources {
            if !source.caught_up().await? {
                return Ok(false);
            }
        }
        self.parts.conditional.caught_up().await
    }

    /// Whether it writes Events at this moment.
    pub(crate) fn records(&self) -> bool {
        self.parts.events.as_ref().is_some_and(|events| events.is_busy())
    }

    /// Starts no more runs, waits up to `timeout` for those in progress, and for their Events if they have ended in
    /// time, and stops everything. Returns whether all of them ended by themselves.
    pub(crate) async fn stop(&self, timeout: Duration) -> bool {
        let began = tokio::time::Instant::now();
        self.tasks.lock().2 = None;
        let drained = self.parts.processor.drain(timeout).await;
        if let Some(events) = &self.parts.events {
            let left = timeout.saturating_sub(began.elapsed());
            events.finish(left.min(LAST_EVENTS)).await;
        }
        drop(mem::take(&mut *self.tasks.lock()));
        drained
    }
}

impl Parts {
    /// Lets primaries run as soon as everything that concerns them has been seen.
    async fn open_as_seen(self: Arc<Self>, number: u64, mut opening: Opening) {
        let (term, timeout) = (self.wiring.clients.term().cloned(), self.cache_sync_timeout);
        let timeout = timeout.map(|timeout| timeout.max(SHORTEST_SYNC_TIMEOUT));
        let mut leads = term.is_none();
        // Until then the processor keeps all events, as one run for each primary.
        let mut begun = pin!(async {
            match term {
                Some(term) => term.begun().await,
                None => pending().await,
            }
        });
        let (mut waited, mut due) = (Duration::ZERO, Vec::new());
        let mut warning = pin!(sleep(timeout));
        loop {
            if leads {
                for opens in mem::take(&mut due) {
                    self.open(number, &opens);
                    if opens == Opens::Everything {
                        return;
                    }
                }
            }
            tokio::select! {
                biased;
                () = &mut begun, if !leads => leads = true,
                Some(opens) = opening.next() => due.push(opens),
                () = &mut warning, if !opening.is_over() => {
                    waited += timeout.unwrap_or_default();
                    self.warn(waited, self.has_begun.load(Ordering::Relaxed));
                    warning.set(sleep(timeout));
                }
            }
        }
    }

    fn open(&self, number: u64, opens: &Opens) {
        let Wiring { controller, environment, observers, .. } = &self.wiring;
        let (controller, after) = (&**controller, environment.now() - Now::START);
        let some = !matches!(opens, Opens::Namespaces(namespaces) if namespaces.is_empty());
        if some && !self.has_begun.swap(true, Ordering::Relaxed) {
            observers.observe(&Observation::ProcessingStarted { controller, after });
        }
        let after_ms = after.as_millis();
        match opens {
            Opens::Everything => {
                tracing::info!(controller, after_ms, "all caches are synced, runs may start");
                self.processor.open(number, None);
            }
            Opens::Namespaces(namespaces) => {
                for namespace in namespaces {
                    tracing::info!(
                        controller,
                        namespace,
                        after_ms,
                        "runs may start in this namespace; runs in others wait for their event sources"
                    );
                    self.processor.open(number, Some(namespace));
                }
            }
        }
    }

    /// Logs which sources are not synced, and why.
    fn warn(&self, waited: Duration, has_begun: bool) {
        let (controller, waited_ms) = (&*self.wiring.controller, waited.as_millis());
        let lagging = self.sources.iter().flat_map(|source| {
            source.parts().into_iter().filter(|part| !part.synced).map(|part| lag(source.name(), &part))
        });
        let lagging = lagging.collect::<Vec<_>>().join("; ");
        if has_begun {
            tracing::warn!(
                controller,
                waited_ms,
                lagging,
                "no run starts in some namespaces before their event sources are synced"
            );
        } else {
            tracing::warn!(
                controller,
                waited_ms,
                lagging,
                "no run starts before all event sources are synced"
            );
        }
    }
}

async fn sleep(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => pending().await,
    }
}

/// The part of a source that is not synced, and why.
fn lag(source: &str, part: &SourcePart) -> String {
    let name = match &part.namespace {
        Some(namespace) => format!("{source} in namespace {namespace}"),
        None => source.to_owned(),
    };
    match &part.health {
        SourceHealth::Unhealthy { reason, advice: Some(advice) } => format!("{name}: {reason} ({advice})"),
        SourceHealth::Unhealthy { reason, advice: None } => format!("{name}: {reason}"),
        SourceHealth::Syncing | SourceHealth::Healthy => format!("{name}: not everything has been seen yet"),
    }
}

debug_of!(Parts: "Parts", |it| name: it.wiring.controller, sources: it.sources);

impl fmt::Debug for dyn EventSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The parts of a source that don't work; `holds_back` is called with the namespace of a part, and whether it is
/// synced.
fn ailing(
    source: &Arc<dyn EventSource>,
    holds_back: impl Fn((Option<&str>, bool)) -> HeldBack,
) -> Vec<(String, SourcePart, HeldBack)> {
    let parts = source.parts().into_iter();
    let ailing = parts.filter_map(|mut part| {
        let holds_back = holds_back((part.namespace.as_deref(), part.synced));
        if part.health == SourceHealth::Healthy && holds_back != HeldBack::Nobody {
            part.health = SourceHealth::Syncing;
        }
        (part.health != SourceHealth::Healthy).then(|| (source.name().to_owned(), part, holds_back))
    });
    ailing.collect()
}
