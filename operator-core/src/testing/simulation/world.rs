//! One schedule in progress: a server, an operator with its successors, users, and bad luck.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use futures::future::LocalBoxFuture;
use kube::{Client, Config, ResourceExt, api::DynamicObject};
use tokio::task::JoinHandle;

use super::{
    CalmRun, Choices, FaultPlan, Oracle,
    checkpoint::Checkpoint,
    cluster::{Cluster, Readiness},
    life::{Life, recorded},
    made_up::MadeUp,
    objects::{Objects, named},
    observer::Exclusive,
    order,
    overlap::Overlaps,
    pages,
    record::{Actor, ScheduleRecord, Violation},
    state::ClusterState,
    storm::Storm,
    sweep::{Moment, Somebody, Sweep},
};
use crate::{
    client::{Clients, TransportHook},
    environment::{Environment, WallClock},
    operator::{Error, Footprint, Operator, OperatorBuilder},
    resource::ResourceType,
    testing::{InProcessServer, ObservedGenerations, faults::Faults},
};

/// Declares the operator; called again after each crash.
pub(super) type Factory = Rc<dyn Fn() -> OperatorBuilder>;

/// After how many milliseconds a crashed operator is started again; the first is that of the calm run.
const RESTARTS: [u64; 5] = [100, 0, 10, 2_000, 20_000];

/// How often an operator reports ages and numbers. What it reports is the same each time.
const REPORTS_EVERY: Duration = Duration::from_secs(60);

/// What happens in an otherwise calm run.
#[derive(Clone, Debug, Default)]
pub(super) struct Apart {
    /// Someone acts.
    pub(super) act: Option<Moment>,
    /// How readiness ends.
    pub(super) readiness: Readiness,
    /// What is logged is shown, and not searched for secrets.
    pub(super) shows_logs: bool,
    /// The nodes of workflows are the other way round.
    pub(super) is_reversed: bool,
    /// It repeats the calm run, to find out what is made by chance.
    pub(super) is_repeated: bool,
    /// The places whose values the operator makes by chance.
    pub(super) made_up: Vec<MadeUp>,
    /// The state of the usual calm run after the installation of the definitions.
    pub(super) checkpoint: Option<Checkpoint>,
    /// The schedule ends as soon as one of these is violated, because nothing else is asked of it.
    pub(super) ends_with: Vec<Oracle>,
}

impl Apart {
    pub(super) fn is_nothing(&self) -> bool {
        self.act.is_none() && self.readiness == Readiness::Comes
    }
}

/// A condition of the test that holds whenever the schedule has settled.
pub(super) type Invariant = Box<dyn Fn(&Objects) -> Result<(), String>>;

pub(super) struct World {
    pub(super) choices: Choices,
    pub(super) record: Arc<ScheduleRecord>,
    pub(super) calm: Option<Arc<CalmRun>>,
    pub(super) server: InProcessServer,
    pub(super) storm: Arc<Storm>,
    pub(super) faults: Faults,
    pub(super) client: Client,
    pub(super) invariants: RefCell<Vec<Invariant>>,
    pub(super) cluster: Cluster,
    /// End the bad luck of other systems.
    pub(super) others: RefCell<Vec<Box<dyn Fn()>>>,
    pub(super) made_up: RefCell<Vec<MadeUp>>,
    /// The uids of what users have made and not deleted, as they have seen them last.
    pub(super) seen: RefCell<BTreeMap<String, String>>,
    /// The call with which the end started.
    pub(super) farewell: Cell<usize>,
    pub(super) without: RefCell<BTreeSet<Oracle>>,
    pub(super) exclusive: Arc<Exclusive>,
    pub(super) factory: RefCell<Option<Factory>>,
    /// What each incarnation has said about generations.
    pub(super) generations: RefCell<Vec<ObservedGenerations>>,
    pub(super) is_reversed: bool,
    /// Whether a long quiet time is part of it: of the usual calm run, and of the schedules that draw it.
    pub(super) has_long_quiet: bool,
    /// The state from which it may start, if that isn't the one of the calm run that it is compared with.
    pub(super) given: Option<Checkpoint>,
    /// The first call of the long quiet time, and the first one after it.
    pub(super) long_quiet: Cell<(usize, usize)>,
    operator: RefCell<Option<Rc<Operator>>>,
    pub(super) scripts: RefCell<Vec<JoinHandle<()>>>,
    supervisor: RefCell<Option<JoinHandle<()>>>,
    incarnations: Cell<u32>,
    /// What users have made, in order: it is deleted at the end.
    pub(super) made: RefCell<Vec<(ResourceType, String, String)>>,
    /// The states at which the schedule has settled.
    pub(super) states: RefCell<Vec<ClusterState>>,
    /// The version of the server before anything has happened.
    pub(super) first_version: Cell<u64>,
    /// The state from which the schedules after this run start, if this is the calm one.
    pub(super) checkpoint: RefCell<Option<Checkpoint>>,
}

