//! The event source of a node's records: it shows other nodes what runs have seen of the records, and triggers the
//! primaries whose records have changed according to the other system.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;

use super::memory::Memory;
use crate::{
    event_source::{
        Error, EventSource, ExternalStore, PrimaryScopes, SourceContents, SourceDeclaration, SourceEvents,
        Sources, Wiring,
    },
    observe::SourceIndex,
    resource::ObjectKey,
};

/// Reports that records have changed, where the other system announces it: a webhook, a queue. Cheap to clone; given to
/// the records of one node by [`pushed_by`](super::Records::pushed_by).
#[derive(Clone, Default)]
pub struct Pushes(Arc<Mutex<Option<Pushed>>>);

type Stale = dyn Fn(&str) -> Option<ObjectKey> + Send + Sync;

/// The function that has to be called.
struct Pushed {
    /// Notes that a record has to be looked at again, and returns its primary.
    stale: Arc<Stale>,
    events: SourceEvents,
}

impl Pushes {
    /// A handle that isn't connected yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The record with this id has changed: its primary is reconciled, and its run reads the record. An id that no
    /// primary has is ignored, and so is any id while the operator isn't running: after a start each record is read.
    /// Never blocks.
    pub fn changed(&self, id: &str) {
        let to = self.0.lock().as_ref().map(|to| (Arc::clone(&to.stale), to.events.clone()));
        if let Some((stale, events)) = to
            && let Some(primary) = stale(id)
        {
            events.wake(&primary);
        }
    }
}

debug_of!(Pushes: "Pushes");

/// The source, as the node declares it.
pub(super) struct RecordSource<R> {
    pub(super) name: Arc<str>,
    pub(super) memory: Arc<Memory<R>>,
    pub(super) pushes: Option<Pushes>,
}

impl<R: Send + Sync + 'static> SourceDeclaration for RecordSource<R> {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn contents(&self) -> SourceContents {
        SourceContents::resources::<R>()
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        self.memory.begin(&wiring.scopes);
        if let Some(pushes) = &self.pushes {
            let memory = Arc::downgrade(&self.memory);
            let stale = Arc::new(move |id: &str| memory.upgrade()?.stale(id));
            *pushes.0.lock() = Some(Pushed { stale, events: wiring.events(index, &self.name) });
        }
        let known = Arc::new(SeenRecords {
            name: Arc::clone(&self.name),
            memory: Arc::clone(&self.memory),
            scopes: Arc::clone(&wiring.scopes),
        });
        sources.add_external::<R>(Arc::new(Quiet(Arc::clone(&self.name))), known);
    }
}

debug_of!(RecordSource<R> [R]: "Records", |it| name: it.name);

/// The states of the records that runs have seen, for other nodes of the same primary.
struct SeenRecords<R> {
    name: Arc<str>,
    memory: Arc<Memory<R>>,
    scopes: Arc<PrimaryScopes>,
}

impl<R: Send + Sync + 'static> ExternalStore<R> for SeenRecords<R> {
    fn name(&self) -> &str {
        &self.name
    }

    fn get(&self, primary: &ObjectKey) -> Vec<Arc<R>> {
        self.memory.seen(self.scopes.of(primary)).into_values().collect()
    }

    fn fetch_now<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        async move { Ok(self.get(primary)) }.boxed()
    }

    /// The node reads by itself.
    fn refetch<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        self.fetch_now(primary)
    }

    fn created(&self, _: &ObjectKey, _: Arc<R>) {}
    fn updated(&self, _: &ObjectKey, _: &R, _: Arc<R>) {}
    fn deleted(&self, _: &ObjectKey, _: &R) {}
}

/// A source that has nothing to do by itself.
struct Quiet(Arc<str>);

impl EventSource for Quiet {
    fn name(&self) -> &str {
        &self.0
    }

    fn run(&self) -> BoxFuture<'static, ()> {
        std::future::pending().boxed()
    }

    fn synced(&self) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }
}
