//! JOSDK 5.6: at the start there is an object that its informer can't decode, because it was written in another version. JOSDK's informer
//! stops for good and has to be restarted, which its test regrets. Ours reports the object and continues, even if the operator should stop
//! when a source doesn't work at its start; when the object is gone, the report ends.

use integration_tests::prelude::*;
use tracing::Level;

async fn check(stop_on_source_error_at_start: bool) -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let (_turn, scene) = Scene::late("deserialisation-problem").await?;
    scene.define(late_in_two_versions("v1")?).await?;
    let numbered: Api<NumberedTestResource> = scene.api();
    let number = NumberedTestResource::new("number", NumberedTestResourceSpec { value: 5 });
    numbered.create(&PostParams::default(), &number).await?;
    scene.create("before", "text").await?;

    let script = Script::new(|_, _: Arc<LateTestResource>, _| {
        Box::pin(async { Ok(Said::status(said("reconciled"))) })
    });
    let stopped = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&stopped);
    let builder = scene
        .operator()
        .register(scene.controller(&script).name("late"))
        .stop_on_source_error_at_start(stop_on_source_error_at_start)
        .on_source_stopped(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
    let operator = TestOperator::start(builder).await?;
    let settled = operator.settled().await?;
    assert_eq!(
        settled.written(),
        ["PATCH latetestresources/before/status -> 200"],
        "its neighbour is served"
    );
    let undecodable = async || operator.operator().undecodable_objects().await;
    let told = undecodable().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&*told[0].controller, &told[0].object), ("late", &scene.key("number")));
    assert_eq!(told[0].reason, "spec.value: invalid type, expected a string");
    let warned = log.lines(Level::WARN).into_iter().map(|line| format!("{line:?}"));
    let warned: Vec<_> = warned.filter(|line| line.contains("can't be decoded")).collect();
    assert!(warned.iter().any(|line| line.contains("number") && line.contains("spec.value")), "{warned:?}");

    scene.create("beside", "text").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH latetestresources/beside/status -> 200"]);
    numbered.delete("number", &DeleteParams::default()).await?;
    operator.settled().await?;
    assert_eq!(undecodable().await, [], "it is forgotten");
    scene.create("after", "text").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH latetestresources/after/status -> 200"], "without a restart");

    assert!(operator.unhealthy_sources().await.is_empty());
    assert_eq!((script.runs.count(), script.runs.of("number").len()), (3, 0));
    assert_eq!(stopped.load(Ordering::SeqCst), 0, "no source has stopped");
    operator.stop().await;
    Ok(())
}

#[operator_test(flavor = "current_thread")]
async fn the_informer_goes_on_and_forgets_it_when_it_is_gone() -> Result<()> {
    check(false).await
}

#[operator_test(flavor = "current_thread")]
async fn it_is_no_reason_to_stop_at_the_start() -> Result<()> {
    check(true).await
}
