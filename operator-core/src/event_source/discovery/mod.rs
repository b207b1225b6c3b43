//! The kinds that the cluster serves: one watch for all controllers of an operator, which starts with the first query.
//!
//! ```text
//! CustomResourceDefinitions ──watch──▶ names, versions ──▶ is it there? ──▶ conditions of workflows
//!        │ appears, or goes; can be watched again              ▲
//!        └──▶ wakes the primaries of the subscribers           │
//! GET /apis/<group>/<version> ──kept for a minute──────────────┘ kinds without a definition
//!        └── asked by a task of its own, until there is an answer
//! ```
//!
//! # Guarantees
//! - Schemas are not kept: a definition costs as much as its names.
//! - Subscribers that have queried a definition, or a kind in its group, are notified when it appears, changes its
//!   versions, or is removed.
//! - As long as the definitions aren't known, or can no longer be watched, there is no answer, rather than a wrong one.
//!   No caller waits for an answer that can't come; callers without an answer are notified when there are answers
//!   again.
//! - A group whose API server is down holds up no run for longer than [`PATIENCE`], counted from the question. After a
//!   failure no run waits at all.
//! - Its health is reported like that of an event source, for each controller that has queried it.
//!
//! # Assumptions
//! - Kinds without a definition, such as those of aggregated APIs, are added and removed rarely: they trigger nothing.

mod definition;
mod kinds;
mod subscribers;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::Client;
use parking_lot::Mutex;
use tokio::{sync::Notify, task::JoinHandle};

use super::EventSource;
#[cfg(feature = "testing")]
use super::Given;
use crate::{
    cache::{Informer, InformerPlan, InformerSettings, ResourceCache, View, kind_of, opening},
    client::Clients,
    environment::{DISCOVERY, Environment, Now},
    observe::{Observers, SourceHealth, error_chain},
    resource::{ObjectKey, ResourceType},
};

use definition::Definition;
use kinds::ListedKinds;
pub(crate) use subscribers::Subscriber;
use subscribers::Subscribers;

/// How long a run waits for the first list of definitions, or for the kinds of a group, unless that fails.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long an answer of the server's discovery is valid.
const FRESH: Duration = Duration::from_secs(60);
/// The pauses before a question is repeated: the first, which is doubled, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// The reason why the served kinds are unknown. A retry may help.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiscoveryError {
    /// The watch of definitions doesn't work.
    #[error(
        "CustomResourceDefinitions can't be watched: {0}; the operator needs the right to list and watch them"
    )]
    Watch(String),
    /// The server did not say which kinds it serves.
    #[error("the server did not say which kinds of {group_version} it serves")]
    Kinds { group_version: String, source: Box<kube::Error> },
}

/// Its name among the event sources.
const NAME: &str = "CustomResourceDefinition";
/// The index of definitions by their group.
const BY_GROUP: &str = "group";

/// What an operator knows about the kinds that its cluster serves. Clones share everything.
#[derive(Clone)]
pub(crate) struct Discovery(Arc<DiscoveryState>);

struct DiscoveryState {
    clients: Clients,
    environment: Environment,
    informer: Informer,
    definitions: ResourceCache<Definition>,
    subscribers: Arc<Subscribers>,
    watch: Mutex<Option<JoinHandle<()>>>,
    /// By group and version.
    questions: Mutex<BTreeMap<String, Question>>,
    listed: tokio::sync::Mutex<ListedKinds>,
}

struct Question {
    asked: Now,
    answer: Arc<Answer>,
    task: JoinHandle<()>,
}

/// The names of the kinds.
type Kinds = Result<BTreeSet<String>, kube::Error>;

#[derive(Default)]
struct Answer {
    /// The last one, and when it was requested.
    last: Mutex<Option<(Now, Kinds)>>,
    /// Notified of each.
    changed: Notify,
}

impl Discovery {
    /// Knows nothing yet, and queries nothing.
    pub(crate) fn new(clients: Clients, environment: Environment, observers: Observers) -> Self {
        let settings = InformerSettings {
            is_asked: true,
            ..InformerSettings::new(NAME, ResourceType::of::<Definition>())
        };
        let view = Arc::new(View::new(&settings, kind_of::<Definition>(), &environment));
        let by_group = opening(Arc::new(|definition: &Definition| vec![definition.group().to_owned()]));
        let indexers = view.opens([(BY_GROUP.to_owned(), by_group)].into());
        let subscribers = Arc::new(Subscribers::new(observers, Arc::clone(&view)));
        let client = clients.direct.clone();
        let plan = InformerPlan {
            settings,
            bounds: None,
            share: None,
            view,
            client,
            environment: environment.clone(),
        };
        let informer = Informer::new(plan, Arc::clone(&subscribers) as _, indexers);
        let definitions = ResourceCache::of(informer.clone());
        Self(Arc::new(DiscoveryState {
            clients,
            environment,
            informer,
            definitions,
            subscribers,
            watch: Mutex::default(),
            questions: Mutex::default(),
            listed: tokio::sync::Mutex::default(),
        }))
    }

