//! The origins of runs: each origin of changes is an [`EventSource`].
//!
//! ```text
//! cache::Informer ──Change──▶ filters ──▶ relation ──ObjectKey of a primary + Cause──▶ EventSink
//!                                │           (mapper, index)                             ▲
//!                                └ the relation is kept up to date in any case           │
//! another system, polled or pushing ──▶ external: PollingEventSource and its like, with a cache
//! a timer, a queue ──▶ FunctionEventSource, or an EventSource of the user's own
//! ```
//!
//! All sources of all controllers start at the same time, each with its own task, so a source that can't do its work
//! doesn't hold up the others. The first run of a primary waits until its own namespace is synced in each source of its
//! controller that follows the same namespaces separately, and all other sources are synced as a whole.
//!
//! # Guarantees
//! - A source of secondaries triggers the primaries that a secondary belongs to now and those it belonged to before.
//! - Filters decide which changes trigger a primary, and never affect the cache and the index.
//! - A source has seen all objects before it reports that it is synced, and its index is complete then.
//!
//! # Assumptions
//! - Filters and mappers are functions of their arguments. One that panics counts as "accepts" or "maps to nothing",
//!   with an error in the log: an extra event is safer than a watch that stops.

mod conditional;
mod contents;
mod discovery;
mod error;
mod events;
pub(crate) mod external;
mod filter;
pub(crate) mod function;
mod given;
pub(crate) mod informer;
mod informer_configuration;
mod mapper;
mod opening;
mod parts;
mod primaries;
mod primary;
mod references;
mod relation;
pub(crate) mod remote;
mod scope;
mod secondary;
mod sharing;
mod sources;
pub mod updates;
#[cfg(test)]
pub(crate) mod wiring_for_tests;

