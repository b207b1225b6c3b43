//! Fields of an existing object that can't be changed.

use futures::FutureExt;
use integration_tests::prelude::*;
use k8s_openapi::{
    NamespaceResourceScope,
    api::{apps::v1::StatefulSet, batch::v1::Job},
};
use operator_core::resource::KubeObject;
use tracing::Level;

use super::{edit, edited, requests, scene, started};

/// The handling if the object is created anew.
const ANEW: [&str; 4] = ["apply 422", "get 200", "delete 200", "apply 201"];

/// An object with this spec, in which the primary's value replaces each `$`.
fn with_spec<K: KubeObject>(spec: &Value) -> impl Fn(&TestResource) -> K + Send + Sync + 'static {
    let spec = spec.to_string();
    move |primary| {
        let spec: Value = serde_json::from_str(&spec.replace('$', &primary.spec.value)).expect("a spec");
        from_json(&json!({ "metadata": meta_of(primary, "web"), "spec": spec })).expect("an object")
    }
}

fn pod(image: &str, policy: &str) -> Value {
    let containers = json!([{ "name": "app", "image": image }]);
    json!({ "metadata": { "labels": { "app": "$" } }, "spec": { "restartPolicy": policy, "containers": containers } })
}

fn selector() -> Value {
    json!({ "replicas": 0, "selector": { "matchLabels": { "app": "$" } }, "template": pod("app", "Always") })
}

async fn recreated<K>(spec: &Value, changed: &str) -> Result<()>
where
    K: KubeObject<DynamicType = ()> + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let scene = scene().await?;
    let api = scene.api::<K>();
    let (operator, made, _) = started(&scene, wanted("web", with_spec::<K>(spec)), "first").await?;
    let first = api.get("one-web").await?;
    let (first, version) = (first.uid(), first.resource_version());
    // By default it is an error that names the setting.
    scene.failures.expect("let the dependent do so with `.recreate_when_immutable()`");
    scene.set("one", "second").await?;
    assert_eq!(requests(&operator, &made).await?, ["apply 422", "get 200"]);
    assert_eq!(api.get("one-web").await?.uid(), first);
    operator.stop().await;

    let dependent = wanted("web", with_spec::<K>(spec)).recreate_when_immutable();
    let script = integration_tests::Script::idle();
    let workflow = integration_tests::workflow_of_one(dependent)?;
    let (log, _guard) = LogCapture::start();
    let operator = scene.start_through(made.hook(), scene.managed(&script, &workflow)).await?;
    assert_eq!(requests(&operator, &made).await?, ANEW);
    let preconditions = made.bodies().pop().map(|mut body| body["preconditions"].take());
    assert_eq!(preconditions, Some(json!({ "uid": first, "resourceVersion": version })));
    let second = api.get("one-web").await?;
    assert_ne!(second.uid(), first);
    let value = serde_json::to_value(&second)?;
    assert_eq!(value.pointer(changed).and_then(Value::as_str), Some("second"));
    let lines = log.lines(Level::WARN);
    let lines: Vec<_> = lines.iter().map(|line| line.field("message")).collect();
    assert_eq!(lines, ["deleted, to be created again: it can't be changed as desired"]);
    Ok(())
}

#[operator_test(real = "a control plane", flavor = "current_thread")]
async fn the_selector_of_a_deployment_is_changed_only_where_that_is_said() -> Result<()> {
    Box::pin(recreated::<Deployment>(&selector(), "/spec/selector/matchLabels/app")).await
}

#[operator_test(real = "a control plane", flavor = "current_thread")]
async fn the_template_of_a_job_is_changed_only_where_that_is_said() -> Result<()> {
    let spec = json!({ "suspend": true, "template": pod("$", "Never") });
    Box::pin(recreated::<Job>(&spec, "/spec/template/spec/containers/0/image")).await
}

#[operator_test(real = "a control plane", flavor = "current_thread")]
async fn the_service_of_a_stateful_set_is_changed_only_where_that_is_said() -> Result<()> {
    let mut spec = selector();
    spec["serviceName"] = "$".into();
    Box::pin(recreated::<StatefulSet>(&spec, "/spec/serviceName")).await
}

