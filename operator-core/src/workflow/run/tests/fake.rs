//! Dependents that exist in tests only, with what they can do.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use tokio::time::sleep;

use super::{Log, ROUND_TRIP};
use crate::{
    dependent::{AnyDependent, Asked, Capabilities, Declaration, Deleted, Deletion, DependentSource, Engine},
    reconciler::BoxError,
    results::{Operation, ReconcileResult, Secondary},
    workflow::{
        NodeKey, Predecessor, RecordNode,
        declare::{NodeRef, OneOf},
    },
};

/// A node of a [`Fake`].
pub(super) type Node = RecordNode<ConfigMap, OneOf<String>>;

/// Names the node of a [`Fake`].
pub(super) struct Called(pub(super) &'static str);

impl Predecessor<ConfigMap, Called> for Called {
    fn key(self) -> NodeKey {
        NodeKey::of::<Fake>().called(Some(Arc::from(self.0)))
    }
}

impl NodeRef<ConfigMap, Called> for Called {
    type Seen = ();

    fn seen(_: &[Secondary]) {}
}

/// What a dependent that is outside the cluster and never deletes may do.
pub(super) const CREATES: Capabilities =
    Capabilities { creates: true, updates: false, deletes: false, garbage_collected: false };

/// Has one resource outside the cluster, which it creates and deletes as the test says.
#[derive(Clone, Debug, Default)]
pub(super) struct Fake {
    pub(super) name: String,
    pub(super) log: Log,
    pub(super) exists: Arc<Mutex<bool>>,
    pub(super) under_way: Arc<AtomicUsize>,
    pub(super) fails: bool,
    pub(super) panics: bool,
    pub(super) takes_its_time: bool,
    pub(super) sources: Vec<DependentSource>,
}

/// Counts as under way until it is dropped.
pub(super) struct UnderWay(pub(super) Arc<AtomicUsize>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Fake {
    pub(super) fn named(name: &str, log: &Log) -> Self {
        Self { name: name.to_owned(), log: log.clone(), ..Self::default() }
    }

    pub(super) fn existing(self) -> Self {
        *self.exists.lock() = true;
        self
    }

    async fn call(&self, what: &str) -> Result<(), BoxError> {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        let _under_way = UnderWay(Arc::clone(&self.under_way));
        sleep(ROUND_TRIP).await;
        assert!(!self.panics, "a bug");
        if self.fails {
            return Err("the server is in a bad mood".into());
        }
        self.log.say(format!("{what} {}", self.name));
        Ok(())
    }

    /// A node that creates and deletes.
    pub(super) fn node(self) -> Node {
        self.able(Capabilities { deletes: true, ..CREATES })
    }

    /// A node that never deletes.
    pub(super) fn kept(self) -> Node {
        self.able(CREATES)
    }

    fn able(self, capabilities: Capabilities) -> Node {
        let (name, event_sources) = (self.name.clone(), self.sources.clone());
        let declaration = Declaration {
            capabilities,
            event_sources,
            outside: Some(std::any::TypeId::of::<()>()),
            ..Declaration::default()
        };
        RecordNode::of::<Self>(|name| AnyDependent::new(name, declaration, self)).named(name)
    }

    fn found(&self) -> Option<Secondary> {
        self.exists.lock().then(|| Secondary::external(Arc::new(self.name.clone()), Arc::default()))
    }
}

type Answer<'r, T> = BoxFuture<'r, Result<T, BoxError>>;

impl Engine for Fake {
    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            let operation = if self.found().is_some() {
                Operation::Matched
            } else {
                asked.context.permitted(self.call("create")).await?;
                *self.exists.lock() = true;
                Operation::Created
            };
            let done = self.found().map(|found| (operation, found)).into_iter().collect();
            Ok(ReconcileResult::of_items(done, Vec::new(), 1))
        }
        .boxed()
    }

    fn delete<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Deleted> {
        async move {
            if self.found().is_none() {
                return Ok(Deleted::NOTHING);
            }
            asked.context.permitted(self.call("delete")).await?;
            if self.takes_its_time {
                asked.context.remembered().lock().note_asked();
                return Ok(Deleted { found: 1, deletion: Deletion::Asked, kept: None });
            }
            *self.exists.lock() = false;
            Ok(Deleted { found: 1, deletion: Deletion::Gone, kept: None })
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, _: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async { Ok(self.found().into_iter().collect()) }.boxed()
    }
}
