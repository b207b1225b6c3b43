//! A newer version of the controller doesn't use the finalizer of the older one any more.

use integration_tests::prelude::*;

use super::{gone_after, pass, scene, under};

/// The older version cleans up under this finalizer, or under the default one; the newer one is as it is declared.
async fn upgraded(
    older: Option<&str>,
    newer: impl FnOnce(ControllerBuilder<Script>) -> ControllerBuilder<Script>,
) -> Result<(Scene, Vec<String>)> {
    let scene = scene().await?;
    let of_scene = |script: &Script| script.controller().namespaces([&scene.namespace]);
    let script = Script::idle();
    let cleaning = of_scene(&script).with_cleaner();
    let cleaning = match older {
        Some(finalizer) => cleaning.finalizer(finalizer),
        None => cleaning,
    };
    let operator = under(&Faults::none(), &scene, cleaning).await?;
    scene.create("one", "first").await?;
    scene.create("two", "first").await?;
    pass(10).await;
    assert_eq!(scene.resources.get("one").await?.finalizers().len(), 1, "the older version's");
    // It stays marked, as the older version is gone before it is cleaned up.
    operator.stop().await;
    scene.delete("two").await?;
    let operator = under(&Faults::none(), &scene, newer(of_scene(&script))).await?;
    pass(60).await;
    let written = operator.settled().await?.written();
    let left = scene.resources.get("one").await?.finalizers().to_vec();
    assert_eq!(gone_after(&scene, "two").await?, Some(0), "hours until it was gone; {written:?}");
    drop(operator);
    Ok((scene, left))
}

#[tokio::test(start_paused = true)]
async fn the_default_one_goes_with_the_clean_up() -> Result<()> {
    let (_, left) = upgraded(None, |builder| builder).await?;
    assert_eq!(left, Vec::<String>::new());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_default_one_makes_way_for_one_with_a_name() -> Result<()> {
    let renamed = |builder: ControllerBuilder<Script>| builder.with_cleaner().finalizer("example.com/newer");
    let (_, left) = upgraded(None, renamed).await?;
    assert_eq!(left, ["example.com/newer"]);
    Ok(())
}

/// The older version wrote under the default field manager.
#[tokio::test(start_paused = true)]
async fn the_default_one_goes_also_where_another_field_manager_has_put_it_there() -> Result<()> {
    let (_, left) = upgraded(None, |builder| builder.field_manager("newer")).await?;
    assert_eq!(left, Vec::<String>::new());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn one_that_is_named_as_retired_goes() -> Result<()> {
    let retired = |builder: ControllerBuilder<Script>| builder.retired_finalizers(["example.com/older"]);
    let (_, left) = upgraded(Some("example.com/older"), retired).await?;
    assert_eq!(left, Vec::<String>::new());
    Ok(())
}

/// Another controller of the same kind uses the default finalizer: it isn't ours to take off.
#[tokio::test(start_paused = true)]
async fn what_another_controller_has_put_there_stays() -> Result<()> {
    let scene = scene().await?;
    scene.create("one", "first").await?;
    let name = "testresources.conformance.operator-core.io/finalizer";
    let theirs = json!({ "apiVersion": "conformance.operator-core.io/v1", "kind": "TestResource",
        "metadata": { "name": "one", "finalizers": [name] } });
    scene.resources.patch("one", &PatchParams::apply("another"), &Patch::Apply(theirs)).await?;
    let plain = Script::<TestResource>::idle().controller().namespaces([&scene.namespace]);
    let operator = under(&Faults::none(), &scene, plain).await?;
    pass(60).await;
    let written = operator.settled().await?.written();
    assert_eq!(written, Vec::<String>::new());
    assert_eq!(scene.resources.get("one").await?.finalizers(), [name]);
    Ok(())
}