/// A new object would be refused as well.
#[operator_test(real = "a control plane")]
async fn nothing_is_deleted_for_what_is_invalid_anyway() -> Result<()> {
    let scene = scene().await?;
    scene.failures.expect("field is immutable");
    let mut spec = selector();
    spec["template"]["spec"]["containers"][0]["image"] = "$".into();
    let anew = wanted("web", with_spec::<Deployment>(&spec)).recreate_when_immutable();
    let (operator, made, _) = started(&scene, anew, "first").await?;
    let first = scene.api::<Deployment>().get("one-web").await?.uid();
    scene.set("one", "").await?;
    let made = requests(&operator, &made).await?;
    assert!(!made.iter().any(|request| request.starts_with("delete")), "{made:?}");
    assert_eq!(scene.api::<Deployment>().get("one-web").await?.uid(), first);
    Ok(())
}

#[test]
fn who_creates_anew_has_the_right_to_delete() -> Result<()> {
    for recreates in [false, true] {
        let dependent = wanted("web", with_spec::<Deployment>(&selector())).retained();
        let dependent = if recreates { dependent.recreate_when_immutable() } else { dependent };
        let access = integration_tests::workflow_of_one(dependent)?.access();
        assert_eq!(access.iter().any(|right| right.verbs.contains(&"delete")), recreates);
    }
    Ok(())
}

/// An operator that recreates objects, and the uid of its first object.
async fn anew(
    scene: &Scene,
) -> Result<(operator_core::testing::TestOperator, super::Requests, Option<String>)> {
    let dependent = wanted("web", with_spec::<Deployment>(&selector())).recreate_when_immutable();
    let (operator, made, _) = started(scene, dependent, "first").await?;
    let first = scene.api::<Deployment>().get("one-web").await?.uid();
    Ok((operator, made, first))
}

#[operator_test(real = "a control plane")]
async fn a_deletion_is_bound_to_the_version_that_was_seen() -> Result<()> {
    let scene = scene().await?;
    let (operator, made, first) = anew(&scene).await?;
    let api = scene.api::<Deployment>();
    made.before("delete", 1, move || {
        let (api, note) =
            (api.clone(), json!([{ "op": "add", "path": "/metadata/annotations/a", "value": "b" }]));
        async move { edited(&api, note).await.map(drop) }.boxed()
    });
    scene.set("one", "second").await?;
    let seen_again = ["apply 422", "get 200", "delete 409"].into_iter().chain(ANEW);
    assert_eq!(requests(&operator, &made).await?, seen_again.collect::<Vec<_>>());
    assert_ne!(scene.api::<Deployment>().get("one-web").await?.uid(), first);
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn what_a_finalizer_keeps_is_created_by_a_later_run() -> Result<()> {
    let scene = scene().await?;
    scene.failures.expect("is being deleted, and is created again once it is gone");
    let (operator, made, first) = anew(&scene).await?;
    let kept = json!([{ "op": "add", "path": "/metadata/finalizers", "value": ["example.com/kept"] }]);
    edit::<Deployment>(&scene, kept).await?;
    operator.settled().await?;
    made.take();
    scene.set("one", "second").await?;
    eventually("the deletion", async || {
        let now = scene.api::<Deployment>().get("one-web").await?;
        Ok(now.metadata.deletion_timestamp.map(drop))
    })
    .await?;
    // What a run gets decides whether it deletes: the first one does, and the second one gets what is going.
    eventually("a run meanwhile", async || Ok((made.count("get 200") >= 2).then_some(()))).await?;
    // An event during the second failure in a row would wait for the retry.
    operator.settled().await?;
    edit::<Deployment>(&scene, json!([{ "op": "remove", "path": "/metadata/finalizers" }])).await?;
    eventually("the new object", async || {
        let now = scene.api::<Deployment>().get_opt("one-web").await?;
        Ok(now.filter(|now| now.uid() != first).map(drop))
    })
    .await?;
    operator.settled().await?;
    let made = made.take();
    let of = |kind: &str| made.iter().filter(|request| request.starts_with(kind)).count();
    assert_eq!(of("delete"), 1, "asked once: {made:?}");
    assert_eq!(made.last().context("requests")?, "apply 201");
    Ok(())
}
