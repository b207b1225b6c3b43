//! A reconciler that a test writes as closures, and a gate at which its runs wait for the test.

use std::{error::Error as StdError, fmt, sync::Arc};

use anyhow::{Context as _, Result};
use futures::future::BoxFuture;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::ResourceExt;
use operator_core::{
    Cleaner, Context, DeleteControl, ErrorStatusUpdateControl, Reconciler, UpdateControl,
    resource::KubeObject,
};
use tokio::sync::Semaphore;

use crate::{DEADLINE, RunRecord, TestObject, TestResource};

type Reconcile<K> =
    dyn for<'c> Fn(usize, Arc<K>, &'c Context<K>) -> BoxFuture<'c, Result<UpdateControl<K>>> + Send + Sync;
type Cleanup<K> =
    dyn for<'c> Fn(usize, Arc<K>, &'c Context<K>) -> BoxFuture<'c, Result<DeleteControl>> + Send + Sync;
type OnError<K> =
    dyn Fn(Arc<K>, &Context<K>, &(dyn StdError + 'static)) -> ErrorStatusUpdateControl<K> + Send + Sync;

/// A reconciler made of closures, which records its runs. Clones share the record.
pub struct Script<K: KubeObject = TestResource> {
    /// The calls of `reconcile`.
    pub runs: RunRecord,
    /// The calls of `cleanup`.
    pub cleanups: RunRecord,
    reconcile: Arc<Reconcile<K>>,
    cleanup: Arc<Cleanup<K>>,
    on_error: Arc<OnError<K>>,
}

impl<K: KubeObject> Script<K> {
    /// Calls `reconcile` with the number of the object's run, counted from one. Agrees to each clean-up at once, and
    /// leaves errors to the framework.
    pub fn new(
        reconcile: impl for<'c> Fn(usize, Arc<K>, &'c Context<K>) -> BoxFuture<'c, Result<UpdateControl<K>>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            runs: RunRecord::new(),
            cleanups: RunRecord::new(),
            reconcile: Arc::new(reconcile),
            cleanup: Arc::new(|_, _, _| Box::pin(async { Ok(DeleteControl::default_delete()) })),
            on_error: Arc::new(|_, _, _| ErrorStatusUpdateControl::default_processing()),
        }
    }

    /// Does nothing when it runs.
    #[must_use]
    pub fn idle() -> Self {
        Self::new(|_, _, _| Box::pin(async { Ok(UpdateControl::no_update()) }))
    }

    /// Calls `cleanup` with the number of the object's clean-up, counted from one.
    #[must_use]
    pub fn cleanup(
        mut self,
        cleanup: impl for<'c> Fn(usize, Arc<K>, &'c Context<K>) -> BoxFuture<'c, Result<DeleteControl>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.cleanup = Arc::new(cleanup);
        self
    }

    /// Asks `on_error` for the error status.
    #[must_use]
    pub fn on_error(
        mut self,
        on_error: impl Fn(Arc<K>, &Context<K>, &(dyn StdError + 'static)) -> ErrorStatusUpdateControl<K>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.on_error = Arc::new(on_error);
        self
    }
}

impl<K: KubeObject> Clone for Script<K> {
    fn clone(&self) -> Self {
        Self {
            runs: self.runs.clone(),
            cleanups: self.cleanups.clone(),
            reconcile: Arc::clone(&self.reconcile),
            cleanup: Arc::clone(&self.cleanup),
            on_error: Arc::clone(&self.on_error),
        }
    }
}

impl<K: KubeObject> fmt::Debug for Script<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("runs", &self.runs).field("cleanups", &self.cleanups).finish()
    }
}

impl<K: KubeObject> Reconciler for Script<K> {
    type Primary = K;
    type Error = anyhow::Error;

    async fn reconcile(&self, primary: Arc<K>, context: &Context<K>) -> Result<UpdateControl<K>> {
        let run = self.runs.begin(&*primary, context);
        (self.reconcile)(run.number(), primary, context).await
    }

    async fn update_error_status(
        &self,
        primary: Arc<K>,
        context: &Context<K>,
        error: &(dyn StdError + Send + Sync + 'static),
    ) -> ErrorStatusUpdateControl<K> {
        (self.on_error)(primary, context, error)
    }
}

impl<K: KubeObject> Cleaner for Script<K> {
    async fn cleanup(&self, primary: Arc<K>, context: &Context<K>) -> Result<DeleteControl> {
        let run = self.cleanups.begin(&*primary, context);
        (self.cleanup)(run.number(), primary, context).await
    }
}

/// A config map for `primary`: of the same name, in the same namespace, owned by it, with `value` in its data.
pub fn config_map<K: TestObject>(primary: &K, context: &Context<K>, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(primary.name_any()),
            namespace: primary.namespace(),
            owner_references: context.owner_reference(primary).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some([("value".to_owned(), value.to_owned())].into()),
        ..ConfigMap::default()
    }
}

/// The value in the data of a [`config_map`].
#[must_use]
pub fn value_of(map: &ConfigMap) -> Option<&str> {
    map.data.as_ref()?.get("value").map(String::as_str)
}

/// A place where runs wait until the test lets them go on. Clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Halves>);

#[derive(Debug)]
struct Halves {
    arrived: Semaphore,
    open: Semaphore,
}

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Halves { arrived: Semaphore::new(0), open: Semaphore::new(0) }))
    }
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For the run: says that it is here, and waits to be let through.
    pub async fn pass(&self) {
        self.0.arrived.add_permits(1);
        if let Ok(permit) = self.0.open.acquire().await {
            permit.forget();
        }
    }

    /// For the test: waits until a further run has arrived.
    ///
    /// # Errors
    /// When none arrives within [`DEADLINE`].
    pub async fn arrived(&self) -> Result<()> {
        let arrival = tokio::time::timeout(DEADLINE, self.0.arrived.acquire()).await;
        arrival.context("waited in vain for a run at the gate")??.forget();
        Ok(())
    }

    /// For the test: lets so many runs through, those that are here and those to come.
    pub fn let_through(&self, runs: usize) {
        self.0.open.add_permits(runs);
    }
}
