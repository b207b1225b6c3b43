//! The operator itself: its controllers, started and stopped together.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use tokio::sync::Mutex;

use crate::{
    client::{self, Clients, measuring},
    controller::{Controller, OperatorParts, Places, RunningController},
    environment::{Environment, RUN},
    event_source::{Discovery, HeldBack, SourcePart},
    observe::{Observers, SourceHealth},
    reconciler::WorkflowSurroundings,
    resource::{MarkNames, ObjectKey},
};

#[cfg(feature = "http")]
use super::http::{HttpConfig, HttpListener, HttpServer};
use super::{
    Error, Leadership, LostLeadership, OperatorBuilder,
    builder::Settings,
    definitions,
    leader::{Candidate, Leader},
    telling::Telling,
};

/// A set of controllers that start and stop together. JOSDK: `Operator`.
pub struct Operator {
    pub(super) settings: Settings,
    pub(super) observers: Observers,
    #[cfg(feature = "http")]
    pub(super) http: Option<HttpConfig>,
    /// Whether it reports its state to its observers periodically, because metrics are recorded.
    pub(super) tells: bool,
    pub(super) running: Mutex<Option<Arc<Running>>>,
}

/// How long a stop waits for dropped tasks to reach their next await.
const LAST_AWAIT: Duration = Duration::from_secs(1);

/// What exists between a start and a stop.
pub(crate) struct Running {
    pub(super) controllers: Vec<RunningController>,
    /// The places of the runs of all controllers together.
    pub(super) places: Option<Places>,
    pub(super) discovery: Discovery,
    pub(super) clients: Clients,
    pub(super) environment: Environment,
    /// The operator waits for the last runs, and starts no more.
    pub(super) stopping: AtomicBool,
    #[cfg(feature = "http")]
    pub(super) http: Option<HttpServer>,
    pub(super) leader: Option<Leader>,
    pub(super) observers: Observers,
    pub(super) telling: Option<Telling>,
}

impl Drop for Running {
    /// However the operator ends, even if the stop itself is dropped, nothing is sent after it.
    fn drop(&mut self) {
        self.clients.close();
    }
}

/// How an operator ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It was not running.
    NotRunning,
    /// All runs in progress ended by themselves.
    Drained,
    /// A run took longer than the termination timeout and was dropped.
    TimedOut,
}

/// An event source that can't do its work, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnhealthySource {
    /// The controller's name.
    pub controller: String,
    /// The event source's name.
    pub source: String,
    /// Its namespace, if the source follows several separately.
    pub namespace: Option<String>,
    /// Which primaries wait for it with their first runs.
    pub holds_back: HeldBack,
    /// What it reports about itself.
    pub health: SourceHealth,
}

/// An object that exists and can't be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndecodableObject {
    /// The controller's name.
    pub controller: String,
    /// The name of the event source that found it.
    pub source: String,
    /// The object.
    pub object: ObjectKey,
    /// The field that can't be decoded, and what is expected there, without any of the object's values.
    pub reason: String,
}

impl Operator {
    /// Starts the declaration of an operator.
    pub fn builder() -> OperatorBuilder {
        OperatorBuilder::default()
    }

    /// The controllers, in the order of their registration.
    #[must_use]
    pub fn controllers(&self) -> &[Controller] {
        &self.settings.controllers
    }

    /// Connects to the cluster and starts all controllers. Returns without waiting for their caches: see
    /// [`Operator::synced`]. Does nothing if the operator is already running.
    ///
    /// With [`OperatorBuilder::stop_on_source_error_at_start`] it returns once all of them are synced; otherwise it
    /// stops what it had started and fails.
    ///
    /// # Errors
    /// If there is no usable configuration for a cluster, the HTTP address can't be used, the operator may not take
    /// part in its leader election, definitions that are checked differ, or event sources that all have to be synced
    /// are not synced in time.
    pub async fn start(&self) -> Result<(), Error> {
        Box::pin(self.launch()).await?;
        if let Some(error) = self.failed_at_start().await {
            self.stop().await;
            return Err(error);
        }
        Ok(())
    }

