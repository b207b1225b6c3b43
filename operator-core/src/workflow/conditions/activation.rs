//! The capabilities of the cluster that a node needs.

use std::{
    fmt,
    future::Future,
    sync::{Arc, Weak},
};

use futures::{FutureExt, future::BoxFuture};
use kube::Client;
use parking_lot::Mutex;

use super::condition::Answer;
use crate::{
    event_source::{EventSink, Primaries, Subscriber},
    observe::Cause,
    reconciler::{AnyContext, BoxError, WorkflowSurroundings},
    resource::{Access, ResourceType},
    results::Verdict,
};

/// A question about the cluster, never about a primary: whether a node can take part. An inactive node doesn't exist,
/// so its objects aren't deleted; whether a node should exist for a primary is decided by what its function returns.
/// JOSDK's `activationCondition`.
///
/// [`served::<Route>()`](crate::served) is such a capability. One of your own keeps track of the controllers that have asked, and
/// triggers their primaries when its answer changes:
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
///
/// use operator_core::{
///     BoxError, Verdict,
///     workflow::{Activation, Askers, Cluster},
/// };
///
/// /// Met while the mesh is there, which is found out elsewhere.
/// #[derive(Clone, Default)]
/// struct Mesh(Arc<(AtomicBool, Askers)>);
///
/// impl Mesh {
///     fn is_there(&self, there: bool) {
///         let (is_there, askers) = &*self.0;
///         if is_there.swap(there, Ordering::SeqCst) != there {
///             askers.wake();
///         }
///     }
/// }
///
/// impl Activation for Mesh {
///     async fn check(&self, cluster: &Cluster<'_>) -> Result<Verdict, BoxError> {
///         let (is_there, askers) = &*self.0;
///         // Before the look, so that no change is missed.
///         askers.note(cluster);
///         Ok(Verdict::when(is_there.load(Ordering::SeqCst), "there is no mesh"))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a capability of the cluster",
    label = "not a capability of a cluster",
    note = "activation concerns the cluster, never the primary: use `served::<Route>()`, or implement `operator_core::workflow::Activation` for it",
    note = "whether a node should exist for a primary is decided by what its function returns, `Option<K>`"
)]
pub trait Activation: Send + Sync + 'static {
    /// Whether the cluster has the capability, and if not, why. Called once in each run of the workflow.
    ///
    /// # Errors
    /// If it can't be determined: then the node fails, and is retried with its primary.
    fn check(&self, cluster: &Cluster<'_>) -> impl Future<Output = Result<Verdict, BoxError>> + Send;

    /// The rights that the question needs.
    fn access(&self) -> Vec<Access> {
        Vec::new()
    }

    /// What it asks for, in the output of `graph`: by default its type.
    #[doc(hidden)]
    fn words(&self) -> String {
        crate::workflow::outline::short_name(std::any::type_name::<Self>())
    }
}

/// What an [`Activation`] can query.
pub struct Cluster<'c> {
    workflows: &'c WorkflowSurroundings,
    client: &'c Client,
}

impl<'c> Cluster<'c> {
    pub(in crate::workflow) fn of(context: &'c AnyContext) -> Self {
        let shared = context.shared();
        Self { workflows: &shared.workflows, client: &shared.writer.clients.direct }
    }
}

impl Cluster<'_> {
    /// Whether a CustomResourceDefinition of that name is installed and established. When that changes, the primaries
    /// of the controller are triggered.
    ///
    /// # Errors
    /// If definitions can't be watched.
    pub async fn is_defined(&self, definition: &str) -> Result<bool, BoxError> {
        let (discovery, subscriber) = self.workflows.discovery()?;
        Ok(discovery.is_defined(definition, subscriber).await?)
    }

    /// Whether objects of this kind are served. When a definition of its group appears, changes or is removed, the
    /// primaries of the controller are triggered.
    ///
    /// # Errors
    /// If definitions can't be watched, or the server doesn't answer.
    pub async fn serves(&self, kind: &ResourceType) -> Result<bool, BoxError> {
        let (discovery, subscriber) = self.workflows.discovery()?;
        Ok(discovery.is_served(kind, subscriber).await?)
    }

    /// A client for other questions; each request is sent once.
    #[must_use]
    pub fn client(&self) -> &Client {
        self.client
    }
}

debug_of!(Cluster<'_>: "Cluster");

/// The controllers that have asked a custom capability, so that it can trigger their primaries.
#[derive(Default)]
pub struct Askers(Mutex<Vec<Asker>>);

/// A [`Subscriber`], as long as its controller exists.
struct Asker {
    controller: Arc<str>,
    primaries: Weak<dyn Primaries>,
    sink: Weak<dyn EventSink>,
    cause: Cause,
}

impl Asker {
    fn subscriber(&self) -> Option<Subscriber> {
        Some(Subscriber {
            controller: Arc::clone(&self.controller),
            primaries: self.primaries.upgrade()?,
            sink: self.sink.upgrade()?,
            cause: self.cause,
        })
    }
}

impl Askers {
    /// Adds the controller that asks, if it isn't there yet.
    pub fn note(&self, cluster: &Cluster<'_>) {
        // Without a cluster, in unit tests, there is nobody to trigger.
        let Ok((_, subscriber)) = cluster.workflows.discovery() else { return };
        let primaries = Arc::downgrade(&subscriber.primaries);
        let mut askers = self.0.lock();
        if askers.iter().any(|asker| Weak::ptr_eq(&asker.primaries, &primaries)) {
            return;
        }
        askers.retain(|asker| asker.sink.strong_count() > 0);
        let (controller, sink) = (Arc::clone(&subscriber.controller), Arc::downgrade(&subscriber.sink));
        askers.push(Asker { controller, primaries, sink, cause: subscriber.cause });
    }

    /// Triggers all primaries of these controllers: the answer has changed.
    pub fn wake(&self) {
        let subscribers: Vec<_> = self.0.lock().iter().filter_map(Asker::subscriber).collect();
        subscribers.iter().for_each(Subscriber::wake);
    }
}

impl fmt::Debug for Askers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Askers").field(&self.0.lock().len()).finish()
    }
}

/// An [`Activation`] of any type.
pub(in crate::workflow) trait AnyActivation: Send + Sync {
    fn check<'r>(&'r self, cluster: &'r Cluster<'r>) -> BoxFuture<'r, Answer>;
}

impl<A: Activation> AnyActivation for A {
    fn check<'r>(&'r self, cluster: &'r Cluster<'r>) -> BoxFuture<'r, Answer> {
        // The call itself may panic, too, not only the future that it makes.
        async move { Activation::check(self, cluster).await }.boxed()
    }
}
