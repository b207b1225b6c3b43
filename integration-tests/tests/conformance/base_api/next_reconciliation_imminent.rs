//! A run that knows that another one follows leaves the status to that one: there is exactly one write in the end.

use integration_tests::prelude::*;

#[operator_test]
async fn the_status_is_left_to_the_run_that_follows() -> Result<()> {
    let scene = Scene::new("next-reconciliation-imminent").await?;
    let (gate, answers) = (Gate::new(), Arc::new(Mutex::new(Vec::new())));
    let script = Script::new({
        let (gate, answers) = (gate.clone(), Arc::clone(&answers));
        move |run, primary: Arc<TestResource>, context| {
            let (gate, answers) = (gate.clone(), Arc::clone(&answers));
            Box::pin(async move {
                let before = context.another_follows();
                gate.pass().await;
                if run == 1 {
                    // The event is on its way; what has not arrived can't be known.
                    while !context.another_follows() {
                        tokio::task::yield_now().await;
                    }
                }
                let imminent = context.another_follows();
                answers.lock().push((before, imminent));
                Ok(if imminent { Said::no_update() } else { Said::status(said(&primary.spec.value)) })
            })
        }
    });
    let operator = scene.start_script(&script).await?;
    scene.create("one", "first").await?;
    gate.arrived().await?;
    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    gate.let_through(2);
    let settled = operator.settled().await?;
    assert_eq!(*answers.lock(), [(false, true), (false, false)]);
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"]);
    assert_eq!(scene.resources.get("one").await?.status, Some(said("second")));
    Ok(())
}