    pub(super) async fn launch(&self) -> Result<(), Error> {
        let mut running = self.running.lock().await;
        if running.is_some() {
            return Ok(());
        }
        let config = match &self.settings.config {
            Some(config) => config.clone(),
            None => client::infer().await.map_err(|source| Error::NoCluster(Box::new(source)))?,
        };
        self.check_current_namespace()?;
        if !self.settings.configured.is_empty() {
            let listed = |(key, place): (&String, &String)| format!("{key} ({place})");
            let settings = self.settings.configured.iter().map(listed).collect::<Vec<_>>().join(", ");
            tracing::info!(settings, "these settings don't come from the code");
        }
        let mut environment = (self.settings.environment.0)();
        if let Some(wall_clock) = &self.settings.wall_clock {
            environment = environment.with_wall_clock(Arc::clone(wall_clock));
        }
        let mut hooks = self.settings.hooks.clone();
        // The last hook: the operator gets what the others do to a request.
        let measures = measuring(self.observers.clone(), *environment.clock());
        hooks.push(measures.clone());
        let candidate = match &self.settings.leader_election {
            Some(election) => Some(Candidate::new(election, &config, &hooks, &environment).await?),
            None => None,
        };
        let term = candidate.as_ref().map(|candidate| candidate.term().clone());
        let mut clients =
            Clients::in_term(&config, &hooks, self.settings.request_budget, &environment, term)?;
        clients.measures = Some(measures);
        Box::pin(self.check_shards(&clients)).await?;
        if self.settings.check_definitions_at_start {
            // Rarely requested, and large.
            Box::pin(definitions::check(&self.settings.controllers, &clients)).await?;
        }
        // Before the controllers: a port that is taken is noticed while nothing runs yet.
        #[cfg(feature = "http")]
        let listener = match &self.http {
            Some(config) => Some(HttpListener::bind(config).await?),
            None => None,
        };
        let observers = self.observers.clone();
        let discovery = Discovery::new(clients.clone(), environment.clone(), observers.clone());
        let places = self.settings.max_concurrent_reconciles.map(Places::new);
        let parts = OperatorParts {
            clients: clients.clone(),
            environment: environment.clone(),
            observers: observers.clone(),
            cache_sync_timeout: self.settings.cache_sync_timeout,
            starts_as_a_whole: self.settings.stop_on_source_error_at_start,
            namespaces: self.settings.namespaces.clone(),
            workflows: WorkflowSurroundings::new(self.settings.max_concurrent_dependents)
                .with_applying(self.settings.applying.clone())
                .with_discovery(discovery.clone()),
            spread: self.settings.spread,
            places: places.clone(),
            receiver: self.settings.forward_events.as_deref().and_then(|receiver| receiver.clone().ok()),
            sharing: self.sharing(),
            managers: self.settings.controllers.iter().map(|one| one.field_manager().to_owned()).collect(),
            marks: MarkNames::new(&self.settings.mark_prefix),
            given: None,
        };
        let controllers =
            self.settings.controllers.iter().map(|controller| controller.start(&parts)).collect();
        *running = Some(Arc::new_cyclic(|running| Running {
            controllers,
            places,
            discovery,
            clients,
            stopping: AtomicBool::new(false),
            #[cfg(feature = "http")]
            http: listener.map(|listener| listener.serve(running.clone(), &environment)),
            leader: candidate
                .map(|candidate| candidate.start(running.clone(), &environment, observers.clone())),
            telling: self.tells.then(|| {
                let every = self.settings.reports_every;
                Telling::start(running.clone(), &environment, every)
            }),
            observers,
            environment,
        }));
        Ok(())
    }

    /// Resolves once every event source of every controller is synced, and runs may start; at once if the operator
    /// isn't running.
    pub async fn synced(&self) {
        if let Some(running) = self.running().await {
            join_all(running.controllers.iter().map(RunningController::synced)).await;
        }
    }

    /// Starts no more runs, waits for those in progress up to the termination timeout, and stops everything. A leader
    /// remains the leader during this time, and releases its lease if all runs have ended by themselves.
    ///
    /// A run that is dropped ends at its next await. If it doesn't reach one within a second, because it computes or
    /// blocks, the operator stops waiting for it; whatever it does after that, none of its requests leaves the process.
    pub async fn stop(&self) -> Stopped {
        let Some(running) = self.running.lock().await.take() else { return Stopped::NotRunning };
        let stops =
            running.controllers.iter().map(|controller| controller.stop(self.settings.termination_timeout));
        running.stopping.store(true, Ordering::Relaxed);
        let (drained, ()) = tokio::join!(join_all(stops), running.start_no_more());
        let drained = drained.into_iter().all(|drained| drained);
        running.clients.close();
        if let Some(leader) = &running.leader {
            leader.stop(drained).await;
        }
        #[cfg(feature = "http")]
        if let Some(server) = &running.http {
            server.close();
        }
        if let Some(telling) = &running.telling {
            telling.end();
        }
        running.discovery.end();
        if tokio::time::timeout(LAST_AWAIT, running.environment.idle()).await.is_err() {
            let tasks = running.environment.tasks();
            match tasks.contains_key(RUN) {
                true => tracing::warn!(
                    "a run blocks its thread and can't be dropped; it can no longer send anything"
                ),
                false => tracing::warn!(
                    ?tasks,
                    "tasks of the library haven't ended; they can no longer send anything"
                ),
            }
        }
        if drained { Stopped::Drained } else { Stopped::TimedOut }
    }

