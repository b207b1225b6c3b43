//! A component whose object a webhook denies, beside one that is fine.

use integration_tests::prelude::*;
use operator_component::{Components, component};
use operator_core::Run;

use super::{
    webhook_server::{Verdict, Webhook},
    webhooks::{installed, tried},
};

fn denied(stand: &Stand) -> ConfigMap {
    from_json(&json!({ "metadata": { "name": "denied" }, "data": { "value": stand.spec.value } }))
        .expect("a map")
}

fn secret(_: &Stand) -> Secret {
    from_json(&json!({ "metadata": { "name": "fine" } })).expect("a secret")
}

fn status(stand: &Stand, run: &Run<Stand>) -> StandStatus {
    StandStatus { components: Components::of(stand, run) }
}

#[operator_test(real = "a control plane")]
async fn a_denial_is_the_error_of_its_component_alone_and_heals_by_itself() -> Result<()> {
    let cluster = cluster().await?;
    cluster.install_crds([Stand::crd()]).await?;
    let scene = Scene::<Stand>::on(cluster, "denied-component").await?;
    let denies = Arc::new(AtomicBool::new(true));
    let switch = Arc::clone(&denies);
    let webhook = Webhook::start(false, move |_| match switch.load(Ordering::SeqCst) {
        true => Verdict::Denied("no maps on mondays"),
        false => Verdict::Allowed,
    })
    .await?;
    let kind = "ValidatingWebhookConfiguration";
    let is_asked = async |maps: &Api<ConfigMap>| tried(maps).await.is_err();
    let name = "denied-component";
    let configurations = installed(&scene.client, &webhook, kind, name, &scene.namespace, is_asked).await?;
    scene.failures.expect("refuses it: no maps on mondays");
    let nodes = (component("first", (denied,)), component("second", (secret,)));
    let workflow = Workflow::builder().nodes(nodes).build()?;
    let retry = GenericRetry::linear(Duration::from_millis(200), 1_000)?;
    let controller = scene.controller(&Script::idle()).workflow(workflow).status(status).retry(retry);
    let operator = scene.start(controller).await?;
    scene.create("one", "1").await?;
    let told = async |of: &str| -> Result<(String, String)> {
        let conditions = scene.resources.get("one").await?.status.unwrap_or_default().components.conditions;
        let found = conditions.into_iter().find(|condition| condition.type_ == of);
        Ok(found.map(|of| (of.reason, of.message)).unwrap_or_default())
    };
    let error =
        eventually("the error", async || Ok(Some(told("FirstReady").await?).filter(|of| of.0 == "Error")));
    let (_, text) = error.await?;
    assert!(text.starts_with("denied: ") && text.contains("no maps on mondays"), "{text}");
    assert_eq!(told("SecondReady").await?.0, "Healthy");
    assert_eq!(told("Ready").await?.0, "Error");
    denies.store(false, Ordering::SeqCst);
    eventually("its end", async || Ok((told("Ready").await?.0 == "Healthy").then_some(()))).await?;
    assert_eq!(told("FirstReady").await?.0, "Healthy");
    configurations.delete(name, &DeleteParams::default()).await?;
    operator.settled().await?;
    Ok(())
}
