//! Resources that another system pushes.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use super::{
    ExternalResource, InboundHandle,
    per_primary::{Fetching, PerPrimary},
    running::Running,
};
use crate::{
    event_source::{
        Filters, SourceContents, SourceDeclaration, Sources, Wiring, error::BoxError, filter_methods,
    },
    observe::SourceIndex,
    resource::KubeObject,
};

/// Receives what another system pushes, for example by a webhook or a queue, and triggers the primary whose resources
/// have changed. JOSDK: `CachingInboundEventSource`.
///
/// User code pushes through the [`InboundHandle`], at any time. A run fetches what has not been pushed, with
/// [`fetch_now`](super::ExternalStore::fetch_now), once for each primary.
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
#[must_use = "a source does nothing until it is given to a controller"]
pub struct CachingInboundEventSource<P, R, I> {
    fetching: Fetching<P, R, I>,
    filters: Filters<R>,
    handle: InboundHandle<R, I>,
}

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
        let handle = InboundHandle::new(Arc::clone(&fetching.id));
        Self { fetching, filters: Filters::new(), handle }
    }

    /// The handle through which user code pushes. All handles of a source are the same.
    #[must_use]
    pub fn handle(&self) -> InboundHandle<R, I> {
        self.handle.clone()
    }

    /// How long a fetch may take before it counts as failed; a minute by default.
    pub fn fetch_timeout(mut self, timeout: Duration) -> Self {
        self.fetching.timeout = timeout;
        self
    }
}

impl<P, R, I> CachingInboundEventSource<P, R, I> {
    filter_methods!(filters: R, "resources", on_delete);
}

impl<P, R, I> fmt::Debug for CachingInboundEventSource<P, R, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachingInboundEventSource")
            .field("name", &self.fetching.name)
            .field("filters", &self.filters)
            .finish_non_exhaustive()
    }
}

impl<P, R, I> SourceDeclaration for CachingInboundEventSource<P, R, I>
where
    P: KubeObject,
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
{
    fn name(&self) -> String {
        self.fetching.name.to_string()
    }

    fn contents(&self) -> SourceContents {
        SourceContents::resources_for::<R, P>()
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        let events = wiring.events(index, &self.fetching.name);
        let resources = PerPrimary::build(&self.fetching, None, &self.filters, wiring, events);
        Running::add(resources, Some(self.handle.clone()), sources);
    }
}