use std::{fmt, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use crate::{
    cache::{self, Informer},
    client::Clients,
    environment::Environment,
    observe::{Cause, Observers, SourceHealth, SourceIndex},
    resource::{Access, ControllerMarks, Departed, ObjectKey, ResourceType},
};

pub(crate) use cache::WatchScope;
pub use conditional::EventSources;
pub(crate) use conditional::{Claimant, ConditionalSources, Late, NamedKeys, Trouble};
pub(crate) use contents::NeededShard;
#[doc(hidden)]
pub use contents::Needs;
pub(crate) use contents::RustType;
pub use contents::SourceContents;
pub(crate) use discovery::{Discovery, Subscriber};
pub use error::Error;
pub use events::SourceEvents;
pub(crate) use events::run_and_tell;
pub(crate) use external::ExternalSource;
#[doc(hidden)]
pub use external::PerPrimaryEventSource;
pub use external::{ExternalResource, ExternalStore, InboundHandle, SimpleInboundHandle};
pub use filter::Filters;
pub(crate) use filter::{Filtered, OnObject, filter_methods};
pub(crate) use given::Given;
#[cfg(feature = "testing")]
pub(crate) use given::Resources;
pub(crate) use informer::{InformerEventSource, NamedEventSource, OWNER_INDEX};
#[doc(hidden)]
pub use informer_configuration::Contradiction;
pub(crate) use informer_configuration::{InformerConfiguration, informer_methods};
pub(crate) use mapper::SecondaryToPrimary;
pub(crate) use opening::Opening;
pub use parts::HeldBack;
pub(crate) use parts::{Divisions, Opens};
pub(crate) use primaries::NoPrimaries;
pub use primaries::{Primaries, PrimaryFollower};
pub(crate) use primary::{PrimaryFilters, PrimarySource};
pub(crate) use references::References;
pub(crate) use scope::{PrimaryScope, PrimaryScopes, ScopeSlot};
pub use secondary::SecondarySource;
pub(crate) use secondary::{AnySecondary, SecondaryWrite, Shows};
pub(crate) use sharing::{MarkedKinds, Sharing};
pub use sources::Sources;

/// A running origin of changes. JOSDK: `EventSource`.
///
/// Most custom sources are a [`FunctionEventSource`](crate::FunctionEventSource). If the first run has to wait for a
/// source, or the source reports its health, it implements this trait, and [`SourceDeclaration`] to be given to a
/// controller:
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use futures::{FutureExt, future::BoxFuture};
/// use operator_core::{
///     event_source::{EventSource, SourceDeclaration, SourceEvents, Sources, Wiring},
///     observe::SourceIndex,
/// };
///
/// /// Triggers every primary once in a period.
/// #[derive(Clone, Debug)]
/// struct Heartbeat(Duration);
///
/// impl SourceDeclaration for Heartbeat {
///     fn name(&self) -> String {
///         "heartbeat".to_owned()
///     }
///
///     // Called once for each start of the controller.
///     fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
///         let events = wiring.events(index, "heartbeat");
///         sources.add_source(Arc::new(RunningHeartbeat { period: self.0, events }));
///     }
/// }
///
/// struct RunningHeartbeat {
///     period: Duration,
///     events: SourceEvents,
/// }
///
/// impl EventSource for RunningHeartbeat {
///     fn name(&self) -> &str {
///         "heartbeat"
///     }
///
///     fn run(&self) -> BoxFuture<'static, ()> {
///         let (period, events) = (self.period, self.events.clone());
///         async move {
///             let mut beats = tokio::time::interval(period);
///             loop {
///                 beats.tick().await;
///                 events.wake_all();
///             }
///         }
///         .boxed()
///     }
/// }
///
/// # fn declared(reconciler: impl operator_core::Reconciler<Primary = k8s_openapi::api::core::v1::Pod>) {
/// # let _ =
/// operator_core::Controller::builder(reconciler).watches(Heartbeat(Duration::from_secs(60)));
/// # }
/// ```
pub trait EventSource: Send + Sync {
    /// The name, unique within the controller.
    fn name(&self) -> &str;

    /// Follows its origin until the future is dropped.
    fn run(&self) -> BoxFuture<'static, ()>;

    /// Resolves once everything that exists has been seen. The controller's first run waits for this, unless the source
    /// has parts, for which runs wait separately. By default there is nothing to wait for.
    fn synced(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Resolves once everything that exists in a namespace has been seen; the namespace is one that
    /// [`EventSource::parts`] returns. By default once everything has been seen everywhere.
    fn synced_in(&self, namespace: &str) -> BoxFuture<'static, ()> {
        let _ = namespace;
        self.synced()
    }

    /// Resolves once the first runs no longer wait for the source although it isn't synced, because the failure isn't
    /// in the controller's cluster: an informer of a [`RemoteCluster`](crate::RemoteCluster) can't reach its cluster.
    /// By default never.
    fn not_waited_for(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// The parts that the source sees independently of each other: one for each namespace that it follows separately,
    /// or one for everything. The set of parts changes only with the controller's namespaces. By default there is one,
    /// with the source's own health.
    ///
    /// Primaries don't wait for the parts of other namespaces, if the source follows the same namespaces as the
    /// controller.
    fn parts(&self) -> Vec<SourcePart> {
        let synced = self.synced().now_or_never().is_some();
        vec![SourcePart { namespace: None, synced, health: self.health() }]
    }

    /// The controller works in other namespaces from now on, and the source follows them, unless it has its own
    /// namespaces. By default it has, and this does nothing.
    fn change_namespaces(&self, scope: &WatchScope) {
        let _ = scope;
    }

    /// The source's current health. By default it is always healthy.
    fn health(&self) -> SourceHealth {
        SourceHealth::Healthy
    }

    /// The objects that exist and can't be decoded, each with the field that isn't as expected. By default none.
    fn undecodable(&self) -> Vec<(ObjectKey, String)> {
        Vec::new()
    }

    /// Whether everything that exists at this moment has been seen and passed on; queries the origin itself. By default
    /// true: `settled` doesn't wait for what the source doesn't deliver by itself.
    fn caught_up(&self) -> BoxFuture<'static, Result<bool, cache::Error>> {
        Box::pin(std::future::ready(Ok(true)))
    }

    /// The number of entries it keeps about objects that don't exist, including writes whose echo is awaited. 0 once
    /// everything has settled, otherwise a leak. By default 0.
    fn leftovers(&self) -> usize {
        0
    }

    /// The number of objects that it holds in memory, for the metric `objects_held`; by default it doesn't count them.
    fn held(&self) -> Option<usize> {
        None
    }
}

/// A part that a source sees independently of all others; see [`EventSource::parts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePart {
    /// The namespace; `None` for everything that the source follows.
    pub namespace: Option<String>,
    /// Whether everything that exists has been seen once.
    pub synced: bool,
    /// Its current health.
    pub health: SourceHealth,
}