    /// The state of this replica in its leader election; `None` without one, and while the operator isn't running.
    pub async fn leadership(&self) -> Option<Leadership> {
        self.running().await?.leadership()
    }

    /// Resolves when this replica was the leader and no longer is; never without a leader election, or if the operator
    /// isn't running. By then its runs have been dropped, and it writes nothing until it has been stopped and started
    /// again. [`Operator::run`] waits for this itself.
    pub async fn leadership_lost(&self) -> LostLeadership {
        let running = self.running().await;
        match running.as_ref().and_then(|running| running.leader.as_ref()) {
            Some(leader) => leader.lost().await,
            None => std::future::pending().await,
        }
    }

    /// The event sources that don't work, of all controllers. Empty if the operator is ready, and if it isn't running.
    pub async fn unhealthy_sources(&self) -> Vec<UnhealthySource> {
        self.running().await.map(|running| running.unhealthy_sources()).unwrap_or_default()
    }

    /// The objects that exist and can't be decoded, of all controllers. They don't affect whether the operator is
    /// ready.
    pub async fn undecodable_objects(&self) -> Vec<UndecodableObject> {
        self.running().await.map(|running| running.undecodable_objects()).unwrap_or_default()
    }

    /// The tasks that should never end and have ended: only a new process brings them back. Empty while the operator stops,
    /// and while it isn't running. `/healthz` fails while there are any.
    pub async fn ended_tasks(&self) -> Vec<String> {
        self.running().await.map(|running| running.ended_tasks()).unwrap_or_default()
    }

    /// The running operator. The lock isn't held, because a caller that waits for it must not keep it from stopping.
    pub(super) async fn running(&self) -> Option<Arc<Running>> {
        self.running.lock().await.clone()
    }
}

impl Running {
    /// Ends the wait of the runs that wait for a place, once no controller starts any more.
    async fn start_no_more(&self) {
        let Some(places) = &self.places else { return };
        // Each answers after the stop that was sent to it.
        join_all(self.controllers.iter().map(RunningController::snapshot)).await;
        places.close();
    }

    /// Starts no more runs and drops those in progress.
    pub(super) async fn drop_runs(&self) {
        if let Some(places) = &self.places {
            places.close();
        }
        join_all(self.controllers.iter().map(|controller| controller.stop(Duration::ZERO))).await;
    }

    pub(super) fn leadership(&self) -> Option<Leadership> {
        Some(self.leader.as_ref()?.leadership())
    }

    /// The tasks that should never end and have ended: empty while the operator stops, because they are meant to
    /// end then.
    pub(super) fn ended_tasks(&self) -> Vec<String> {
        if self.stopping.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let ended = self.controllers.iter().flat_map(|controller| {
            let name = controller.name();
            controller
                .ended_tasks()
                .into_iter()
                .map(move |task| format!("controller {name}: {task} has ended"))
        });
        let election = self.leader.as_ref().and_then(|leader| match leader.leadership() {
            Leadership::Lost(lost) => Some(format!("leadership is lost: {lost}")),
            _ => leader.has_ended().then(|| "the election of a leader has ended".to_owned()),
        });
        ended.chain(election).collect()
    }

    pub(super) fn undecodable_objects(&self) -> Vec<UndecodableObject> {
        let all = self.controllers.iter().flat_map(|controller| {
            let name = controller.name().to_owned();
            controller.undecodable().into_iter().map(move |(source, object, reason)| UndecodableObject {
                controller: name.clone(),
                source,
                object,
                reason,
            })
        });
        all.collect()
    }

    pub(super) fn unhealthy_sources(&self) -> Vec<UnhealthySource> {
        let unhealthy = self.controllers.iter().flat_map(|controller| {
            let name = controller.name().to_owned();
            controller.unhealthy().into_iter().map(move |(source, part, holds_back)| {
                let SourcePart { namespace, health, .. } = part;
                UnhealthySource { controller: name.clone(), source, namespace, holds_back, health }
            })
        });
        // It belongs to none of them, and serves each controller that has asked.
        let discovery = self.discovery.trouble().into_iter().flat_map(|(source, health, controllers)| {
            controllers.into_iter().map(move |controller| UnhealthySource {
                controller: controller.to_string(),
                source: source.to_owned(),
                namespace: None,
                holds_back: HeldBack::Nobody,
                health: health.clone(),
            })
        });
        unhealthy.chain(discovery).collect()
    }
}

debug_of!(Operator: "Operator", |it| controllers: it.settings.controllers);
