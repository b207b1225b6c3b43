//! The declaration of an operator.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Config;
use metrics::Recorder;
use tokio::sync::Mutex;

#[cfg(feature = "http")]
use super::http::HttpConfig;
use super::{
    Error, Exit, LeaderElection, Operator, StoppedSource, health::HealthLog, stopped::Told, telling::INTERVAL,
};
use crate::{
    client::{RequestBudget, TransportHook},
    configuration::ConfigLoader,
    controller::{Controller, Mistake},
    environment::{Environment, WallClock},
    event_source::WatchScope,
    metrics::{MetricsObserver, Recorders},
    observe::{Observer, Observers},
    operations::Receiver,
    processor::DEFAULT_SPREAD,
    reconciler::{Applying, DEFAULT_MAX_CONCURRENT_DEPENDENTS},
    resource::{MarkNames, ResourceType},
};

/// The default for how long a stop waits for runs in progress. Kubernetes kills a pod 30 s after asking it to stop;
/// this leaves some margin.
pub(crate) const DEFAULT_TERMINATION_TIMEOUT: Duration = Duration::from_secs(25);

/// The default for how long event sources may take to see everything before there is a warning.
pub(crate) const DEFAULT_CACHE_SYNC_TIMEOUT: Duration = Duration::from_secs(2 * 60);

/// Declares an operator.
#[derive(Debug, Default)]
#[must_use = "an operator does nothing until it is started"]
pub struct OperatorBuilder {
    pub(super) settings: Settings,
    /// The names of all registered controllers, including those with mistakes.
    pub(super) names: Vec<String>,
    /// The mistakes of the controllers.
    pub(super) mistakes: Vec<Mistake>,
    pub(super) crds: Vec<CustomResourceDefinition>,
    observers: Vec<Arc<dyn Observer>>,
    metrics: Recorders,
    #[cfg(feature = "http")]
    pub(super) http_address: Option<std::net::SocketAddr>,
    /// The sources of settings besides the code.
    pub(super) configuration: ConfigLoader,
}

/// The settings that the builder collects and the finished operator keeps unchanged.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) config: Option<Config>,
    pub(super) hooks: Vec<TransportHook>,
    pub(super) controllers: Vec<Controller>,
    pub(super) wall_clock: Option<Arc<dyn WallClock>>,
    pub(super) environment: MakeEnvironment,
    pub(super) termination_timeout: Duration,
    pub(super) request_budget: Option<RequestBudget>,
    pub(super) cache_sync_timeout: Option<Duration>,
    pub(super) stop_on_source_error_at_start: bool,
    /// The share by which controllers spread regular delays by default.
    pub(super) spread: f64,
    /// The interval between two reports of ages and numbers to the observers.
    pub(super) reports_every: Duration,
    pub(super) check_definitions_at_start: bool,
    pub(super) max_concurrent_dependents: usize,
    /// How dependents are written that don't declare it themselves.
    pub(super) applying: Applying,
    /// The limit of all controllers together.
    pub(super) max_concurrent_reconciles: Option<usize>,
    pub(super) leader_election: Option<LeaderElection>,
    /// Where Events are forwarded to.
    pub(super) forward_events: Option<Box<Result<Receiver, Mistake>>>,
    /// Used instead of the namespaces that the controllers declare.
    pub(super) namespaces: Option<WatchScope>,
    /// The namespaces of the controllers that declare none.
    pub(super) default_namespaces: Option<WatchScope>,
    /// The prefix of the keys of the marks.
    pub(super) mark_prefix: String,
    /// The keys that were set from outside, and their places.
    pub(super) configured: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            config: None,
            hooks: Vec::new(),
            controllers: Vec::new(),
            wall_clock: None,
            environment: MakeEnvironment::default(),
            termination_timeout: DEFAULT_TERMINATION_TIMEOUT,
            request_budget: None,
            cache_sync_timeout: Some(DEFAULT_CACHE_SYNC_TIMEOUT),
            stop_on_source_error_at_start: false,
            spread: DEFAULT_SPREAD,
            reports_every: INTERVAL,
            check_definitions_at_start: false,
            max_concurrent_dependents: DEFAULT_MAX_CONCURRENT_DEPENDENTS,
            applying: Applying::default(),
            max_concurrent_reconciles: None,
            leader_election: None,
            forward_events: None,
            namespaces: None,
            default_namespaces: None,
            mark_prefix: MarkNames::PREFIX.to_owned(),
            configured: BTreeMap::new(),
        }
    }
}

