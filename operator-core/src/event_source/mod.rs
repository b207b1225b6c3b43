//! Where runs come from: each origin of changes is an [`EventSource`].
//!
//! ```text
//! cache::Informer ──Change──▶ filters ──▶ mapper ──ObjectKey of a primary + Cause──▶ EventSink
//!                                │
//!                                └ the primary↔secondary index is kept up to date in any case
//! ```
//!
//! # Guarantees
//! - A source of secondaries wakes the primaries that a secondary belongs to now and those it belonged to before.
//! - Filters decide what wakes a primary, never what the cache and the index know.
//! - A source has seen all objects before it says that it is synced, and its index is complete then.
//!
//! # Assumptions
//! - Filters and mappers are functions of their arguments. One that panics counts as "accepts" or "maps to nothing", with
//!   an error in the log: an event too many is safer than a watch that stands still.

mod filter;
mod informer;
mod mapper;
mod primary;
mod sources;

use std::fmt;

use futures::future::BoxFuture;

use crate::{
    cache::{self, Informer},
    client::Clients,
    environment::Environment,
    observe::{Cause, Observers, SourceHealth, SourceIndex},
    resource::{KubeObject, ObjectKey, ResourceType},
};

pub use cache::WatchScope;
pub use filter::Filters;
pub use informer::{InformerEventSource, SecondarySource};
pub use mapper::SecondaryToPrimary;
pub use primary::{PrimaryEventSource, PrimaryFilters, PrimarySource};
pub use sources::Sources;

/// A running origin of changes. Answers to JOSDK's `EventSource`.
pub trait EventSource: Send + Sync {
    /// The name, unique within the controller.
    fn name(&self) -> &str;

    /// Follows its origin until the future is dropped.
    fn run(&self) -> BoxFuture<'static, ()>;

    /// Resolves once everything that exists has been seen. The controller's first run waits for this.
    fn synced(&self) -> BoxFuture<'static, ()>;

    /// What the source says of itself now.
    fn health(&self) -> SourceHealth;

    /// Whether everything that exists at this moment has been seen and handed on; looks at the origin itself.
    fn caught_up(&self) -> BoxFuture<'static, Result<bool, cache::Error>>;
}

/// What an informer follows becomes events by its handler; as a source it only has to run.
impl<K: KubeObject> EventSource for Informer<K> {
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

    fn health(&self) -> SourceHealth {
        Self::health(self)
    }

    fn caught_up(&self) -> BoxFuture<'static, Result<bool, cache::Error>> {
        let informer = self.clone();
        Box::pin(async move { Self::caught_up(&informer).await })
    }
}

/// Rights on a type of object that a part of an operator needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// The type.
    pub resource_type: ResourceType,
    /// The subresource, where the right is for one.
    pub subresource: Option<&'static str>,
    /// The verbs of a role rule.
    pub verbs: Vec<&'static str>,
}

/// Takes what event sources deliver. Must not block.
pub trait EventSink: Send + Sync {
    /// A primary appeared or changed, and the change passed the filters.
    fn primary_changed(&self, change: PrimaryChange<'_>);

    /// A primary is gone.
    fn primary_deleted(&self, key: &ObjectKey, uid: &str);

    /// Something changed that `primary` depends on.
    fn related_changed(&self, primary: &ObjectKey, cause: Cause);
}

/// A change of a primary.
#[derive(Clone, Copy, Debug)]
pub struct PrimaryChange<'a> {
    /// Which primary.
    pub key: &'a ObjectKey,
    /// Which incarnation of it.
    pub uid: &'a str,
    /// What happened to it.
    pub cause: Cause,
    /// Whether it is marked for deletion.
    pub deleting: bool,
}

/// What a source is built with.
#[derive(Clone)]
pub struct Wiring {
    /// The controller's name.
    pub controller: std::sync::Arc<str>,
    /// The type of the controller's primary.
    pub primary_type: ResourceType,
    /// Which namespaces the controller works in.
    pub scope: WatchScope,
    /// The field managers whose entries the caches keep.
    pub own_managers: Vec<String>,
    /// The operator's clients.
    pub clients: Clients,
    /// The operator's surroundings.
    pub environment: Environment,
    /// The operator's observers.
    pub observers: Observers,
    /// Where events go.
    pub sink: std::sync::Arc<dyn EventSink>,
}

impl fmt::Debug for Wiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wiring").field("controller", &self.controller).finish_non_exhaustive()
    }
}

/// A declared source of secondaries, before the controller runs. Implemented by [`InformerEventSource`].
pub trait SourceDeclaration: fmt::Debug + Send + Sync {
    /// The name of the source that will be built.
    fn name(&self) -> String;

    /// The rights that the source will need.
    fn access(&self) -> Vec<Access>;

    /// Builds the source and adds it to `sources`; called once for each start of the controller.
    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources);
}
