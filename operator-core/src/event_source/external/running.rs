//! A started source that knows the resources of each primary by itself, polled or pushed.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::{
    InboundHandle,
    inbound_handle::Inbox,
    per_primary::PerPrimary,
    store::{ExternalSource, ExternalStore},
};
use crate::{
    event_source::{EventSource, Sources},
    observe::SourceHealth,
    resource::KubeObject,
};

pub(super) struct Running<P, R, I> {
    resources: Arc<PerPrimary<P, R, I>>,
    /// Where user code pushes, if it does.
    handle: Option<InboundHandle<R, I>>,
}

impl<P, R, I> Running<P, R, I>
where
    P: KubeObject,
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
{
    /// Adds a source of these resources.
    pub(super) fn add(
        resources: Arc<PerPrimary<P, R, I>>,
        handle: Option<InboundHandle<R, I>>,
        sources: &mut Sources,
    ) {
        let source: Arc<dyn EventSource> = Arc::new(Self { resources: Arc::clone(&resources), handle });
        sources.add_external(source, resources as ExternalSource<R>);
    }
}

impl<P, R, I> EventSource for Running<P, R, I>
where
    P: KubeObject,
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        self.resources.name()
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        let (resources, handle) = (Arc::clone(&self.resources), self.handle.clone());
        async move {
            let inbox: Arc<dyn Inbox<R, I>> = Arc::clone(&resources) as _;
            let _connection = handle.map(|handle| handle.connect(&inbox));
            resources.follow().await
        }
        .boxed()
    }

    fn synced(&self) -> BoxFuture<'static, ()> {
        let resources = Arc::clone(&self.resources);
        async move { resources.ready().await }.boxed()
    }

    fn health(&self) -> SourceHealth {
        self.resources.health()
    }

    fn leftovers(&self) -> usize {
        self.resources.leftovers()
    }
}
