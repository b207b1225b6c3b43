//! The meaning of a 404 that doesn't name the object: the kind isn't served at the moment, and nothing is known about
//! the object. The control tests answer 503 instead.

use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{gone_after, message, pass, saying, scene, two_maps, under};

/// Config map `one-a`, collected; `one-b`, deleted by us; a cleaner. All else is as by default.
fn keeper(scene: &Scene, script: &Script) -> Result<ControllerBuilder<Script>> {
    Ok(scene.managed(script, &two_maps().build()?).name("keeper").cleaner(true))
}

/// Reads and writes of the custom resource, but no lists or watches, are answered so for five seconds.
async fn deaf(scene: &Scene, answer: StatusAnswer) -> Result<(TestOperator, Rule)> {
    let fault = Rule::writes().verb(Verb::Get).resource("testresources").status(answer);
    let faults = Faults::new([fault.clone()]);
    faults.off();
    let operator = under(&faults, scene, keeper(scene, &saying())?).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    assert_eq!(message(scene, "one").await?.as_deref(), Some("first"));
    faults.on();
    scene.set("one", "second").await?;
    pass(5).await;
    faults.off();
    assert!(fault.fired() > 0, "the fault happened");
    pass(300).await;
    Ok((operator, fault))
}

async fn written_with(answer: StatusAnswer) -> Result<()> {
    let scene = scene().await?;
    let (_operator, fault) = deaf(&scene, answer).await?;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("second"), "after {} answers", fault.fired());
    Ok(())
}

async fn child_with(answer: StatusAnswer) -> Result<()> {
    let scene = scene().await?;
    let (_operator, _) = deaf(&scene, answer).await?;
    scene.api::<ConfigMap>().delete("one-a", &DeleteParams::default()).await?;
    pass(300).await;
    assert!(scene.api::<ConfigMap>().get_opt("one-a").await?.is_some(), "five minutes later it isn't there");
    Ok(())
}

async fn deleted_with(answer: StatusAnswer) -> Result<()> {
    let scene = scene().await?;
    let (_operator, _) = deaf(&scene, answer).await?;
    scene.delete("one").await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0), "hours until it was gone; Some(0) is five minutes");
    Ok(())
}

async fn finalizer_with(answer: StatusAnswer) -> Result<()> {
    let scene = scene().await?;
    let fault = Rule::writes().resource("testresources").main_resource().first(1).status(answer);
    let faults = Faults::new([fault.clone()]);
    faults.off();
    let _operator = under(&faults, &scene, keeper(&scene, &saying())?).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    faults.on();
    scene.delete("one").await?;
    let gone = gone_after(&scene, "one").await?;
    assert_eq!(fault.fired(), 1);
    assert_eq!(gone, Some(0), "hours until it was gone; Some(0) is five minutes, None never");
    Ok(())
}

async fn leak_with(answer: StatusAnswer) -> Result<()> {
    let scene = scene().await?;
    let fault = Rule::on(Verb::Delete).resource("configmaps").first(1).status(answer);
    let faults = Faults::new([fault.clone()]);
    faults.off();
    let _operator = under(&faults, &scene, keeper(&scene, &saying())?).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    faults.on();
    scene.delete("one").await?;
    pass(3600).await;
    assert_eq!(fault.fired(), 1);
    let left: Vec<_> = scene.values().await?.into_keys().collect();
    let one = scene.resources.get_opt("one").await?.is_some();
    assert_eq!((one, left), (false, Vec::new()), "(primary there, maps left)");
    Ok(())
}

/// No fault of a transport: the definition's version isn't served for ten seconds, while a user's change is being worked on.
async fn unserved_with(meanwhile_served: bool) -> Result<()> {
    let scene = scene().await?;
    let definitions: Api<CustomResourceDefinition> = Api::all(scene.client.clone());
    let mut definition = definitions.get("testresources.conformance.operator-core.io").await?;
    let mut other = definition.spec.versions[0].clone();
    other.name = "v2".to_owned();
    other.storage = false;
    if definition.spec.versions.len() == 1 {
        definition.spec.versions.push(other);
    }
    let serve = |served: bool| {
        let mut versions = definition.spec.versions.clone();
        versions[0].served = served;
        Patch::Merge(json!({ "spec": { "versions": versions } }))
    };
    let name = "testresources.conformance.operator-core.io";
    definitions.patch(name, &PatchParams::default(), &serve(true)).await?;
    let gate = Gate::new();
    let waits = gate.clone();
    let script = Script::new(move |_, primary: Arc<TestResource>, _| {
        let gate = waits.clone();
        Box::pin(async move {
            gate.pass().await;
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    });
    let _operator = under(&Faults::none(), &scene, keeper(&scene, &script)?).await?;
    scene.create("one", "first").await?;
    gate.arrived().await?;
    gate.let_through(1);
    pass(60).await;
    scene.set("one", "second").await?;
    gate.arrived().await?;
    definitions.patch(name, &PatchParams::default(), &serve(meanwhile_served)).await?;
    pass(1).await;
    gate.let_through(1_000);
    pass(9).await;
    definitions.patch(name, &PatchParams::default(), &serve(true)).await?;
    pass(600).await;
    let ten_minutes_later = message(&scene, "one").await?;
    let mut healed = None;
    for hours in 0..30 {
        if message(&scene, "one").await?.as_deref() == Some("second") {
            healed = Some(hours);
            break;
        }
        pass(3600).await;
    }
    let runs = script.runs.count();
    assert_eq!(
        ten_minutes_later.as_deref(),
        Some("second"),
        "ten minutes later; hours until it was right: {healed:?}; {runs} runs"
    );
    Ok(())
}

/// A scenario with a 404, and its control.
macro_rules! scenarios {
    ($($name:ident: $scenario:ident($answer:expr);)*) => {$(
        #[tokio::test(start_paused = true)]
        async fn $name() -> Result<()> {
            $scenario($answer).await
        }
    )*};
}

scenarios! {
    a_write_answered_404_for_five_seconds_is_made_up_for_within_five_minutes: written_with(StatusAnswer::not_served());
    control_a_write_answered_503: written_with(StatusAnswer::unavailable());
    after_a_404_a_deleted_child_is_made_anew: child_with(StatusAnswer::not_served());
    control_a_child_deleted_after_a_503: child_with(StatusAnswer::unavailable());
    after_a_404_a_primary_can_be_deleted: deleted_with(StatusAnswer::not_served());
    control_a_primary_deleted_after_a_503: deleted_with(StatusAnswer::unavailable());
    a_404_for_the_removal_of_the_finalizer_does_not_keep_the_primary: finalizer_with(StatusAnswer::not_served());
    control_a_503_for_the_removal_of_the_finalizer: finalizer_with(StatusAnswer::unavailable());
    a_404_for_the_kind_of_a_child_does_not_leak_the_child: leak_with(StatusAnswer::not_served());
    control_a_503_for_the_deletion_of_a_child: leak_with(StatusAnswer::unavailable());
    a_version_that_is_not_served_for_a_while_leaves_nobody_deaf: unserved_with(false);
    control_a_version_that_is_served_all_the_time: unserved_with(true);
}
