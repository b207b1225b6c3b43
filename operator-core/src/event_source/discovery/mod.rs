//! Which kinds the cluster serves: one watch for all controllers of an operator, which starts with the first question.
//!
//! ```text
//! CustomResourceDefinitions ──watch──▶ names, versions ──▶ is it there? ──▶ conditions of workflows
//!        │ appears, or goes                                    ▲
//!        └──▶ wakes the primaries of those who asked           │
//! GET /apis/<group>/<version> ──kept for a minute──────────────┘ kinds that no definition stands for
//! ```
//!
//! # Guarantees
//! - Schemas are not kept: a definition costs as much as its names.
//! - Whoever has asked about a definition, or about a kind of its group, is woken when it appears, changes its versions,
//!   or goes.
//! - As long as the definitions aren't known there is no answer, instead of a wrong one.
//!
//! # Assumptions
//! - Kinds without a definition, those of aggregated APIs, come and go rarely: nobody is woken for them.

mod definition;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use super::{EventSink, EventSource, Primaries};
use crate::{
    cache::{Change, ChangeHandler, ChangeKind, Informer, InformerConfig},
    client::Clients,
    environment::{Environment, Now},
    observe::{Cause, SourceHealth},
    resource::{ObjectKey, ResourceType},
};

use definition::Definition;

/// How long a run waits for the first list of definitions.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long an answer of the server's discovery is good.
const FRESH: Duration = Duration::from_secs(60);

/// Why it can't be told what the cluster serves. It is worth another try.
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

/// Who is woken when an answer changes: all primaries of a controller.
#[derive(Clone)]
pub(crate) struct Subscriber {
    pub(crate) controller: Arc<str>,
    pub(crate) primaries: Arc<dyn Primaries>,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) cause: Cause,
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber").field("controller", &self.controller).finish_non_exhaustive()
    }
}

/// What one operator knows of the kinds that its cluster serves.
pub(crate) struct Discovery {
    clients: Clients,
    environment: Environment,
    definitions: Informer<Definition>,
    subscribers: Arc<Subscribers>,
    watch: Mutex<Option<JoinHandle<()>>>,
    kinds: Mutex<BTreeMap<String, Kinds>>,
}

/// An answer of the server's discovery.
struct Kinds {
    asked: Now,
    served: BTreeSet<String>,
}

/// Who has asked about what: names of definitions and of groups.
#[derive(Default)]
struct Subscribers(Mutex<BTreeMap<String, BTreeMap<Arc<str>, Subscriber>>>);

impl Discovery {
    /// Knows nothing yet, and asks for nothing.
    pub(crate) fn new(clients: Clients, environment: Environment) -> Self {
        let subscribers = Arc::new(Subscribers::default());
        let config = InformerConfig::new("CustomResourceDefinition", ResourceType::of::<Definition>());
        let handler = Arc::clone(&subscribers) as Arc<dyn ChangeHandler<Definition>>;
        let definitions = Informer::new(config, clients.direct.clone(), environment.clone(), handler);
        Self {
            clients,
            environment,
            definitions,
            subscribers,
            watch: Mutex::default(),
            kinds: Mutex::default(),
        }
    }

    /// Whether a definition is there and established. `subscriber` is woken when that changes.
    pub(crate) async fn is_defined(
        &self,
        name: &str,
        subscriber: &Subscriber,
    ) -> Result<bool, DiscoveryError> {
        self.subscribers.add(name, subscriber);
        self.definitions_known().await?;
        Ok(self.definitions.get(&ObjectKey::cluster_scoped(name)).is_some_and(|found| found.is_established()))
    }

