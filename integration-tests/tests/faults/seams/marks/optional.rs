//! Objects that should not exist are found by their marks, without computing their desired states.

use integration_tests::prelude::*;
use tracing::Level;

use super::{gone_after, message, pass, saying, scene, under};

/// A map that is wanted only with the value `on`, and whose desired state can't be computed without it.
fn optional(owned: bool) -> Result<Workflow<TestResource>> {
    let public =
        |primary: &TestResource| (primary.spec.value == "on").then(|| map_of(primary, "public", "shown"));
    let node = node(public).named("public");
    let node = if owned { node } else { node.without_owner() };
    Ok(Workflow::builder().nodes((node,)).build()?)
}

#[tokio::test(start_paused = true)]
async fn an_optional_dependent_that_was_never_wanted_fails_no_run() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = scene().await?;
    let controller = scene.managed(&saying(), &optional(true)?);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "off").await?;
    pass(600).await;
    let runs = operator.settled().await?.runs_of(&scene.key("one"));
    let errors: Vec<_> = [log.lines(Level::WARN), log.lines(Level::ERROR)].concat();
    let first = errors.first().map(|line| line.fields.clone());
    assert_eq!(
        (message(&scene, "one").await?.as_deref(), runs, errors.len()),
        (Some("off"), 1, 0),
        "(status, runs, warnings and errors); the first: {first:?}"
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_same_dependent_does_not_keep_a_primary_from_going() -> Result<()> {
    let scene = scene().await?;
    let controller = scene.managed(&saying(), &optional(false)?);
    let _operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "off").await?;
    pass(600).await;
    scene.delete("one").await?;
    let hours = gone_after(&scene, "one").await?;
    assert_eq!(hours, Some(0), "hours until it was gone; Some(0) is five minutes, None never");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_optional_dependent_that_is_switched_off_goes() -> Result<()> {
    let scene = scene().await?;
    let controller = scene.managed(&saying(), &optional(true)?);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "on").await?;
    pass(60).await;
    assert_eq!(scene.values().await?.len(), 1);
    operator.settled().await?;
    scene.set("one", "off").await?;
    pass(600).await;
    assert_eq!(scene.values().await?.len(), 0, "ten minutes later it is still there");
    let written = operator.settled().await?.written();
    assert_eq!(written[0], "DELETE configmaps/one-public -> 200", "{written:?}");
    Ok(())
}
