//! The fate of primaries when the server is in trouble for a minute, with the default retry.

use integration_tests::prelude::*;

use super::{message, pass, scene, under};

/// The default, except for the number of attempts.
fn patient() -> GenericRetry {
    GenericRetry::default().without_max_attempts()
}

#[tokio::test(start_paused = true)]
async fn a_change_during_a_minute_of_500_is_there_five_minutes_later() -> Result<()> {
    change_with(None).await
}

#[tokio::test(start_paused = true)]
async fn control_a_change_without_max_attempts() -> Result<()> {
    change_with(Some(patient())).await
}

async fn change_with(retry: Option<GenericRetry>) -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            // Without a reschedule, which would lead to a run after the last retry, too.
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    });
    let faults = Faults::new([Rule::writes().status(StatusAnswer::internal())]);
    faults.off();
    let controller = scene.managed(&script, &workflow_of_one(wanted_map("a"))?).name("keeper");
    let controller = match retry {
        Some(retry) => controller.retry(retry),
        None => controller,
    };
    let _operator = under(&faults, &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(5).await;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("first"));
    faults.on();
    pass(1).await;
    scene.set("one", "second").await?;
    pass(59).await;
    faults.off();
    pass(300).await;
    let early = (message(&scene, "one").await?, scene.values().await?);
    let mut hours = 0;
    while message(&scene, "one").await?.as_deref() != Some("second") && hours < 30 {
        pass(3600).await;
        hours += 1;
    }
    assert_eq!(early.0.as_deref(), Some("second"), "{early:?}; it was right after {hours} hours");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_periodic_primary_goes_on_after_a_minute_of_500() -> Result<()> {
    periodic_with(None).await
}

#[tokio::test(start_paused = true)]
async fn control_a_periodic_primary_without_max_attempts() -> Result<()> {
    periodic_with(Some(patient())).await
}

async fn periodic_with(retry: Option<GenericRetry>) -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|run, _: Arc<TestResource>, _| {
        Box::pin(async move {
            let done = Said::status(said(format!("run {run}")));
            Ok(done.reschedule_after(Duration::from_secs(60)))
        })
    });
    let faults = Faults::new([Rule::writes().status(StatusAnswer::internal())]);
    faults.off();
    let controller = script.controller().namespaces([&scene.namespace]);
    let controller = match retry {
        Some(retry) => controller.retry(retry),
        None => controller,
    };
    let _operator = under(&faults, &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(30).await;
    faults.on();
    // The reschedule is due in the middle of it.
    pass(60).await;
    faults.off();
    let before = script.runs.count();
    pass(3600).await;
    let after = script.runs.count() - before;
    assert!(
        after >= 50,
        "{after} runs in the hour after the outage, {before} until its end; 60 were asked for"
    );
    Ok(())
}
