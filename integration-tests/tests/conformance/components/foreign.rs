//! Conditions of others beside those of components.

use integration_tests::prelude::*;
use operator_component::component;

use super::stand::{HEALTHY, Stage, base, extra};

async fn stage(name: &str) -> Result<Stage> {
    let nodes = (component("base", (base,)), component("extra", (extra,)));
    Stage::of(name, nodes).await
}

/// Another manager applies these conditions, and no others.
async fn applied_by_somebody(stage: &Stage, types: &[&str]) -> Result<()> {
    let condition = |of: &&str| {
        json!({ "type": of, "status": "Unknown", "reason": "Theirs", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z" })
    };
    let conditions: Vec<_> = types.iter().map(condition).collect();
    let status = json!({
        "apiVersion": Stand::api_version(&()), "kind": Stand::kind(&()), "metadata": { "name": "one" },
        "status": { "conditions": conditions }
    });
    let params = PatchParams::apply("somebody").force();
    stage.scene.resources.patch_status("one", &params, &Patch::Apply(status)).await?;
    stage.settled().await.map(drop)
}

#[operator_test]
async fn conditions_of_others_survive() -> Result<()> {
    let stage = stage("component-others").await?;
    stage.say("1").await?;
    applied_by_somebody(&stage, &["Audited"]).await?;
    stage.say("2").await?;
    assert_eq!(stage.told("Audited").await?, "Unknown Theirs");
    assert_eq!(stage.told("Ready").await?.split(' ').next(), Some("True"));
    Ok(())
}

#[operator_test]
async fn a_condition_that_another_manager_applies_is_left_to_it_and_the_manager_is_named() -> Result<()> {
    let stage = stage("component-taken").await?;
    stage.say("1").await?;
    applied_by_somebody(&stage, &["ExtraReady"]).await?;
    stage.say("2").await?;
    assert_eq!(stage.told("ExtraReady").await?, "Unknown Theirs", "it isn't forced");
    assert_eq!(
        stage.told("Ready").await?,
        "False Error extra: the condition ExtraReady is applied by the field manager somebody; name another one with \
         `.condition(…)`, or remove it there"
    );
    assert_eq!(stage.told("BaseReady").await?, HEALTHY);
    // Nothing of it is applied any more.
    applied_by_somebody(&stage, &[]).await?;
    stage.say("3").await?;
    assert_eq!(stage.told("ExtraReady").await?, HEALTHY);
    assert_eq!(stage.told("Ready").await?.split(' ').next(), Some("True"));
    Ok(())
}