impl World {
    /// `calm` is the run with which this one is compared; `None` while that is made.
    pub(super) async fn new(
        choices: Choices,
        calm: Option<Arc<CalmRun>>,
        apart: Apart,
        record: Arc<ScheduleRecord>,
    ) -> Rc<Self> {
        let clock = {
            let clock = super::life::VirtualClock(Arc::clone(&record));
            move || clock.now()
        };
        let server = InProcessServer::with_clock(clock);
        let calm_is_given = calm.is_some();
        let is_usual = apart.is_nothing() && !apart.is_reversed && !apart.is_repeated;
        let made_up = calm.as_ref().map_or(apart.made_up, |calm| calm.made_up.clone());
        let readiness = calm.as_ref().map_or(apart.readiness, |calm| calm.readiness);
        let cluster = Cluster::new(readiness);
        let client = client_of_user(&server, &record, &config(&server));
        let exclusive = Arc::new(Exclusive::new(Arc::clone(&record)));
        let sweep = Sweep::new(
            (&choices, calm.as_deref()),
            apart.act,
            &record,
            &server,
            &exclusive,
            Somebody::new(&server, &record),
        );
        let storm = Arc::new(Storm::new(choices.clone(), Arc::clone(&record), sweep));
        let faults = Faults::directed(Arc::clone(&storm) as _);
        let world = Rc::new(Self {
            choices,
            exclusive,
            record,
            calm,
            server,
            storm,
            faults,
            client,
            invariants: RefCell::default(),
            cluster,
            others: RefCell::default(),
            made_up: RefCell::new(made_up),
            seen: RefCell::default(),
            farewell: Cell::default(),
            without: RefCell::default(),
            factory: RefCell::default(),
            generations: RefCell::default(),
            is_reversed: apart.is_reversed,
            has_long_quiet: is_usual || calm_is_given,
            given: apart.checkpoint,
            long_quiet: Cell::default(),
            operator: RefCell::default(),
            scripts: RefCell::default(),
            supervisor: RefCell::default(),
            incarnations: Cell::new(0),
            made: RefCell::default(),
            states: RefCell::default(),
            first_version: Cell::default(),
            checkpoint: RefCell::default(),
        });
        world.begin().await;
        world
    }

    pub(super) fn is_calm(&self) -> bool {
        self.calm.is_none()
    }

    pub(super) fn violated(&self, oracle: Oracle, message: impl Into<String>) {
        if !self.without.borrow().contains(&oracle) {
            self.record.violated(oracle, message);
        }
    }

    /// From now on bad luck follows this plan; in the calm run there is none.
    pub(super) fn follow(&self, plan: FaultPlan) {
        self.try_luck(&plan);
        if self.is_calm() {
            // Rules are for the schedules only, and the calm run has to know which sweeps are wanted. Its end is part of
            // them, too.
            self.faults.on();
            return self.storm.follow(plan.calmly());
        }
        plan.rules.iter().for_each(|rule| self.faults.add(rule));
        self.faults.on();
        self.storm.follow(plan);
    }

    pub(super) fn made(&self, of: &ResourceType, namespace: &str, name: &str) {
        let made = (of.clone(), namespace.to_owned(), name.to_owned());
        let mut all = self.made.borrow_mut();
        if !all.contains(&made) {
            all.push(made);
        }
    }

    /// A user has seen this object, and doesn't accept another one in its place.
    pub(super) fn seen(&self, of: &ResourceType, object: &DynamicObject) {
        let name = named(of.plural(), object.namespace().as_deref().unwrap_or_default(), &object.name_any());
        self.seen.borrow_mut().insert(name, object.uid().unwrap_or_default());
    }

    /// A user deletes this object; returns what they have seen.
    pub(super) fn unseen(&self, of: &ResourceType, namespace: &str, name: &str) -> Option<(String, String)> {
        self.seen.borrow_mut().remove_entry(&named(of.plural(), namespace, name))
    }

    /// The deletion was refused.
    pub(super) fn seen_again(&self, seen: Option<(String, String)>) {
        self.seen.borrow_mut().extend(seen);
    }

    pub(super) fn run_script(&self, script: LocalBoxFuture<'static, ()>) {
        self.scripts.borrow_mut().push(tokio::task::spawn_local(script));
    }

