//! Another system reports that something has happened, and nothing else.

use std::sync::{Arc, Weak};

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::sync::SetOnce;

use crate::{
    event_source::{EventSource, SourceContents, SourceDeclaration, SourceEvents, Sources, Wiring},
    observe::SourceIndex,
    resource::ObjectKey,
};

/// Triggers primaries when user code calls its handle; nothing is cached. JOSDK: `SimpleInboundEventSource`.
///
/// ```
/// use operator_core::{ObjectKey, SimpleInboundEventSource};
///
/// let source = SimpleInboundEventSource::new("pushes");
/// // Where the other system calls, before, during and after the operator's run:
/// let handle = source.handle();
/// handle.wake(&ObjectKey::namespaced("shop", "web"));
/// ```
#[derive(Debug)]
#[must_use = "a source does nothing until it is given to a controller"]
pub struct SimpleInboundEventSource {
    name: Arc<str>,
    handle: SimpleInboundHandle,
}

/// Triggers primaries through a [`SimpleInboundEventSource`]. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SimpleInboundHandle(Arc<Mutex<Weak<SourceEvents>>>);

impl SimpleInboundEventSource {
    /// A source with that name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), handle: SimpleInboundHandle::default() }
    }

    /// The handle with which user code triggers primaries. All handles of a source are the same.
    #[must_use]
    pub fn handle(&self) -> SimpleInboundHandle {
        self.handle.clone()
    }
}

impl SimpleInboundHandle {
    /// Triggers a reconcile of a primary. Several calls before its next run cause one run; a primary that doesn't exist
    /// is ignored. Does nothing while the operator doesn't run: every primary runs after a start. Never blocks.
    pub fn wake(&self, primary: &ObjectKey) {
        let events = self.0.lock().upgrade();
        if let Some(events) = events {
            events.wake(primary);
        }
    }
}

impl SourceDeclaration for SimpleInboundEventSource {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn contents(&self) -> SourceContents {
        SourceContents::Nothing
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        sources.add_source(Arc::new(ConnectedSource {
            name: Arc::clone(&self.name),
            handle: self.handle.clone(),
            events: wiring.events(index, &self.name),
            connected: Arc::default(),
        }));
    }
}

/// A started source.
struct ConnectedSource {
    name: Arc<str>,
    handle: SimpleInboundHandle,
    events: SourceEvents,
    connected: Arc<SetOnce<()>>,
}

impl EventSource for ConnectedSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        let (handle, events) = (self.handle.clone(), self.events.clone());
        let connected = Arc::clone(&self.connected);
        async move {
            // Dropped when the source stops.
            let events = Arc::new(events);
            *handle.0.lock() = Arc::downgrade(&events);
            // A source runs once.
            let _ = connected.set(());
            std::future::pending().await
        }
        .boxed()
    }

    /// From the first run on no wake is lost.
    fn synced(&self) -> BoxFuture<'static, ()> {
        let connected = Arc::clone(&self.connected);
        async move {
            connected.wait().await;
        }
        .boxed()
    }
}
