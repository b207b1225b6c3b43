//! Admission webhooks that change, deny, or don't answer.

use integration_tests::prelude::*;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind};

use super::{
    keeper, keeping, kept, says,
    webhook_server::{Verdict, Webhook},
};

/// Makes the API server call the webhook from now on, and waits until it does. Returns the path of its configuration.
pub(super) async fn installed(
    client: &kube::Client,
    webhook: &Webhook,
    kind: &str,
    name: &str,
    namespace: &str,
    is_asked: impl AsyncFn(&Api<ConfigMap>) -> bool,
) -> Result<Api<DynamicObject>> {
    let gvk = GroupVersionKind::gvk("admissionregistration.k8s.io", "v1", kind);
    let configurations = Api::all_with(client.clone(), &ApiResource::from_gvk(&gvk));
    let configuration = serde_json::from_value(webhook.configuration(kind, name, namespace))?;
    configurations.create(&PostParams::default(), &configuration).await?;
    let maps = Api::<ConfigMap>::namespaced(client.clone(), namespace);
    eventually("the webhook to be asked", async || Ok(is_asked(&maps).await.then_some(()))).await?;
    Ok(configurations)
}

/// The answer to a creation that is only tried.
pub(super) async fn tried(maps: &Api<ConfigMap>) -> Result<ConfigMap, kube::Error> {
    let map = serde_json::from_value(json!({ "metadata": { "name": "probe" } }));
    let params = PostParams { dry_run: true, ..PostParams::default() };
    maps.create(&params, &map.map_err(kube::Error::SerdeError)?).await
}

fn defaced(object: &Value) -> Verdict {
    if object["data"].is_null() {
        return Verdict::Changed(json!([{ "op": "add", "path": "/data", "value": { "value": "webhook" } }]));
    }
    Verdict::Changed(json!([{ "op": "add", "path": "/data/value", "value": "webhook" }]))
}

#[operator_test(real = "a control plane")]
async fn f23_a_webhook_that_changes_each_write_leads_to_no_loop() -> Result<()> {
    let scene = Scene::new("f23").await?;
    let webhook = Webhook::start(false, defaced).await?;
    let is_asked =
        async |maps: &Api<ConfigMap>| tried(maps).await.is_ok_and(|map| value_of(&map) == Some("webhook"));
    let kind = "MutatingWebhookConfiguration";
    let configurations = installed(&scene.client, &webhook, kind, "f23", &scene.namespace, is_asked).await?;
    let desired = |primary: &TestResource| map_of(primary, "map", &primary.spec.value);
    let (script, workflow) = (Script::idle(), workflow_of_one(wanted("map", desired))?);
    let operator = scene.start_managed(&script, &workflow).await?;
    scene.create("one", "wanted").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH configmaps/one-map -> 201"], "its own echo wakes nobody");
    kept(&scene, "one-map", "webhook").await?;

    // The map is still as it was applied: nobody else owns what the webhook writes.
    for round in 0..3 {
        let label = json!({ "metadata": { "labels": { "round": round.to_string() } } });
        let maps = scene.api::<ConfigMap>();
        maps.patch("one-map", &PatchParams::default(), &Patch::Merge(label)).await?;
        let settled = operator.settled().await?;
        assert_eq!(settled.runs_of(&scene.key("one")), 1);
        assert_eq!(settled.written(), [""; 0]);
    }
    assert!(webhook.calls() > 4);
    configurations.delete("f23", &DeleteParams::default()).await?;
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn f26_a_denial_is_said_with_the_webhook_s_name_and_heals_by_itself() -> Result<()> {
    let scene = Scene::new("f26").await?;
    let denies = Arc::new(Mutex::new(true));
    let switch = Arc::clone(&denies);
    let webhook = Webhook::start(false, move |_| {
        if *switch.lock() { Verdict::Denied("no maps on mondays") } else { Verdict::Allowed }
    })
    .await?;
    let kind = "ValidatingWebhookConfiguration";
    let is_asked = async |maps: &Api<ConfigMap>| tried(maps).await.is_err();
    let configurations = installed(&scene.client, &webhook, kind, "f26", &scene.namespace, is_asked).await?;
    let script = keeping();
    scene.failures.expect("refuses it: no maps on mondays");
    scene.failures.expect("can't be called");
    let operator = scene.start(keeper(&scene, &script)?).await?;
    scene.create("one", "first").await?;
    let said = says(&scene, "one", "refuses it").await?;
    assert!(said.contains("f26.faults.operator-core.io") && said.contains("no maps on mondays"), "{said}");

    // No event tells that a webhook has changed its mind: the retries find out.
    *denies.lock() = false;
    kept(&scene, "one", "first").await?;
    says(&scene, "one", "first").await?;
    operator.settled().await?;

    // The webhook's server is gone.
    drop(webhook);
    scene.set("one", "second").await?;
    let said = says(&scene, "one", "can't be called").await?;
    assert!(said.contains("f26.faults.operator-core.io"), "{said}");
    configurations.delete("f26", &DeleteParams::default()).await?;
    kept(&scene, "one", "second").await?;
    says(&scene, "one", "second").await?;
    operator.settled().await?;
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn f26_an_expired_certificate_of_a_webhook_is_named() -> Result<()> {
    let scene = Scene::new("f26-expired").await?;
    let webhook = Webhook::start(true, |_| Verdict::Allowed).await?;
    let kind = "ValidatingWebhookConfiguration";
    let is_asked = async |maps: &Api<ConfigMap>| tried(maps).await.is_err();
    let name = "f26-expired";
    let configurations = installed(&scene.client, &webhook, kind, name, &scene.namespace, is_asked).await?;
    let script = keeping();
    scene.failures.expect("can't be called");
    let operator = scene.start(keeper(&scene, &script)?).await?;
    scene.create("one", "first").await?;
    let said = says(&scene, "one", "can't be called").await?;
    assert!(said.contains("certificate has expired"), "{said}");
    assert_eq!(webhook.calls(), 0);
    configurations.delete(name, &DeleteParams::default()).await?;
    kept(&scene, "one", "first").await?;
    operator.settled().await?;
    Ok(())
}
