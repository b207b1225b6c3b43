//! Documents the meaning of an apply: user code that applies the spec without the framework, as the controller's field manager
//! and without the finalizer, removes the finalizer. The framework's own writes don't, and it comes back automatically.

use integration_tests::prelude::*;

#[operator_test]
async fn an_apply_past_the_framework_takes_the_finalizer_off() -> Result<()> {
    let scene = Scene::new("ssa-spec-update").await?;
    let finalizers = Arc::new(Mutex::new(Vec::new()));
    let script = Script::new({
        let finalizers = Arc::clone(&finalizers);
        move |run, primary: Arc<TestResource>, context| {
            let finalizers = Arc::clone(&finalizers);
            Box::pin(async move {
                if run > 1 {
                    return Ok(UpdateControl::no_update());
                }
                let desired = fresh(&*primary, "written");
                let ours = context.resource_operations().server_side_apply(&desired).await?.object()?;
                finalizers.lock().push(ours.finalizers().len());
                let namespace = primary.namespace().unwrap_or_default();
                let past: Api<TestResource> = Api::namespaced(context.client().clone(), &namespace);
                let params = PatchParams::apply("sample").force();
                let theirs = past.patch(&primary.name_any(), &params, &Patch::Apply(desired)).await?;
                finalizers.lock().push(theirs.finalizers().len());
                Ok(UpdateControl::no_update())
            })
        }
    });
    let controller = script.controller().name("sample").cleaner(true);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(*finalizers.lock(), [1, 0], "through the framework it stays, past it it goes");
    let one = scene.resources.get("one").await?;
    assert_eq!(one.finalizers().len(), 1, "the loss of the finalizer causes a run, which puts it back");
    Ok(())
}
