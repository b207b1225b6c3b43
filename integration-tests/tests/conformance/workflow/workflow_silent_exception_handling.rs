//! A workflow whose errors the reconciler handles keeps them in its results, in a reconcile and in a clean-up, and
//! fails no run.

use integration_tests::prelude::*;
use operator_core::dependent::{Deletion, External, NotMade, Records, Token};

/// Can neither be made nor be deleted.
#[derive(Clone, Default)]
struct Broken {
    /// Whether it is there all the same.
    is_there: Arc<AtomicBool>,
    deletes: Arc<AtomicUsize>,
}

impl External<TestResource> for Broken {
    type Resource = ();
    type Want = Option<()>;

    fn want(&self, _: &TestResource) -> Option<()> {
        Some(())
    }

    async fn observe(&self, _: &str) -> Result<Option<()>, BoxError> {
        Ok(self.is_there.load(Ordering::SeqCst).then_some(()))
    }

    async fn create(&self, (): &(), _: &Token) -> Result<(String, ()), BoxError> {
        Err(NotMade::because("can't be created").into())
    }

    async fn update(&self, _: &str, (): &(), (): &()) -> Result<(), BoxError> {
        Ok(())
    }

    async fn delete(&self, _: &str) -> Result<Deletion, BoxError> {
        self.deletes.fetch_add(1, Ordering::SeqCst);
        Err("can't be deleted".into())
    }
}

#[operator_test]
async fn errors_stay_in_the_results() -> Result<()> {
    let scene = Scene::new("workflow-silent-exception").await?;
    let (in_reconcile, in_cleanup) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (reconciled, cleaned_up) = (Arc::clone(&in_reconcile), Arc::clone(&in_cleanup));
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        let failed = context.so_far().map_or(0, |run| run.failed().count());
        reconciled.fetch_add(failed, Ordering::SeqCst);
        Box::pin(async { Ok(UpdateControl::no_update()) })
    })
    .cleanup(move |_, _: Arc<TestResource>, context| {
        let failed = context.so_far().map_or(0, |run| run.failed().count());
        cleaned_up.fetch_add(failed, Ordering::SeqCst);
        Box::pin(async { Ok(Removal::Done) })
    });
    let broken = Broken::default();
    let workflow = Workflow::builder()
        .nodes((Records::new(broken.clone()).id_of(|_| "broken".to_owned()),))
        .handle_errors_in_reconciler()
        .build()?;
    let controller = script.controller().cleaner(true).workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!((script.runs.count(), in_reconcile.load(Ordering::SeqCst)), (1, 1), "and no retry");
    broken.is_there.store(true, Ordering::SeqCst);
    // After a call that went wrong a record is left alone for a second.
    tokio::time::sleep(Duration::from_secs(2)).await;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert_eq!((script.cleanups.count(), in_cleanup.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(broken.deletes.load(Ordering::SeqCst), 1, "that is what has failed");
    Ok(())
}
