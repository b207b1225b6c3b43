//! One run of a controller without a cluster: what it writes, and why.
//!
//! ```text
//! primary, known objects ─▶ InProcessServer ─list─▶ informers, synced ─┐
//! other systems by hand ─▶ external sources ───────────────────────────┼─▶ Dispatcher: the run ─▶ Planned
//! retries, time, deletion ─▶ machine (the run's number, what is next) ─┘        │
//!                          InProcessServer ◀── transport: notes writes ◀────────┘
//! ```
//!
//! # Guarantees
//! - The run is that of an operator: the same dispatcher, workflow, `operations` and clients. Only the transport differs, and
//!   informers list once instead of watching.
//! - Nothing leaves the process: a server inside it, which nothing else uses, answers each request.
//! - The same run is planned each time: clock, uids and random numbers are given.
//!
//! # Assumptions
//! - The user's code calls no other system, or one that the test has made.
//! - No controller of Kubernetes works, and custom kinds have no schema: the test gives the effects of a write by hand.

mod lines;
mod objects;
mod planned;
mod run;
mod schedule;
#[cfg(test)]
mod tests;
mod transport;
mod world;

use std::{any::Any, fmt, future::IntoFuture, marker::PhantomData, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use test_cluster::Snapshot;
use tokio::runtime::{Builder, Handle};

pub use planned::Planned;

use crate::{
    controller::{Controller, ControllerBuilder, IntoController},
    environment::Now,
    event_source::Resources,
    reconciler::{Expected, Reconciler},
    resource::{KubeObject, ResourceType},
    results::NodeKey,
    workflow::declare::reference::NodeRef,
};

/// A run of a controller for one primary, without a cluster: a server inside the process, which nothing else uses,
/// answers the writes. [`Planned`] has the writes, the state of each node with its reason, and the time of the next run.
///
/// It is the run of an operator whose caches contain the primary and the objects that are
/// [`known`](Self::known), besides those that every cluster has, such as namespaces. A write with a wrong value is
/// refused, as by a real server. The run is awaited, or, in a plain `#[test]`, started with
/// [`blocking`](Self::blocking).
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Service};
/// use operator_core::prelude::*;
///
/// fn map(service: &Service) -> ConfigMap {
///     let port = service.spec.iter().flat_map(|spec| spec.ports.iter().flatten()).count();
///     ConfigMap { data: Some([("ports".to_owned(), port.to_string())].into()), ..ConfigMap::default() }
/// }
///
/// let service: Service = serde_json::from_str(r#"{ "metadata": { "name": "web" } }"#).expect("a service");
/// let run = Controller::of_existing::<Service>().workflow((map,)).dry_run(&service).blocking();
/// assert_eq!(run.writes(), ["apply ConfigMap/web-map"]);
/// assert_eq!(run.state(map).to_string(), "created");
/// ```
#[must_use = "a dry run does nothing until it is awaited, or called with `.blocking()`"]
pub struct DryRun<P: KubeObject> {
    controller: Arc<Controller>,
    primary: Value,
    /// The cluster as an earlier run left it.
    before: Option<Snapshot>,
    known: Vec<Value>,
    made: Vec<Made>,
    resources: Vec<Arc<dyn Any + Send + Sync>>,
    lacks: Vec<ResourceType>,
    now: Timestamp,
    attempt: u32,
    life: Life,
    expected: Option<Carried>,
    of: PhantomData<fn() -> P>,
}

/// An object that a node has made before.
type Made = (NodeKey, Value);

/// What the reconciler of an earlier run expects, the moment at which that run ended, and its time of day.
type Carried = (Expected, Now, Timestamp);

/// Where the primary is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Alive,
    /// Marked for deletion.
    Marked,
    Gone,
}

/// The default time of a run: 2026-01-01T00:00:00Z.
const NOW: i64 = 1_767_225_600;

impl<R: Reconciler> ControllerBuilder<R>
where
    R::Primary: KubeObject<DynamicType: Default>,
{
    /// A run for `primary` without a cluster, to see what it writes. See [`DryRun`].
    ///
    /// # Panics
    /// If the declaration has mistakes: with all of them.
    #[track_caller]
    pub fn dry_run(self, primary: &R::Primary) -> DryRun<R::Primary> {
        DryRun::of(self, primary)
    }
}

impl<P: KubeObject<DynamicType: Default>> DryRun<P> {
    /// A run of `controller`, whose primaries are of type `P`. For a controller that is declared already; with a builder
    /// it is `controller().dry_run(&page)`.
    ///
    /// A primary without a namespace is in the namespace `default`. Its uid, its version and everything else that only a
    /// server sets are made up, unless they are given.
    ///
    /// # Panics
    /// If the declaration has mistakes: with all of them. If the primary has no name, or is of another kind.
    #[track_caller]
    pub fn of(controller: impl IntoController, primary: &P) -> Self {
        let controller = controller.into_controller().unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let (kind, expected) = (ResourceType::of::<P>(), controller.resource_type());
        assert!(kind == *expected, "the controller's primaries are of kind {expected}, not {kind}");
        let mut primary = as_json(primary);
        primary["apiVersion"] = kind.api_version().into();
        primary["kind"] = kind.kind().into();
        Self::begin(Arc::new(controller), primary)
    }
}

