//! Resources that another system pushes.

use std::{future::Future, sync::Arc};

use super::{
    ExternalResource, InboundHandle,
    per_primary::{Fetching, PerPrimaryEventSource},
};
use crate::{
    event_source::{Filters, error::BoxError},
    resource::KubeObject,
};

/// Receives the pushes of another system, for example by a webhook or a queue, and triggers the primary whose resources
/// have changed. JOSDK: `CachingInboundEventSource`.
///
/// User code pushes through the [`InboundHandle`], at any time. If nothing has been pushed for a primary, a run fetches
/// once, with [`fetch_now`](super::ExternalStore::fetch_now).
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::Pod;
/// use operator_core::{CachingInboundEventSource, ObjectKey, event_source::ExternalResource};
///
/// #[derive(PartialEq)]
/// struct Ticket {
///     number: u32,
///     open: bool,
/// }
///
/// impl ExternalResource for Ticket {
///     type Id = u32;
///
///     fn id(&self) -> u32 {
///         self.number
///     }
/// }
/// # async fn tickets_of(pod: Arc<Pod>) -> std::io::Result<Vec<Ticket>> { Ok(Vec::new()) }
///
/// let tickets = CachingInboundEventSource::new("tickets", |pod: Arc<Pod>| tickets_of(pod));
/// // Where the other system calls:
/// let handle = tickets.handle();
/// let pod = ObjectKey::namespaced("shop", "web");
/// handle.put(&pod, vec![Ticket { number: 17, open: true }]);
/// handle.delete(&pod, &17);
/// ```
pub type CachingInboundEventSource<P, R, I> = PerPrimaryEventSource<P, R, I, InboundHandle<R, I>>;

impl<P: KubeObject, R: ExternalResource> CachingInboundEventSource<P, R, R::Id> {
    /// A source with that name. `fetch` returns the resources of one primary.
    pub fn new<F, E>(name: impl Into<Arc<str>>, fetch: impl Fn(Arc<P>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Vec<R>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        Self::with_id(name, R::id, fetch)
    }
}

impl<P, R, I> CachingInboundEventSource<P, R, I>
where
    P: KubeObject,
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
{
    /// The same for a type that doesn't know its id: `id` distinguishes the resources of one primary.
    pub fn with_id<F, E>(
        name: impl Into<Arc<str>>,
        id: impl Fn(&R) -> I + Send + Sync + 'static,
        fetch: impl Fn(Arc<P>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<R>, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        let fetching = Fetching::new(name, id, fetch);
        let arrival = InboundHandle::new(Arc::clone(&fetching.id));
        Self { fetching, arrival, filters: Filters::new() }
    }

    /// The handle through which user code pushes. All handles of a source are the same.
    #[must_use]
    pub fn handle(&self) -> InboundHandle<R, I> {
        self.arrival.clone()
    }
}
