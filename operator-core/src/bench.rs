//! The parts of the engine that its benches and tests use directly. Not for other use: they change with the engine,
//! without notice.

use std::{future::Future, ops::Deref, sync::Arc, time::Duration};

use crate::{
    cache::{
        Bounds, Change, ChangeHandler, ChangeKind, Error, Informer, InformerPlan, ResourceCache, View,
        kind_of, opening,
    },
    client,
    environment::Environment,
    observe::SourceHealth,
    resource::{KubeObject, ObjectKey, ResourceVersion},
};

pub use crate::{
    cache::{config::InformerSettings, informer::Sizes},
    operations::matcher::{matches_owned_fields, merged, still_owned},
    processor::machine::{Effect, Input, Machine, MachineConfig, Outcome, Reschedule, Run, RunId},
    resource::uid::Uid,
    workflow::{
        declare::graph::Graph,
        plan::{Checked, Fate, Plan, Reconciled, Removed, Step, Swept},
    },
};

/// How long a request may take.
pub const REQUEST_DEADLINE: Duration = client::REQUEST_DEADLINE;

/// What an informer has seen.
#[derive(Debug)]
pub enum Seen<'a> {
    /// An object has appeared, changed or gone: its JSON before and after.
    Change(&'a ObjectKey, Option<&'a str>, Option<&'a str>),
    /// A watch fell silent, and another one replaces it.
    SilentWatch,
}

/// An informer without a controller.
#[derive(Clone, Debug)]
pub struct BareInformer<K: KubeObject> {
    informer: Informer,
    cache: ResourceCache<K>,
}

/// Returns the values under which an object is found in an index.
pub type IndexValues<K> = fn(&K) -> Vec<String>;

impl<K: KubeObject> BareInformer<K> {
    /// An informer that has not started yet; `seen` is called for every change.
    pub fn new(
        mut settings: InformerSettings,
        bounds: Option<&Bounds<K>>,
        index: Option<(&str, IndexValues<K>)>,
        (client, environment): (kube::Client, Environment),
        seen: impl Fn(Seen<'_>) + Send + Sync + 'static,
    ) -> Self {
        settings.is_asked = index.is_some();
        let view = Arc::new(View::new(&settings, kind_of::<K>(), &environment));
        let indexers = index.map(|(name, values)| (name.to_owned(), opening(Arc::new(values))));
        let indexers = view.opens(indexers.into_iter().collect());
        let bounds = bounds.and_then(|bounds| bounds.any(&settings.resource_type).ok());
        let plan = InformerPlan { settings, bounds, share: None, view, client, environment };
        let informer = Informer::new(plan, Arc::new(Handler(seen)), indexers);
        Self { cache: ResourceCache::of(informer.clone()), informer }
    }

    /// Follows the objects until `cancelled` resolves.
    pub async fn run(&self, cancelled: impl Future<Output = ()>) {
        self.informer.run(cancelled).await;
    }

    /// Resolves when all namespaces have been listed once.
    pub async fn synced(&self) {
        self.informer.synced().await;
    }

    /// Whether it has seen everything that the cluster holds at the moment of the call.
    ///
    /// # Errors
    /// The list was refused, or failed.
    pub async fn caught_up(&self) -> Result<bool, Error> {
        self.informer.caught_up().await
    }

    /// An object, read from the server if it isn't held in full.
    ///
    /// # Errors
    /// The server refused, or couldn't be reached.
    pub async fn fetch(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, Error> {
        Ok(self.informer.fetch(key).await?.and_then(|object| object.typed()))
    }

    /// Whether it can follow its objects.
    #[must_use]
    pub fn health(&self) -> SourceHealth {
        self.informer.health()
    }

    /// The version up to which each namespace has been seen.
    #[must_use]
    pub fn last_syncs(&self) -> Vec<(Option<String>, Option<ResourceVersion>)> {
        self.informer.last_syncs()
    }

    /// How much is held.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        self.informer.sizes()
    }
}

impl<K: KubeObject> Deref for BareInformer<K> {
    type Target = ResourceCache<K>;

    fn deref(&self) -> &ResourceCache<K> {
        &self.cache
    }
}

struct Handler<F>(F);

impl<F: Fn(Seen<'_>) + Send + Sync> ChangeHandler for Handler<F> {
    fn on_change(&self, Change { key, kind }: Change) {
        let (old, new) = match &kind {
            ChangeKind::Added { new, .. } => (None, Some(new.text())),
            ChangeKind::Updated { old, new } => (Some(old.text()), Some(new.text())),
            ChangeKind::Deleted { last, .. } => (Some(last.text()), None),
        };
        (self.0)(Seen::Change(&key, old, new));
    }

    fn on_silent_watch(&self) {
        (self.0)(Seen::SilentWatch);
    }
}
