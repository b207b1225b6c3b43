//! Steps around components: one that waits, one that can't go on, one that fails.

use integration_tests::prelude::*;
use operator_component::component;
use operator_core::{Context, Permanent, Waiting};

use super::stand::{DISABLED, HEALTHY, Stage, base, extra, says};

/// What the step says, whatever the value is now.
type Answer = Arc<Mutex<&'static str>>;

fn script(answer: &Answer) -> Script<Stand> {
    let answer = Arc::clone(answer);
    Script::new(move |_, _: Arc<Stand>, cx: &mut Context<Stand>| {
        let answer = *answer.lock();
        Box::pin(async move {
            match answer {
                "wait" => {
                    return Err(
                        Waiting::again_in(Duration::from_secs(1), "NoLicence", "no licence yet").into()
                    );
                }
                "stall" => return Err(Permanent::new("it is too large").because("OverQuota").into()),
                "fail" => bail!("the office is on fire"),
                _ => {}
            }
            cx.run().await?;
            let unsent = (answer == "unsent").then(|| ("NotSent", "nobody listens".to_owned()));
            cx.abnormal("NotifyFailed", unsent);
            Ok(UpdateControl::no_update())
        })
    })
}

#[operator_test]
async fn a_step_waits_stalls_heals_by_a_request_and_fails() -> Result<()> {
    let scene = Stage::scene("component-steps").await?;
    scene.failures.expect("it is too large");
    scene.failures.expect("the office is on fire");
    let answer: Answer = Arc::new(Mutex::new("wait"));
    let stage = Stage::on(scene, |scene| {
        let nodes = (
            component("base", (base,)),
            component("extra", (extra,)).only_if(|stand: &Stand| says(stand, "extra")),
        );
        let workflow = Workflow::builder().nodes(nodes).explicit_invocation().build()?;
        let retry = GenericRetry::linear(Duration::from_millis(100), 1_000)?;
        Ok(scene.controller(&script(&answer)).workflow(workflow).retry(retry))
    })
    .await?;
    stage.scene.create("one", "1").await?;
    stage.until("Reconciling", "True NoLicence no licence yet").await?;
    assert_eq!(stage.told("BaseReady").await?, "False Unknown Component has not been reconciled yet.");
    assert!(stage.told("Ready").await?.starts_with("False "), "one that never ran isn't ready");

    // It comes back by itself.
    *answer.lock() = "";
    stage.until("BaseReady", HEALTHY).await?;
    assert_eq!(stage.told("ExtraReady").await?, DISABLED);

    *answer.lock() = "stall";
    stage.say("2").await?;
    assert_eq!(stage.told("Stalled").await?, "True OverQuota it is too large");
    assert_eq!(stage.told("BaseReady").await?, HEALTHY, "what is known stays");
    assert!(stage.told("Ready").await?.starts_with("False "));

    // Nothing has changed but what decides, which nobody sees.
    *answer.lock() = "";
    assert_eq!(stage.settled().await?, [""; 0]);
    let requested = json!({ "metadata": { "annotations": { "operator-core.io/requested-at": "now" } } });
    stage.scene.patch("one", requested).await?;
    assert_eq!(stage.settled().await?, ["PATCH configmaps/base -> 200"]);
    assert!(stage.told("Ready").await?.starts_with("True "));

    *answer.lock() = "fail";
    stage.scene.patch("one", json!({ "spec": { "value": "3" } })).await?;
    eventually("the failure to be told", async || {
        Ok(stage.told("Ready").await?.contains("the office is on fire").then_some(()))
    })
    .await?;
    *answer.lock() = "unsent";
    stage.until("NotifyFailed", "True NotSent nobody listens").await?;
    assert!(stage.told("Ready").await?.starts_with("False "));
    *answer.lock() = "";
    stage.say("4").await?;
    assert_eq!(stage.told("NotifyFailed").await?, "");
    assert!(stage.told("Ready").await?.starts_with("True "));
    Ok(())
}
