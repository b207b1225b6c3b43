//! What is told of a node's resource is what its condition has judged.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::core::v1::ConfigMap;

use super::{Offline, fake::CREATES, primary};
use crate::{
    dependent::{AnyDependent, Asked, Declaration, Deleted, Engine},
    reconciler::{BoxError, OfflineParts},
    results::{Operation, ReconcileResult, Secondary},
    workflow::{RecordNode, Workflow, declare::OneOf},
};

/// Counts how often it is read.
#[derive(Clone, Default)]
struct Meter(Arc<AtomicUsize>);

impl Meter {
    fn node(&self) -> RecordNode<ConfigMap, OneOf<usize>> {
        let declaration = Declaration {
            capabilities: CREATES,
            outside: Some(std::any::TypeId::of::<()>()),
            ..Declaration::default()
        };
        let meter = self.clone();
        RecordNode::of::<Self>(|name| AnyDependent::new(name, declaration, meter))
    }

    fn read(&self) -> Secondary {
        Secondary::external(Arc::new(self.0.fetch_add(1, Ordering::SeqCst) + 1), Arc::default())
    }
}

impl Engine for Meter {
    fn reconcile<'r>(&'r self, _: Asked<'r>) -> BoxFuture<'r, Result<ReconcileResult, BoxError>> {
        async { Ok(ReconcileResult::of_items(vec![(Operation::Matched, self.read())], Vec::new(), 1)) }
            .boxed()
    }

    fn delete<'r>(&'r self, _: Asked<'r>) -> BoxFuture<'r, Result<Deleted, BoxError>> {
        async { Ok(Deleted::NOTHING) }.boxed()
    }

    fn secondaries<'r>(&'r self, _: Asked<'r>) -> BoxFuture<'r, Result<Vec<Secondary>, BoxError>> {
        async { Ok(vec![self.read()]) }.boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_elsewhere_is_told_as_its_condition_has_read_it_and_is_not_read_for_that() {
    let meter = Meter::default();
    let node = meter.node().ready(|read: &usize| *read > 1);
    let workflow = Workflow::builder().nodes((node,)).build().unwrap();
    let one = primary("one");
    let context = Offline::new(OfflineParts::default()).context(&one);
    let run = workflow.reconcile(&one, &context).await;
    assert_eq!(
        (run.all_ready(), run.get(&meter.node()).as_deref()),
        (true, Some(&2)),
        "the second one was judged"
    );
    assert_eq!(meter.0.load(Ordering::SeqCst), 2, "by the dependent and by its condition");
}