    /// The same if the definitions are listed once.
    #[cfg(feature = "testing")]
    pub(crate) fn with_given(self, given: &dyn Given) -> Self {
        self.0.informer.list_from(&|request| given.list(request));
        self
    }

    /// The name of its source, its trouble if it has any, and the controllers that have queried it.
    pub(crate) fn trouble(&self) -> Option<(&'static str, SourceHealth, Vec<Arc<str>>)> {
        let health = self.0.informer.health();
        let troubled = matches!(health, SourceHealth::Unhealthy { .. });
        troubled.then(|| (NAME, health, self.0.subscribers.controllers()))
    }

    /// `subscriber` is the controller of primaries of that kind: if their definition changes while definitions are
    /// watched, those whose runs fail are triggered. This starts no watch.
    pub(crate) fn follow_primaries(&self, kind: &ResourceType, subscriber: &Subscriber) {
        self.0.subscribers.follow_primaries(&kind.full_name(), subscriber);
    }

    /// Whether a definition exists and is established. `subscriber` is triggered when that changes.
    pub(crate) async fn is_defined(
        &self,
        name: &str,
        subscriber: &Subscriber,
    ) -> Result<bool, DiscoveryError> {
        self.0.subscribers.add(name, subscriber);
        self.definitions_known(subscriber).await?;
        Ok(self
            .0
            .definitions
            .get(&ObjectKey::cluster_scoped(name))
            .is_some_and(|found| found.is_established()))
    }

    /// Whether objects of a kind are served. `subscriber` is triggered when a definition of its group appears, changes
    /// or is removed.
    pub(crate) async fn is_served(
        &self,
        kind: &ResourceType,
        subscriber: &Subscriber,
    ) -> Result<bool, DiscoveryError> {
        self.0.subscribers.add(kind.group(), subscriber);
        self.definitions_known(subscriber).await?;
        let of_group = self.0.definitions.by_index(BY_GROUP, kind.group());
        // A group is made of definitions, or of an API server's own kinds.
        if !of_group.is_empty() {
            return Ok(of_group.iter().any(|found| found.serves(kind)));
        }
        let (asked, answer) = self.question(kind);
        let changed = answer.changed.notified();
        if answer.last.lock().is_none() {
            tokio::select! {
                biased;
                () = changed => {}
                () = self.0.environment.clock().sleep_until(Some(asked + PATIENCE)) => {}
            }
        }
        let source = match &*answer.last.lock() {
            Some((_, Ok(served))) => return Ok(served.contains(kind.kind())),
            Some((_, Err(kube::Error::Api(status)))) => kube::Error::Api(status.clone()),
            Some((_, Err(error))) => kube::Error::Service(error_chain(error).into()),
            None => kube::Error::Service("there is no answer yet".into()),
        };
        Err(DiscoveryError::Kinds { group_version: kind.api_version(), source: Box::new(source) })
    }

    /// A kind as the cluster serves it, in this version or else in one that it has; `None` if it doesn't. `subscriber` is triggered
    /// when a definition of its group appears, changes or is removed. What the server has said about a kind without a
    /// definition is kept.
    pub(crate) async fn find(
        &self,
        (group, version, kind): (&str, Option<&str>, &str),
        subscriber: &Subscriber,
    ) -> Result<Option<ResourceType>, DiscoveryError> {
        // A group without a dot is Kubernetes' own.
        if group.contains('.') {
            self.0.subscribers.add(group, subscriber);
            // An operator without the right to list definitions may still ask which kinds there are.
            let are_known = self.definitions_known(subscriber).await.is_ok();
            let of_group = self.0.definitions.by_index(BY_GROUP, group);
            if are_known && !of_group.is_empty() {
                self.0.listed.lock().await.note_defined(group);
                return Ok(of_group.iter().find_map(|found| found.served(version, kind)));
            }
        }
        let (mut listed, now) = (self.0.listed.lock().await, self.0.environment.now());
        if listed.get(group, version, kind).is_none() && listed.is_due(group, now) {
            self.list(&mut listed, group, now).await?;
        }
        Ok(listed.get(group, version, kind).cloned())
    }

    /// The kinds of this version whose objects can be listed.
    pub(crate) async fn kinds_of(
        &self,
        group: &str,
        version: &str,
    ) -> Result<Vec<ResourceType>, DiscoveryError> {
        let (mut listed, now) = (self.0.listed.lock().await, self.0.environment.now());
        if listed.of_version(group, version).is_empty() && listed.is_due(group, now) {
            self.list(&mut listed, group, now).await?;
        }
        Ok(listed.of_version(group, version))
    }

    async fn list(&self, listed: &mut ListedKinds, group: &str, now: Now) -> Result<(), DiscoveryError> {
        let asked = listed.ask(&self.0.clients.direct, group, now).await;
        let group_version = group.to_owned();
        asked.map_err(|error| DiscoveryError::Kinds { group_version, source: Box::new(error) })
    }

