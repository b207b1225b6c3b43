//! A reconciler waits for three ready replicas and says so in the status, or that they have not come in time.

use integration_tests::prelude::*;
use operator_core::{Context, reconciler::Expectation};

const NAME: &str = "three replicas";
const READY: &str = "deployment ready";
const LATE: &str = "deployment not ready in time";
pub(super) const LONG: Duration = Duration::from_secs(300);
pub(super) const SHORT: Duration = Duration::from_millis(300);

/// Of three replicas, in the primary's name.
fn deployment(primary: &TestResource, context: &Context<TestResource>) -> Result<Deployment> {
    let labels = json!({ "app": primary.name_any() });
    Ok(serde_json::from_value(json!({
        "metadata": {
            "name": primary.name_any(),
            "namespace": primary.namespace(),
            "ownerReferences": context.owner_reference(primary).map(|owner| vec![owner]),
        },
        "spec": {
            "replicas": 3,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": "web", "image": "nginx" }] },
            },
        },
    }))?)
}

fn ready_replicas(context: &Context<TestResource>) -> i32 {
    let web = context.secondary::<Deployment>().ok().flatten();
    web.and_then(|web| web.status.as_ref()?.ready_replicas).unwrap_or_default()
}

/// Makes a Deployment and waits as long as `within` for so many of its three replicas.
pub(super) fn script(within: Duration, replicas: i32) -> Script {
    Script::new(move |_, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            if context.primary_is_deleted() {
                assert_eq!(context.expectation(NAME), Expectation::None, "it has gone with its primary");
                return Ok(Said::no_update());
            }
            if context.secondary::<Deployment>()?.is_none() {
                context.apply(&deployment(&primary, context)?).await?;
                let waits = context.expect(NAME, within, move |_, cx| ready_replicas(cx) == replicas)?;
                assert!(waits, "nothing is ready yet");
                return Ok(Said::no_update());
            }
            Ok(match context.expectation(NAME) {
                Expectation::Fulfilled => Said::status(said(READY)),
                Expectation::TimedOut => Said::status(said(LATE)),
                Expectation::None | Expectation::Waiting { .. } => Said::no_update(),
            })
        })
    })
}

fn message(primary: &TestResource) -> Option<&str> {
    primary.status.as_ref()?.message.as_deref()
}

type Builder = ControllerBuilder<Script>;

/// The row's assertions, for a controller that `mode` configures.
pub(super) async fn ready_or_late(scene: &Scene, mode: impl Fn(Builder) -> Builder) -> Result<()> {
    let controller = |script: &Script| mode(scene.controller(script).owns::<Deployment>());
    let operator = scene.start(controller(&script(LONG, 3))).await?;
    scene.create("ready", "value").await?;
    scene.until("it to be ready", "ready", |one| message(one) == Some(READY)).await?;
    operator.settled().await?;
    nothing_is_kept(&operator, 1).await;
    operator.stop().await;

    let late = script(SHORT, 4);
    let operator = scene.start(controller(&late)).await?;
    scene.create("late", "value").await?;
    operator.settled().await?;
    assert_eq!(message(&scene.resources.get("late").await?), Some(LATE));
    let runs = late.runs.of("late");
    let last = runs.last().map(|run| run.started - runs[0].started);
    assert!(last.is_some_and(|last| last >= SHORT), "it was said before the time was up: {runs:?}");
    Ok(())
}

/// An expectation is dropped with its primary, and its successor starts afresh.
pub(super) async fn gone_with_its_primary(scene: &Scene, mode: impl Fn(Builder) -> Builder) -> Result<()> {
    let script = script(LONG, 4);
    let operator = scene.start(mode(scene.controller(&script).owns::<Deployment>())).await?;
    for _ in 0..2 {
        // What the one before it has left is collected.
        eventually("the former deployment's end", async || {
            let left = scene.api::<Deployment>().get_opt("one").await?;
            Ok(left.is_none().then_some(()))
        })
        .await?;
        scene.create("one", "value").await?;
        operator.settled().await?;
        nothing_is_kept(&operator, 1).await;
        scene.delete("one").await?;
        scene.until_gone("one").await?;
        operator.settled().await?;
        nothing_is_kept(&operator, 0).await;
    }
    Ok(())
}

async fn nothing_is_kept(operator: &TestOperator, primaries: usize) {
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, &footprint.leftovers[..]), (primaries, &[][..]), "something is kept");
}

fn all_events(controller: Builder) -> Builder {
    controller.trigger_on_all_events(true)
}

#[operator_test]
async fn the_status_says_what_has_become_of_it() -> Result<()> {
    ready_or_late(&Scene::with_workloads("expectation").await?, all_events).await
}

#[operator_test]
async fn it_goes_with_its_primary() -> Result<()> {
    gone_with_its_primary(&Scene::with_workloads("expectation-end").await?, all_events).await
}
