//! A reconciler that a test writes as closures.

use std::{error::Error as StdError, fmt, sync::Arc};

use anyhow::Result;
use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{CustomResourceExt, ResourceExt};
use operator_core::{
    BoxError, Cleaner, Context, Controller, ControllerBuilder, Removal, Run, UpdateControl,
    resource::KubeObject,
};
use serde::Serialize;
use serde_json::Value;

use crate::{Answers, RunRecord, Said, TestObject, TestResource};

type Reconcile<K> =
    dyn for<'c> Fn(usize, Arc<K>, &'c mut Context<K>) -> BoxFuture<'c, Result<Said<K>>> + Send + Sync;
type Cleanup<K> =
    dyn for<'c> Fn(usize, Arc<K>, &'c mut Context<K>) -> BoxFuture<'c, Result<Removal>> + Send + Sync;
type OnError<K> = dyn Fn(&K, &Run<K>, &(dyn StdError + 'static)) -> serde_json::Result<Value> + Send + Sync;

/// A reconciler made of closures, which records its runs. Clones share the record.
pub struct Script<K: KubeObject = TestResource> {
    /// The calls of `reconcile`.
    pub runs: RunRecord,
    /// The calls of `cleanup`.
    pub cleanups: RunRecord,
    reconcile: Arc<Reconcile<K>>,
    cleanup: Arc<Cleanup<K>>,
    /// Whether its runs determine the status.
    says: bool,
    on_error: Option<Arc<OnError<K>>>,
}

impl<K: KubeObject> Script<K> {
    /// Calls `reconcile` with the number of the object's run, counted from one; it returns an [`UpdateControl`], or,
    /// together with a status, as [`Said`]. Agrees to each clean-up at once.
    pub fn new<A: Answers<K>>(
        reconcile: impl for<'c> Fn(usize, Arc<K>, &'c mut Context<K>) -> BoxFuture<'c, Result<A>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            runs: RunRecord::new(),
            cleanups: RunRecord::new(),
            // The call stands outside of the future: a closure may panic before it answers one.
            reconcile: Arc::new(move |run, primary, context| {
                let answer = reconcile(run, primary, context);
                async move { Ok(answer.await?.said()) }.boxed()
            }),
            cleanup: Arc::new(|_, _, _| Box::pin(async { Ok(Removal::Done) })),
            says: A::SAYS,
            on_error: None,
        }
    }

    /// Does nothing when it runs.
    #[must_use]
    pub fn idle() -> Self {
        Self::new(|_, _, _| Box::pin(async { Ok(UpdateControl::no_update()) }))
    }

    /// Fails in each run of `reconcile`.
    #[must_use]
    pub fn failing<E: Into<anyhow::Error>>(error: impl Fn() -> E + Send + Sync + 'static) -> Self {
        Self::new(move |_, _, _| {
            let error: anyhow::Error = error().into();
            Box::pin(async { Err::<UpdateControl<K>, _>(error) })
        })
    }

    /// Calls `cleanup` with the number of the object's clean-up, counted from one.
    #[must_use]
    pub fn cleanup(
        mut self,
        cleanup: impl for<'c> Fn(usize, Arc<K>, &'c mut Context<K>) -> BoxFuture<'c, Result<Removal>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.cleanup = Arc::new(cleanup);
        self
    }

    /// Asks `on_error` for the status of runs that failed, but not of clean-ups. `None` leaves it as it is.
    #[must_use]
    pub fn on_error<S: Serialize>(
        mut self,
        on_error: impl Fn(&K, &Run<K>, &(dyn StdError + 'static)) -> S + Send + Sync + 'static,
    ) -> Self {
        self.on_error =
            Some(Arc::new(move |primary, run, error| serde_json::to_value(on_error(primary, run, error))));
        self
    }

    /// A controller of it, whose status is the one that its runs determine.
    pub fn controller(&self) -> ControllerBuilder<Self>
    where
        K: KubeObject<DynamicType: Default>,
    {
        self.told_by(Controller::builder(self.clone()))
    }

    /// The same for an operator that brings the definition of its primaries.
    pub fn defined(&self) -> ControllerBuilder<Self>
    where
        K: KubeObject<DynamicType: Default> + CustomResourceExt,
    {
        self.told_by(Controller::of::<K>().reconciler(self.clone()))
    }

    fn told_by(&self, controller: ControllerBuilder<Self>) -> ControllerBuilder<Self> {
        // Each test says whether its script is called for clean-ups.
        let controller = controller.cleaner(false);
        if !self.says && self.on_error.is_none() {
            return controller;
        }
        let on_error = self.on_error.clone();
        controller.status(move |primary: &K, run: &Run<K>| match (run.error(), &on_error) {
            (Some(error), Some(on_error)) if !run.is_cleanup() => {
                on_error(primary, run, error.get_ref()).expect("a status can be serialized")
            }
            (Some(_), _) => Value::Null,
            (None, _) => Said::<K>::put_into(run),
        })
    }
}

impl<K: KubeObject> Clone for Script<K> {
    fn clone(&self) -> Self {
        Self {
            runs: self.runs.clone(),
            cleanups: self.cleanups.clone(),
            reconcile: Arc::clone(&self.reconcile),
            cleanup: Arc::clone(&self.cleanup),
            says: self.says,
            on_error: self.on_error.clone(),
        }
    }
}

impl<K: KubeObject> fmt::Debug for Script<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("runs", &self.runs).field("cleanups", &self.cleanups).finish()
    }
}

/// Boxed as the documentation recommends for an `anyhow::Error`, which hides nothing.
fn boxed(error: anyhow::Error) -> BoxError {
    error.reallocate_into_boxed_dyn_error_without_backtrace()
}

impl<K: KubeObject> Cleaner for Script<K> {
    type Primary = K;

    async fn reconcile(&self, primary: &K, context: &mut Context<K>) -> Result<UpdateControl<K>, BoxError> {
        let run = self.runs.begin(primary, context);
        let answer = (self.reconcile)(run.number(), Arc::new(primary.clone()), context).await;
        Ok(answer.map_err(boxed)?.put(context))
    }

    async fn cleanup(&self, primary: &K, context: &mut Context<K>) -> Result<Removal, BoxError> {
        let run = self.cleanups.begin(primary, context);
        (self.cleanup)(run.number(), Arc::new(primary.clone()), context).await.map_err(boxed)
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