    /// A kind that was found can't be listed: what the server has said about its group isn't kept any longer.
    pub(crate) async fn doubt(&self, group: &str) {
        self.0.listed.lock().await.forget(group);
    }

    /// When the current question for a kind's group was asked, and its answer. A valid answer isn't requested again.
    fn question(&self, kind: &ResourceType) -> (Now, Arc<Answer>) {
        let DiscoveryState { clients, environment, subscribers, .. } = &*self.0;
        let now = environment.now();
        let is_old = |question: &Question| matches!(&*question.answer.last.lock(), Some((asked, Ok(_))) if now - *asked >= FRESH);
        let mut questions = self.0.questions.lock();
        let known = questions.get(&kind.api_version());
        if let Some(Question { asked, answer, .. }) = known.filter(|question| !is_old(question)) {
            return (*asked, Arc::clone(answer));
        }
        let before =
            known.and_then(|question| question.answer.last.lock().as_ref()?.1.as_ref().ok().cloned());
        let answer = Arc::<Answer>::default();
        let (client, subscribers) = (clients.direct.clone(), Arc::clone(subscribers));
        let asking = ask_until_answered(
            client,
            environment.clone(),
            subscribers,
            kind.clone(),
            (Arc::clone(&answer), before),
        );
        let question =
            Question { asked: now, answer: Arc::clone(&answer), task: environment.spawn(DISCOVERY, asking) };
        questions.insert(kind.api_version(), question);
        (now, answer)
    }

    /// Waits until all definitions are known, or their list fails: no run should wait for a right that was never granted.
    async fn definitions_known(&self, subscriber: &Subscriber) -> Result<(), DiscoveryError> {
        let DiscoveryState { informer, subscribers, .. } = &*self.0;
        self.watch();
        let known = async {
            loop {
                let changed = subscribers.health_changed();
                match informer.health() {
                    // While the watch fails, what was known before holds.
                    SourceHealth::Healthy | SourceHealth::Unhealthy { .. } if informer.is_synced() => {
                        return Ok(());
                    }
                    SourceHealth::Unhealthy { reason, .. } => return Err(reason),
                    // The health is reported a moment before the end of the first list.
                    SourceHealth::Healthy => informer.synced().await,
                    SourceHealth::Syncing => changed.await,
                }
            }
        };
        let known = tokio::time::timeout(PATIENCE, known).await;
        known.unwrap_or_else(|_| Err("they are not listed yet".to_owned())).map_err(|reason| {
            subscribers.refused(subscriber);
            DiscoveryError::Watch(reason)
        })
    }

    /// The number of its tasks that run.
    pub(crate) fn tasks(&self) -> usize {
        let runs = |task: &JoinHandle<()>| !task.is_finished();
        let watches = self.0.watch.lock().as_ref().is_some_and(runs);
        let questions = self.0.questions.lock();
        usize::from(watches) + questions.values().filter(|question| runs(&question.task)).count()
    }

    /// Ends its tasks.
    pub(crate) fn end(&self) {
        self.0.end();
    }

    /// Starts the watch if it isn't running.
    fn watch(&self) {
        let mut watch = self.0.watch.lock();
        if watch.as_ref().is_none_or(JoinHandle::is_finished) {
            *watch = Some(self.0.environment.spawn(DISCOVERY, EventSource::run(&self.0.informer)));
        }
    }
}

async fn ask_until_answered(
    client: Client,
    environment: Environment,
    subscribers: Arc<Subscribers>,
    kind: ResourceType,
    (answer, before): (Arc<Answer>, Option<BTreeSet<String>>),
) {
    let (first, [mut pause, longest]) = (environment.now(), PAUSES);
    loop {
        let asked = environment.now();
        let kinds = ask(&client, &kind).await;
        let is_answered = kinds.is_ok();
        // While the server can't say, what it said before holds.
        let kinds = kinds.or_else(|error| before.clone().ok_or(error));
        let has_failed = answer.last.lock().replace((asked, kinds)).is_some();
        answer.changed.notify_waiters();
        if is_answered {
            if has_failed || environment.now() - first >= PATIENCE {
                subscribers.wake(kind.group());
            }
            return;
        }
        let until = environment.now() + environment.jitter().spread(pause, 0.2);
        environment.clock().sleep_until(Some(until)).await;
        pause = (pause * 2).min(longest);
    }
}

/// The kinds of a group and version, as the server reports them.
async fn ask(client: &Client, kind: &ResourceType) -> Kinds {
    let request = http::Request::get(kind.version_path()).body(Vec::new());
    let request = request.expect("groups and versions are parts of a path");
    match client.request::<APIResourceList>(request).await {
        Ok(list) => Ok(list.resources.into_iter().map(|resource| resource.kind).collect()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

impl DiscoveryState {
    fn end(&self) {
        if let Some(watch) = self.watch.lock().take() {
            watch.abort();
        }
        self.questions.lock().values().for_each(|question| question.task.abort());
    }
}

impl Drop for DiscoveryState {
    fn drop(&mut self) {
        self.end();
    }
}

debug_of!(Discovery: "Discovery", |it| definitions: it.0.definitions);
