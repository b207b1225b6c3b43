//! A counter in the status, read from the cache and written back by each run, only ever grows by one, although someone else
//! changes the object during each run, just before its status is written, and the operator sees that change together with its own.

use integration_tests::prelude::*;
use operator_core::client::TransportHook;

const RUNS: usize = 15;

#[operator_test]
async fn each_run_sees_what_the_one_before_it_wrote() -> Result<()> {
    let scene = Scene::new("status-patch-cache").await?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let watch = Held::watches_of("testresources");
    watch.release();
    let script = Script::new({
        let (seen, others, watch) = (Arc::clone(&seen), scene.resources.clone(), watch.clone());
        move |run, primary: Arc<TestResource>, _| {
            let counter = primary.status.as_ref().and_then(|status| status.observed_generation).unwrap_or(0);
            seen.lock().push((primary.spec.value.clone(), counter));
            let (others, watch) = (others.clone(), watch.clone());
            Box::pin(async move {
                if run < RUNS {
                    watch.hold();
                    let spec = Patch::Merge(json!({ "spec": { "value": format!("after {run}") } }));
                    others.patch("one", &PatchParams::default(), &spec).await?;
                }
                let observed_generation = Some(counter + 1);
                Ok(Said::status(TestStatus { observed_generation, ..TestStatus::default() }))
            })
        }
    });
    let until_written = TransportHook::around({
        let watch = watch.clone();
        move |request, inner| {
            let (watch, is_status) = (watch.clone(), request.uri().path().ends_with("/one/status"));
            async move {
                let answer = inner.send(request).await?;
                if is_status && answer.status().is_success() {
                    watch.release();
                }
                Ok(answer)
            }
        }
    });
    let builder = scene.operator().transport(watch.hook()).transport(until_written);
    let operator = TestOperator::start(builder.register(scene.controller(&script))).await?;
    scene.create("one", "after 0").await?;
    let settled = operator.settled().await?;
    let expected: Vec<_> = (0..).take(RUNS).map(|before: i64| (format!("after {before}"), before)).collect();
    assert_eq!(*seen.lock(), expected, "strictly one by one, each with the other's change");
    assert_eq!(settled.runs_of(&scene.key("one")), u32::try_from(RUNS)?, "no further run");
    assert_eq!(accepted(&settled), ["PATCH testresources/one/status -> 200"; RUNS]);
    Ok(())
}