impl<P: KubeObject> DryRun<P> {
    fn begin(controller: Arc<Controller>, primary: Value) -> Self {
        Self {
            controller,
            primary,
            before: None,
            known: Vec::new(),
            made: Vec::new(),
            resources: Vec::new(),
            lacks: Vec::new(),
            now: Timestamp::from_second(NOW).unwrap_or_default(),
            attempt: 0,
            life: Life::Alive,
            expected: None,
            of: PhantomData,
        }
    }

    /// An object that exists, of any kind that the controller follows, or a definition. It is stored as it is given, and
    /// may be of any type that serializes with `apiVersion` and `kind`.
    ///
    /// A missing namespace is the primary's. Missing fields that only a server sets are made up: uid, version,
    /// generation, time of creation; and managed fields, as if this controller had applied the object. Its owner is taken
    /// from its owner reference, for example; [`made`](Self::made) sets one. An object that was given before under the
    /// same name is replaced.
    ///
    /// # Panics
    /// If it can't be written as JSON. The run panics if the controller doesn't follow the kind.
    #[track_caller]
    pub fn known(mut self, object: &impl Serialize) -> Self {
        self.known.push(as_json(object));
        self
    }

    /// The same for an object that a node of the controller's workflow has made before: it gets the marks and the owner
    /// reference of the node. Without a name, it has the one that the node's function gives to its object. If the function
    /// wants nothing now, or needs what only the run brings, that is the default, `<primary>-<node>`.
    ///
    /// # Panics
    /// If it can't be written as JSON. The run panics if there is no such node, or if it makes several objects and the
    /// given one has no name.
    #[track_caller]
    pub fn made<M, N: NodeRef<P, M>>(mut self, node: N, object: &impl Serialize) -> Self {
        self.made.push((node.key(), as_json(object)));
        self
    }

    /// The resources of type `T` that another system has for the primary. Every event source of this type returns them,
    /// and fetches nothing; if none are given, it returns nothing.
    pub fn external<T: Send + Sync + 'static>(mut self, resources: impl IntoIterator<Item = T>) -> Self {
        let all: Vec<Arc<T>> = resources.into_iter().map(Arc::new).collect();
        self.resources.push(Arc::new(Resources::new(all)));
        self
    }

    /// The cluster doesn't serve the kind of `K`. It serves all other kinds that the controller follows.
    pub fn lacks<K: KubeObject<DynamicType: Default>>(mut self) -> Self {
        self.lacks.push(ResourceType::of::<K>());
        self
    }

    /// The time of day of the run; the same moment for all of it.
    pub fn now(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    /// The run is this retry, after as many failed runs; 1 is the first retry.
    ///
    /// The run panics if the controller's policy has fewer.
    pub fn retry(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// The primary was deleted, and the controller's finalizer keeps it, if the controller has one: the run cleans up.
    pub fn deleting(mut self) -> Self {
        self.life = Life::Marked;
        self
    }

    /// The primary is gone, and what was given is its last known state: the run of a controller that is
    /// [triggered on all events](ControllerBuilder::trigger_on_all_events), in which
    /// [`Context::primary_is_deleted`](crate::Context::primary_is_deleted) is true.
    ///
    /// The run panics if the controller has no such runs.
    pub fn deleted(mut self) -> Self {
        self.life = Life::Gone;
        self
    }

    /// The same as awaiting the run, for a plain `#[test]`: on a runtime of its own, in virtual time.
    ///
    /// # Panics
    /// Inside a runtime, where it has to be awaited.
    #[must_use]
    #[track_caller]
    pub fn blocking(self) -> Planned<P> {
        assert!(
            Handle::try_current().is_err(),
            "`.blocking()` can't be called inside a runtime; write `.await` there, or make the test a plain `#[test]`"
        );
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.expect("a runtime on this thread can always be made").block_on(self.into_future())
    }
}

impl<P: KubeObject> IntoFuture for DryRun<P> {
    type Output = Planned<P>;
    type IntoFuture = BoxFuture<'static, Planned<P>>;

    fn into_future(self) -> Self::IntoFuture {
        run::run(self).boxed()
    }
}

#[track_caller]
fn as_json(object: &impl Serialize) -> Value {
    serde_json::to_value(object).unwrap_or_else(|error| panic!("an object can't be written as JSON: {error}"))
}

impl<P: KubeObject> fmt::Debug for DryRun<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DryRun").field("controller", &self.controller).finish_non_exhaustive()
    }
}
