//! A node with nothing to do, for measuring what a workflow costs by itself.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use crate::{
    dependent::{AnyDependent, Asked, Declaration, Deleted, Engine},
    reconciler::BoxError,
    resource::KubeObject,
    results::{Operation, ReconcileResult, Secondary},
    workflow::{RecordNode, declare::OneOf},
};

/// A node of that name whose resource is there, and as it should be.
#[doc(hidden)]
pub fn idle_node<P: KubeObject>(name: &str) -> RecordNode<P, OneOf<()>> {
    let declaration = Declaration { outside: Some(std::any::TypeId::of::<()>()), ..Declaration::default() };
    RecordNode::of::<Idle>(|name| AnyDependent::new(name, declaration, Idle(Arc::default()))).named(name)
}

struct Idle(Arc<()>);

impl Idle {
    fn found(&self) -> Secondary {
        Secondary::external(Arc::clone(&self.0), Arc::default())
    }
}

impl Engine for Idle {
    fn reconcile<'r>(&'r self, _: Asked<'r>) -> BoxFuture<'r, Result<ReconcileResult, BoxError>> {
        async { Ok(ReconcileResult::of_items(vec![(Operation::Matched, self.found())], Vec::new(), 1)) }
            .boxed()
    }

    fn delete<'r>(&'r self, _: Asked<'r>) -> BoxFuture<'r, Result<Deleted, BoxError>> {
        async { Ok(Deleted::NOTHING) }.boxed()
    }

    fn secondaries<'r>(&'r self, _: Asked<'r>) -> BoxFuture<'r, Result<Vec<Secondary>, BoxError>> {
        async { Ok(vec![self.found()]) }.boxed()
    }
}
