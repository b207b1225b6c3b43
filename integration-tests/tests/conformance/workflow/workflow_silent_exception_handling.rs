//! A workflow whose errors are the reconciler's business keeps them in its results, in a reconcile and in a clean-up, and
//! fails no run.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::Result;
use integration_tests::{Scene, Script, TestResource};
use operator_core::{
    BoxError, Context, Removal, UpdateControl, Workflow,
    dependent::{Creator, CustomDependent, Deleter, Deletion, DependentResource},
    testing::operator_test,
};

/// Can neither be made nor be deleted.
#[derive(Default)]
struct Broken;

impl DependentResource<TestResource> for Broken {
    type Resource = ();

    async fn secondary(
        &self,
        primary: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Option<Arc<()>>, BoxError> {
        Ok(primary.metadata.deletion_timestamp.is_some().then(|| Arc::new(())))
    }
}

impl Creator<TestResource> for Broken {
    fn desired(&self, _: &TestResource, _: &Context<TestResource>) -> Result<(), BoxError> {
        Ok(())
    }

    async fn create(
        &self,
        (): (),
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Arc<()>, BoxError> {
        Err("can't be created".into())
    }
}

impl Deleter<TestResource> for Broken {
    async fn delete(
        &self,
        _: &Arc<()>,
        _: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Deletion, BoxError> {
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
    let workflow = Workflow::builder()
        .nodes((CustomDependent::new(Broken).creates().deletes(),))
        .handle_errors_in_reconciler()
        .build()?;
    let controller = script.controller().with_cleaner().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!((script.runs.count(), in_reconcile.load(Ordering::SeqCst)), (1, 1), "and no retry");
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert_eq!((script.cleanups.count(), in_cleanup.load(Ordering::SeqCst)), (1, 1));
    Ok(())
}