    /// Whether objects of a kind are served. `subscriber` is woken when a definition of its group appears, changes or
    /// goes.
    pub(crate) async fn is_served(
        &self,
        kind: &ResourceType,
        subscriber: &Subscriber,
    ) -> Result<bool, DiscoveryError> {
        self.subscribers.add(kind.group(), subscriber);
        self.definitions_known().await?;
        let mut of_group =
            self.definitions.list().into_iter().filter(|found| found.group() == kind.group()).peekable();
        // A group is made of definitions, or of an API server's own kinds.
        if of_group.peek().is_some() {
            return Ok(of_group.any(|found| found.serves(kind)));
        }
        let (group_version, now) = (kind.api_version(), self.environment.now());
        let known = |kinds: &BTreeMap<String, Kinds>| {
            let kinds = kinds.get(&group_version).filter(|kinds| now - kinds.asked < FRESH)?;
            Some(kinds.served.contains(kind.kind()))
        };
        if let Some(served) = known(&self.kinds.lock()) {
            return Ok(served);
        }
        let served = self.ask(kind).await?;
        let answer = served.contains(kind.kind());
        self.kinds.lock().insert(group_version, Kinds { asked: now, served });
        Ok(answer)
    }

    /// The kinds of a group and version, as the server tells them.
    async fn ask(&self, kind: &ResourceType) -> Result<BTreeSet<String>, DiscoveryError> {
        let group_version = kind.api_version();
        let path = if kind.group().is_empty() { "api" } else { "apis" };
        let request = http::Request::get(format!("/{path}/{group_version}")).body(Vec::new());
        let request = request.expect("groups and versions are parts of a path");
        match self.clients.reads.request::<APIResourceList>(request).await {
            Ok(list) => Ok(list.resources.into_iter().map(|resource| resource.kind).collect()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(BTreeSet::new()),
            Err(source) => Err(DiscoveryError::Kinds { group_version, source: Box::new(source) }),
        }
    }

    /// Starts the watch if it doesn't run, and waits until all definitions are known.
    async fn definitions_known(&self) -> Result<(), DiscoveryError> {
        if self.definitions.is_synced() {
            return Ok(());
        }
        {
            let mut watch = self.watch.lock();
            if watch.is_none() {
                *watch = Some(self.environment.spawn(EventSource::run(&self.definitions)));
            }
        }
        let waited = tokio::time::timeout(PATIENCE, self.definitions.synced()).await;
        waited.map_err(|_| {
            DiscoveryError::Watch(match self.definitions.health() {
                SourceHealth::Unhealthy { reason, .. } => reason,
                SourceHealth::Syncing | SourceHealth::Healthy => "they are not listed yet".to_owned(),
            })
        })
    }
}

impl Drop for Discovery {
    fn drop(&mut self) {
        if let Some(watch) = self.watch.lock().take() {
            watch.abort();
        }
    }
}

impl fmt::Debug for Discovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discovery").field("definitions", &self.definitions).finish_non_exhaustive()
    }
}

impl Subscribers {
    fn add(&self, about: &str, subscriber: &Subscriber) {
        let mut subscribers = self.0.lock();
        if !subscribers.contains_key(about) {
            subscribers.insert(about.to_owned(), BTreeMap::new());
        }
        if let Some(subscribers) = subscribers.get_mut(about)
            && !subscribers.contains_key(&subscriber.controller)
        {
            subscribers.insert(Arc::clone(&subscriber.controller), subscriber.clone());
        }
    }
}

impl ChangeHandler<Definition> for Subscribers {
    fn on_change(&self, change: Change<Definition>) {
        let definition = match &change.kind {
            // What was there when the first question was asked is part of its answer.
            ChangeKind::Added { initial: true, .. } => return,
            ChangeKind::Updated { old, new } if old.offer() == new.offer() => return,
            change => change.object(),
        };
        let mut woken = BTreeMap::new();
        {
            let subscribers = self.0.lock();
            for about in [definition.name(), definition.group()] {
                let of = subscribers.get(about).into_iter().flatten();
                woken.extend(of.map(|(controller, subscriber)| (Arc::clone(controller), subscriber.clone())));
            }
        }
        for subscriber in woken.values() {
            for primary in subscriber.primaries.keys() {
                subscriber.sink.related_changed(&primary, subscriber.cause);
            }
        }
    }
}
