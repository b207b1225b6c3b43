//! What a set of 500 objects costs; at night, one of 5,000: `BUNDLE_OBJECTS`.

use integration_tests::prelude::*;
use k8s_openapi::api::{
    core::v1::{LimitRange, Service, ServiceAccount},
    networking::v1::NetworkPolicy,
    rbac::v1::{Role, RoleBinding},
};
use kube::core::DynamicObject;
use operator_core::{BoxError, Objects, testing::Settled};

fn number() -> usize {
    std::env::var("BUNDLE_OBJECTS").map_or(500, |number| number.parse().expect("a number"))
}

/// Objects of eight kinds, in turn. The first ones have the value of the primary.
fn many(primary: &TestResource) -> Result<Objects, BoxError> {
    let kinds = [
        ("v1", "ConfigMap", json!({})),
        ("v1", "Secret", json!({})),
        ("v1", "ServiceAccount", json!({})),
        ("v1", "Service", json!({ "spec": { "ports": [{ "port": 80 }], "clusterIP": "None" } })),
        ("v1", "LimitRange", json!({ "spec": { "limits": [] } })),
        ("networking.k8s.io/v1", "NetworkPolicy", json!({ "spec": { "podSelector": {} } })),
        ("rbac.authorization.k8s.io/v1", "Role", json!({ "rules": [] })),
        (
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            json!({ "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "any" } }),
        ),
    ];
    let mut objects = Objects::new();
    for number in 0..number() {
        let (version, kind, content) = &kinds[number % kinds.len()];
        let mut object = content.clone();
        object["apiVersion"] = json!(version);
        object["kind"] = json!(kind);
        let value = if number < 10 { &*primary.spec.value } else { "same" };
        object["metadata"] = json!({ "name": format!("object-{number}"), "annotations": { "value": value } });
        objects.push(serde_json::from_value::<DynamicObject>(object)?);
    }
    Ok(objects)
}

/// The requests about objects of the set, by their verbs.
fn verbs(settled: &Settled) -> BTreeMap<String, usize> {
    let mut verbs = BTreeMap::new();
    for request in
        settled.requests.iter().map(ToString::to_string).filter(|request| request.contains("/object-"))
    {
        *verbs.entry(request.split(' ').next().unwrap_or_default().to_owned()).or_default() += 1;
    }
    verbs
}

#[operator_test]
async fn each_object_costs_one_write_and_no_read() -> Result<()> {
    let scene = Scene::new("bundles-many").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = || script.controller().workflow((many,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller()).await?;
    let key = scene.key("one");
    scene.create("one", "a").await?;
    let settled = operator.settled().await?;
    assert_eq!(verbs(&settled), [("PATCH".to_owned(), number())].into());
    assert_eq!(settled.requests.len(), number() + 2, "and the finalizer, and the kinds");
    assert!(settled.runs_of(&key) <= 4, "{} runs", settled.runs_of(&key));
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()), "{:?}", outcomes.lines("one"));

    let asked = json!({ "metadata": { "annotations": { "operator-core.io/requested-at": "1" } } });
    scene.patch("one", asked).await?;
    let settled = operator.settled().await?;
    assert!(settled.requests.is_empty() && settled.runs_of(&key) == 1, "{:?}", settled.requests);

    let drift = json!({ "metadata": { "annotations": { "value": "drifted" } } });
    scene.api::<Service>().patch("object-3", &PatchParams::default(), &Patch::Merge(drift)).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH services/object-3 -> 200"]);

    operator.stop().await;
    let operator = scene.start(controller()).await?;
    let settled = operator.settled().await?;
    assert!(settled.requests.is_empty() && settled.runs_of(&key) == 1, "{:?}", settled.requests);

    scene.patch("one", json!({ "spec": { "value": "b" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!((verbs(&settled), settled.requests.len()), ([("PATCH".to_owned(), 10)].into(), 10));

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let left = scene.api::<NetworkPolicy>().list(&ListParams::default()).await?.items.len()
        + scene.api::<Role>().list(&ListParams::default()).await?.items.len()
        + scene.api::<RoleBinding>().list(&ListParams::default()).await?.items.len()
        + scene.api::<LimitRange>().list(&ListParams::default()).await?.items.len()
        + scene.api::<Service>().list(&ListParams::default()).await?.items.len();
    assert_eq!(left, 0);
    let accounts = scene.api::<ServiceAccount>().list(&ListParams::default()).await?.items;
    assert!(accounts.iter().all(|account| !account.name_any().starts_with("object-")), "{}", accounts.len());
    Ok(())
}