/// Makes the environment for each start.
pub(super) struct MakeEnvironment(pub(super) Arc<dyn Fn() -> Environment + Send + Sync>);

impl Default for MakeEnvironment {
    fn default() -> Self {
        Self(Arc::new(Environment::real))
    }
}

debug_of!(MakeEnvironment: "MakeEnvironment");

impl OperatorBuilder {
    /// Uses this cluster; by default the one of the current kubeconfig, or the one that the pod runs in.
    pub fn config(mut self, config: Config) -> Self {
        self.settings.config = Some(config);
        self
    }

    /// Adds a definition that the operator's kinds need: the `crd` command prints it, and `dev` installs it. A running
    /// operator never writes definitions. It replaces an earlier definition with the same name; [`Controller::of`] adds
    /// that of its primaries automatically.
    pub fn crd(mut self, crd: CustomResourceDefinition) -> Self {
        self.crds.retain(|known| known.metadata.name != crd.metadata.name);
        self.crds.push(crd);
        self
    }

    /// Wraps the transport of all clients; a later hook wraps an earlier one.
    pub fn transport(mut self, hook: TransportHook) -> Self {
        self.settings.hooks.push(hook);
        self
    }

    /// Notifies `observer` of everything that the library does.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Records metrics here instead of in the recorder that the program has installed for the `metrics` crate. Any
    /// exporter's recorder will do, and `metrics_util::layers::Fanout` passes measurements on to several. The recorder
    /// must not block. It gets the help text of each metric when the operator is built. Ages and numbers that change
    /// without an event are measured every five seconds, or, with an HTTP address, when `/metrics` is read.
    pub fn metrics(mut self, recorder: impl Recorder + Send + Sync + 'static) -> Self {
        self.metrics.given = Some(Arc::new(recorder));
        self
    }

    /// Limits the requests of the operator, not counting watches; by default there is no limit.
    pub fn request_budget(mut self, budget: RequestBudget) -> Self {
        self.settings.request_budget = Some(budget);
        self
    }

    /// Sets the source of the time of day, instead of the machine's clock.
    pub fn wall_clock(mut self, wall_clock: Arc<dyn WallClock>) -> Self {
        self.settings.wall_clock = Some(wall_clock);
        self
    }

    /// Sets the environment of each start, instead of real time and real randomness: for simulations. If a wall clock was
    /// set, it replaces the environment's.
    pub fn environment(mut self, make: impl Fn() -> Environment + Send + Sync + 'static) -> Self {
        self.settings.environment = MakeEnvironment(Arc::new(make));
        self
    }

    /// How long a stop waits for runs in progress before it drops them; by default 25 s.
    pub fn termination_timeout(mut self, timeout: Duration) -> Self {
        self.settings.termination_timeout = timeout;
        self
    }