/// An informer's handler turns changes into events; as a source the informer only has to run.
impl EventSource for Informer {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        let informer = self.clone();
        Box::pin(async move { informer.run(std::future::pending()).await })
    }

    fn synced(&self) -> BoxFuture<'static, ()> {
        let informer = self.clone();
        Box::pin(async move { informer.synced().await })
    }

    fn synced_in(&self, namespace: &str) -> BoxFuture<'static, ()> {
        let (informer, namespace) = (self.clone(), namespace.to_owned());
        Box::pin(async move { Self::synced_in(&informer, &namespace).await })
    }

    fn not_waited_for(&self) -> BoxFuture<'static, ()> {
        let informer = self.clone();
        Box::pin(async move { informer.failed_elsewhere().await })
    }

    fn parts(&self) -> Vec<SourcePart> {
        let part = |(namespace, synced, health)| SourcePart { namespace, synced, health };
        self.collections().map(part).collect()
    }

    fn change_namespaces(&self, scope: &WatchScope) {
        Self::change_namespaces(self, scope);
    }

    fn health(&self) -> SourceHealth {
        Self::health(self)
    }

    fn caught_up(&self) -> BoxFuture<'static, Result<bool, cache::Error>> {
        let informer = self.clone();
        Box::pin(async move { Self::caught_up(&informer).await })
    }

    fn undecodable(&self) -> Vec<(ObjectKey, String)> {
        Self::undecodable(self)
    }

    fn leftovers(&self) -> usize {
        Self::leftovers(self)
    }

    fn held(&self) -> Option<usize> {
        Some(Self::held(self))
    }
}

/// Receives what event sources deliver. Must not block.
pub(crate) trait EventSink: Send + Sync {
    /// A primary appeared or changed, and the change passed the filters.
    fn primary_changed(&self, change: PrimaryChange<'_>);

    /// A primary is gone. `last` is its last known state, if a run has to see that.
    fn primary_deleted(&self, key: &ObjectKey, uid: &str, last: Option<Departed>);

    /// Something that `primary` depends on has changed.
    fn related_changed(&self, primary: &ObjectKey, cause: Cause);

    /// The definition of the primaries has changed, which may end what their runs have failed for.
    fn redefined(&self, _: Cause) {}
}

/// A change of a primary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrimaryChange<'a> {
    /// The primary.
    pub key: &'a ObjectKey,
    /// Its incarnation.
    pub uid: &'a str,
    /// What happened to it.
    pub cause: Cause,
    /// Whether it is marked for deletion.
    pub deleting: bool,
}

/// The values with which a source is built.
#[derive(Clone)]
pub struct Wiring {
    /// The controller's name.
    pub controller: Arc<str>,
    /// The type of the controller's primary.
    pub primary_type: ResourceType,
    /// The namespaces that the controller works in.
    pub scope: WatchScope,
    /// The field managers whose entries the caches keep.
    pub(crate) own_managers: Vec<String>,
    /// The parts that sources of several controllers share.
    pub(crate) sharing: Sharing,
    /// The marks on objects that the controller's dependents have written.
    pub(crate) marks: Arc<ControllerMarks>,
    /// The operator's clients.
    pub clients: Clients,
    /// The operator's environment.
    pub environment: Environment,
    /// The operator's observers.
    pub(crate) observers: Observers,
    /// The controller's primaries.
    pub primaries: Arc<dyn Primaries>,
    /// The data that is kept about each of them.
    pub(crate) scopes: Arc<PrimaryScopes>,
    /// The keys that the primaries name.
    pub(crate) named: Arc<NamedKeys>,
    /// The target of events.
    pub(crate) sink: Arc<dyn EventSink>,
    /// The existing objects, if there is no cluster.
    pub(crate) given: Option<Arc<dyn Given>>,
}

impl Wiring {
    /// The events with which a custom source triggers primaries; `index` is the one that it was built with.
    #[must_use]
    pub fn events(&self, index: SourceIndex, name: &str) -> SourceEvents {
        SourceEvents {
            name: Arc::from(name),
            index,
            controller: Arc::clone(&self.controller),
            primaries: Arc::clone(&self.primaries),
            environment: self.environment.clone(),
            observers: self.observers.clone(),
            sink: Arc::clone(&self.sink),
        }
    }
}

debug_of!(Wiring: "Wiring", |it| controller: it.controller);

/// A declared event source, before the controller runs. Implemented by [`InformerEventSource`] and
/// [`FunctionEventSource`](crate::FunctionEventSource); [`EventSource`] shows a custom one.
pub trait SourceDeclaration: fmt::Debug + Send + Sync {
    /// The name of the source that will be built.
    fn name(&self) -> String;

    /// The permissions in the cluster that the source will need. By default none.
    fn access(&self) -> Vec<Access> {
        Vec::new()
    }

    /// The contents that runs can read. A declared read of anything else is reported as a mistake before anything
    /// starts. By default this is unknown.
    fn contents(&self) -> SourceContents {
        SourceContents::Unknown
    }

    /// The needs that are checked when the operator starts.
    #[doc(hidden)]
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Everything that distinguishes it from another source of its name, besides its contents.
    #[doc(hidden)]
    fn identity(&self) -> String {
        String::new()
    }

    /// The mistakes in the declaration.
    #[doc(hidden)]
    fn contradictions(&self) -> Vec<Contradiction> {
        Vec::new()
    }

    /// Builds the source and adds it to `sources`; called once for each start of the controller.
    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources);
}
