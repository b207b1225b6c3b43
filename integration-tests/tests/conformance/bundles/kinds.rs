//! Kinds that concern the whole cluster, and one that becomes another.

use integration_tests::prelude::*;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use operator_core::{BoxError, Objects};

/// The groups that a test's set serves, so that two servers' tests don't meet.
fn group(primary: &TestResource) -> String {
    format!("{}.example.com", primary.namespace().unwrap_or_default())
}

/// What an operator may bring along beside its definitions; nothing of it has an effect here.
fn registered(primary: &TestResource) -> Result<Objects, BoxError> {
    let (group, name) = (group(primary), primary.namespace().unwrap_or_default());
    let webhook = format!(
        "
webhooks:
- name: parts.{group}
  clientConfig: {{ url: 'https://127.0.0.1:1/' }}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules:
  - {{ apiGroups: ['{group}'], apiVersions: [v1], operations: [CREATE], resources: [parts] }}
"
    );
    let mut objects = Objects::from_yaml(&format!(
        "
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {{ name: v1.{group} }}
spec: {{ group: {group}, version: v1, groupPriorityMinimum: 100, versionPriority: 100 }}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {{ name: {name} }}
handler: runc
---
apiVersion: v1
kind: ConfigMap
metadata: {{ name: settings }}
"
    ))?;
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        let head = format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{ name: {name} }}"
        );
        objects.extend(Objects::from_yaml(&format!("{head}{webhook}"))?);
    }
    Ok(objects)
}

#[operator_test]
async fn webhooks_come_first_and_what_serves_a_group_last() -> Result<()> {
    let scene = Scene::new("bundles-registered").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = script.controller().workflow((registered,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "1").await?;
    let kinds = |written: Vec<String>, verb: &str| {
        let of_set =
            written.into_iter().filter(|line| line.starts_with(verb) && !line.contains("testresources/"));
        of_set
            .filter_map(|line| Some(line.split_once(' ')?.1.split_once('/')?.0.to_owned()))
            .collect::<Vec<_>>()
    };
    let mut made = kinds(operator.settled().await?.written(), "PATCH");
    assert_eq!(made.len(), 5, "{:?}", outcomes.lines("one"));
    made[..2].sort_unstable();
    assert_eq!(made[..2], ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]);
    assert_eq!(made[4], "apiservices", "{made:?}");
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()), "{:?}", outcomes.lines("one"));

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    let gone = kinds(operator.settled().await?.written(), "DELETE");
    assert_eq!(gone.last().map(String::as_str), Some("apiservices"), "{gone:?}");
    Ok(())
}

/// A kind whose scope is the primary's value, and an object of it.
fn scoped(primary: &TestResource) -> Result<Objects, BoxError> {
    let (group, scope) = (group(primary), &primary.spec.value);
    Ok(Objects::from_yaml(&format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: parts.{group}
  annotations: {{ operator-core.io/update-policy: recreate }}
spec:
  group: {group}
  scope: {scope}
  names: {{ kind: Part, plural: parts }}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{ openAPIV3Schema: {{ type: object, x-kubernetes-preserve-unknown-fields: true }} }}
---
apiVersion: {group}/v1
kind: Part
metadata: {{ name: part }}
"
    ))?)
}

#[operator_test]
async fn a_kind_changes_its_scope_and_its_objects_follow() -> Result<()> {
    let scene = Scene::new("bundles-scope").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = script.controller().workflow((scoped,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    let kind = GroupVersionKind::gvk(&format!("{}.example.com", scene.namespace), "v1", "Part");
    let kind = ApiResource::from_gvk(&kind);
    scene.create("one", "Namespaced").await?;
    let own: Api<DynamicObject> = Api::namespaced_with(scene.cluster.client()?, &scene.namespace, &kind);
    eventually("a part in the namespace", async || Ok(own.get("part").await.ok())).await?;

    scene.patch("one", json!({ "spec": { "value": "Cluster" } })).await?;
    let of_all: Api<DynamicObject> = Api::all_with(scene.cluster.client()?, &kind);
    let part = eventually("a part of no namespace", async || Ok(of_all.get("part").await.ok())).await?;
    assert_eq!(part.namespace(), None);
    operator.settled().await?;
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()), "{:?}", outcomes.lines("one"));

    scene.delete("one").await?;
    scene.until_gone("one").await?;
    eventually("a healthy operator", async || Ok(operator.unhealthy_sources().await.is_empty().then_some(())))
        .await
}