    /// The time after which a warning names event sources that are not synced yet, with the reason. It is repeated at
    /// this interval. By default two minutes; `None` for no such warning.
    ///
    /// Unlike JOSDK's `cacheSyncTimeout`, it stops nothing by itself: the sources keep trying, and primaries run if
    /// their namespace is synced in all sources that follow it. With [`OperatorBuilder::stop_on_source_error_at_start`]
    /// it is the time after which the start fails.
    pub fn cache_sync_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.cache_sync_timeout = timeout.into();
        self
    }

    /// Sends each Event of Kubernetes that a controller records to this url as well, by POST, as Flux's notification controller takes
    /// them: `involvedObject`, `severity` (`info`, or `error` for a warning), `timestamp`, `reason`, `message`,
    /// `reportingController` and `reportingInstance` in JSON.
    ///
    /// No run waits for it. An answer has 5 s; without one, or after a code of 500 or more, it is sent again, three times at most. With
    /// 429 the receiver has had the same Event, and with any other code it doesn't want it. 1,024 of a controller may wait, further ones are
    /// dropped; `kubernetes_events_total` counts them all. A stop waits two seconds for the rest. No log and no error shows the url,
    /// which may have credentials in it.
    pub fn forward_events(mut self, url: impl AsRef<str>) -> Self {
        // The url itself may have credentials in it.
        let receiver = Receiver::at(url.as_ref()).ok_or_else(|| {
            Mistake::new(
                "Events can't be forwarded to the url that is given",
                "it needs a scheme, `http` or `https`, and a host",
                "`.forward_events(\"http://notification-controller.flux-system.svc/\")`",
            )
        });
        self.settings.forward_events = Some(Box::new(receiver));
        self
    }

    /// Whether the start fails if an event source is not synced within [`OperatorBuilder::cache_sync_timeout`], for
    /// example because a right or a definition is missing; by default it doesn't. JOSDK:
    /// `stopOnInformerErrorDuringStartup`, which is on by default, and doesn't wait after a refusal.
    ///
    /// In that case no run starts before all sources are synced. [`Operator::start`] waits for that, and otherwise
    /// returns [`Error::NotSynced`], with the source, the namespace and the missing right; a process that was started
    /// with `run` exits with 1. By default, a primary runs as soon as its own namespace is synced in each source that
    /// follows the controller's namespaces, and all other sources are synced; the rest is retried without end.
    pub fn stop_on_source_error_at_start(mut self, stop: bool) -> Self {
        self.settings.stop_on_source_error_at_start = stop;
        self
    }

    /// Whether the start fails if the definition of a primary in the cluster doesn't match its type; by default
    /// nothing is checked. JOSDK: `checkCRDAndValidateLocalModel`, which compares the names of fields.
    ///
    /// It has to exist, and to have the type's scope and kind; it has to serve the type's version; and its schema must
    /// have each field of the type, with the same type and limits. Descriptions don't count, and it may have further fields.
    /// [`Operator::start`] then returns [`Error::Definitions`] with all
    /// differences of all definitions. Of a kind whose definition doesn't belong to the operator
    /// ([`Controller::of_existing`]) only scope, kind and version are checked. The operator needs the right to `get`
    /// customresourcedefinitions.
    pub fn check_definitions_at_start(mut self, check: bool) -> Self {
        self.settings.check_definitions_at_start = check;
        self
    }

    /// Calls `callback` when an event source stops for good: its task has panicked, or it is the reason why a start
    /// fails with [`OperatorBuilder::stop_on_source_error_at_start`], once for each missing namespace. A source that
    /// has failed and is retrying has not stopped. JOSDK: `InformerStoppedHandler`, whose default ends the process.
    /// Here the process continues; use `/healthz` to restart it.
    pub fn on_source_stopped(mut self, callback: impl Fn(&StoppedSource) + Send + Sync + 'static) -> Self {
        self.observers.push(Arc::new(Told(Box::new(callback))));
        self
    }

    /// How many runs of all controllers together may be in progress at the same time; by default only each controller has
    /// a limit, its [`max_concurrent_reconciles`](crate::ControllerBuilder::max_concurrent_reconciles). Waiting runs get
    /// their places in the order in which they asked. A waiting run hasn't started, and its deadline isn't running. JOSDK:
    /// `concurrentReconciliationThreads`, whose default is 50.
    pub fn max_concurrent_reconciles(mut self, runs: usize) -> Self {
        self.settings.max_concurrent_reconciles = Some(runs);
        self
    }

    /// How many creates, updates and deletions of dependents may be in progress at the same time, for all workflows of
    /// a controller; by default 50. The limit is per controller, so a slow controller doesn't slow down another. Each
    /// resource of a bulk dependent counts; a dependent that only reads doesn't. Within this limit, a run does in
    /// parallel what it can. JOSDK: `concurrentWorkflowExecutorThreads`.
    pub fn max_concurrent_dependents(mut self, dependents: usize) -> Self {
        self.settings.max_concurrent_dependents = dependents;
        self
    }

    /// Whether dependents without a `use_ssa` of their own are written by server-side apply; by default they are.
    /// Otherwise they are created by POST and replaced by PUT, and the operator's role needs `update` where
    /// [`Controller::access`] says `patch`. JOSDK: `ssaBasedCreateUpdateMatchForDependentResources`.
    pub fn use_ssa_for_dependents(mut self, use_ssa: bool) -> Self {
        self.settings.applying.by_default = use_ssa;
        self
    }

    /// Kinds whose objects are not applied unless their dependent says so, whatever
    /// [`use_ssa_for_dependents`](Self::use_ssa_for_dependents) says; by default there are none. The version of a type
    /// doesn't matter. JOSDK: `defaultNonSSAResource`, which has ConfigMaps and Secrets.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use operator_core::{Operator, ResourceType};
    ///
    /// let operator = Operator::builder().default_non_ssa_resources([ResourceType::of::<ConfigMap>()]);
    /// ```
    pub fn default_non_ssa_resources(mut self, kinds: impl IntoIterator<Item = ResourceType>) -> Self {
        kinds.into_iter().for_each(|kind| self.settings.applying.except(&kind));
        self
    }

    /// The prefix of the labels and of the annotation that show which node has made an object, and for which primary;
    /// by default `operator-core.io`. It is a DNS subdomain, such as the group of the operator's own kinds.
    ///
    /// Objects made with another prefix are taken over if they have the owner reference and the field manager. Objects
    /// that are no longer wanted by then aren't deleted. See [`MarkNames`].
    pub fn mark_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.mark_prefix = prefix.into();
        self
    }

    /// Works only while this replica holds a lease: one of several replicas is active. Off by default, as in
    /// JOSDK. The others stand by with their caches filled. A replica that was the leader and has lost the lease stops
    /// writing and has to be restarted: see [`Operator::run`] and [`Operator::leadership_lost`].
    pub fn leader_election(mut self, election: LeaderElection) -> Self {
        self.settings.leader_election = Some(election);
        self
    }

    /// How long a stop waits for runs in progress.
    #[cfg(feature = "cli")]
    pub(crate) fn longest_drain(&self) -> Duration {
        self.settings.termination_timeout
    }

    /// The controllers registered so far, without those whose declaration is wrong.
    #[must_use]
    pub fn controllers(&self) -> &[Controller] {
        &self.settings.controllers
    }

    /// The definitions added so far, including those of controllers.
    #[must_use]
    pub fn crds(&self) -> &[CustomResourceDefinition] {
        &self.crds
    }

    /// The configured cluster, if one was set.
    #[must_use]
    pub fn configured(&self) -> Option<&Config> {
        self.settings.config.as_ref()
    }

    /// Without a jitter that no controller has asked for, because tests rely on exact moments.
    #[cfg(feature = "testing")]
    pub(crate) fn without_jitter(mut self) -> Self {
        self.settings.spread = 0.0;
        self
    }

    /// Forwards nothing, and reports ages and numbers less often: hours of virtual time have many of the usual intervals.
    #[cfg(feature = "testing")]
    pub(crate) fn simulated(mut self, interval: Duration) -> Self {
        self.settings.forward_events = None;
        self.settings.reports_every = interval;
        self
    }

    /// Without leader election: there are no other replicas.
    #[cfg(feature = "testing")]
    pub(crate) fn without_leader_election(mut self) -> Self {
        self.settings.leader_election = None;
        self
    }

    /// Finishes the declaration.
    ///
    /// # Errors
    /// If no controller is registered, something contradicts itself, or an external setting is invalid. The error has
    /// all mistakes.
    pub fn build(self) -> Result<Operator, Error> {
        let built = self.resolved()?;
        #[cfg_attr(not(feature = "http"), expect(unused_mut, reason = "only a listener adds to them"))]
        let mut metrics = built.metrics;
        #[cfg(feature = "http")]
        let http = built.http_address.map(|address| HttpConfig::new(address, &mut metrics));
        metrics.describe();
        // A listener measures the current numbers whenever `/metrics` is read.
        let tells = metrics.given.is_some() && metrics.served.is_none();
        let mut observers: Vec<Arc<dyn Observer>> =
            vec![Arc::new(MetricsObserver::new(metrics)), Arc::new(HealthLog::default())];
        observers.extend(built.observers);
        Ok(Operator {
            settings: built.settings,
            observers: Observers::new(observers),
            tells,
            #[cfg(feature = "http")]
            http,
            running: Mutex::new(None),
        })
    }

    /// Builds the operator and runs it until it is stopped; see [`Operator::run`].
    ///
    /// # Errors
    /// If the declaration is wrong or there is no cluster.
    pub async fn run(self) -> Result<Exit, Error> {
        self.build()?.run().await
    }
}