    /// Starts the operator, and starts it again whenever it has crashed.
    pub(super) fn supervise(self: &Rc<Self>, factory: Factory) {
        assert!(
            self.factory.borrow().is_none(),
            "a simulation has one operator, which may have many controllers"
        );
        *self.factory.borrow_mut() = Some(Rc::clone(&factory));
        let world = Rc::clone(self);
        self.faults.on_crash({
            // The one that runs when the crash comes; the layer is shared by all of them.
            let current = Arc::clone(&world.exclusive);
            move || current.crash()
        });
        *self.supervisor.borrow_mut() = Some(tokio::task::spawn_local(async move {
            loop {
                let life = match world.start(&factory).await {
                    Ok(life) => life,
                    Err(error) => {
                        return world.violated(Oracle::Alive, format!("the operator doesn't start: {error}"));
                    }
                };
                tokio::select! {
                    biased;
                    () = life.crashed.notified() => {}
                    () = world.leadership_lost() => life.crash(),
                }
                // Its memory is gone, and with it all that would have been told to it.
                drop(world.operator.borrow_mut().take());
                let lane = u32::try_from(RESTARTS.len()).unwrap_or(1);
                let pause = RESTARTS[world.choices.next("restart", lane) as usize];
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
        }));
    }

    async fn start(&self, factory: &Factory) -> Result<Arc<Life>, Error> {
        let number = self.incarnations.get() + 1;
        self.incarnations.set(number);
        let life = Life::new(number, self.choices.clone(), Arc::clone(&self.record));
        self.exclusive.begins(&life);
        if number > 1 {
            self.record.tell(format_args!("operator {number} starts"));
        }
        // What settings from outside say is a listener or an election, too, which are taken away below.
        let declared = order::declared(self.is_reversed, &**factory).resolved()?;
        let alone = !self.record.leases.elects();
        let declared = if alone { declared.without_leader_election() } else { declared };
        if number == 1 {
            self.install(declared.crds()).await;
        }
        let primaries = declared.crds().iter().map(|crd| crd.spec.names.plural.clone()).collect();
        let generations = ObservedGenerations::default();
        self.generations.borrow_mut().push(generations.clone());
        let overlaps = Overlaps::new(Arc::clone(&self.record), Arc::clone(&self.exclusive), primaries);
        #[cfg(feature = "http")]
        let declared = declared.without_listener();
        let builder = declared
            .without_jitter()
            .simulated(REPORTS_EVERY)
            .config(config(&self.server))
            .transport(self.server.clone().into())
            .transport(pages::drawn(&self.choices))
            .transport(life.gate())
            .transport(generations.hook())
            .transport(self.faults.hook())
            .transport(overlaps.hook())
            .observer(Arc::clone(&self.exclusive) as _)
            .observer(Arc::new(generations))
            .metrics(Arc::clone(&self.exclusive))
            .environment({
                let life = Arc::clone(&life);
                move || life.environment()
            });
        let operator = builder.build()?;
        operator.start().await?;
        *self.operator.borrow_mut() = Some(Rc::new(operator));
        Ok(life)
    }

    /// Resolves when the operator has lost its lease and has stopped.
    async fn leadership_lost(&self) {
        let Some(operator) = self.current() else { return std::future::pending().await };
        let lost = operator.leadership_lost().await;
        self.record.tell(format_args!("the operator doesn't lead any more: {lost}"));
        operator.stop().await;
    }

    pub(super) fn current(&self) -> Option<Rc<Operator>> {
        self.operator.borrow().clone()
    }

    /// Alive.
    pub(super) async fn dead(&self) -> Option<Violation> {
        let ended = match self.current() {
            Some(operator) => operator.dead_parts().await,
            None if self.factory.borrow().is_some() => vec!["the operator".to_owned()],
            None => Vec::new(),
        };
        let message = format!("these don't run any more: {}", ended.join(", "));
        (!ended.is_empty()).then_some(Violation { oracle: Oracle::Alive, message })
    }

    /// OwnGeneration.
    pub(super) fn misdated(&self) -> Vec<Violation> {
        let of = |message| Violation { oracle: Oracle::OwnGeneration, message };
        self.generations.borrow().iter().flat_map(ObservedGenerations::violations).map(of).collect()
    }

    pub(super) async fn footprint(&self) -> Footprint {
        match self.current() {
            Some(operator) => operator.footprint().await,
            None => Footprint::default(),
        }
    }

    /// Stops the operator for good.
    pub(super) async fn end(&self) {
        if let Some(supervisor) = self.supervisor.borrow_mut().take() {
            supervisor.abort();
        }
        let operator = self.operator.borrow_mut().take();
        if let Some(operator) = operator {
            operator.stop().await;
        }
    }

    pub(super) fn incarnations(&self) -> u32 {
        self.incarnations.get()
    }
}

/// A client whose requests are recorded as those of a user.
pub(super) fn client_of_user(
    server: &InProcessServer,
    record: &Arc<ScheduleRecord>,
    config: &Config,
) -> Client {
    let record = Arc::clone(record);
    let recorded = TransportHook::around(move |request, inner| {
        let record = Arc::clone(&record);
        async move { recorded(&record, Actor::User, request, inner).await }
    });
    let clients = Clients::new(config, &[server.clone().into(), recorded], None, &Environment::real());
    clients.expect("a configuration without credentials can be used").direct
}

/// A configuration for clients that never reach the network. Without certificates: reading those of the machine takes longer
/// than many a schedule.
pub(super) fn config(server: &InProcessServer) -> Config {
    let mut config = server.config();
    config.root_cert = Some(Vec::new());
    config
}
