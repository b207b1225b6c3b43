//! What nobody has changed is written once, whatever zeros, empty maps and defaults are in it: `untouched.yaml` has what operators write of
//! each kind.

use super::{listed, served};
use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{api::TypeMeta, discovery::Scope};

const WAY: &str = r#"
metadata: { name: ways.untouched.example.com }
spec:
  group: untouched.example.com
  scope: Namespaced
  names: { plural: ways, singular: way, kind: Way }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              rules: { type: array, items: { type: object, properties: { to: { type: string }, weight: { type: integer, default: 1 } } } }
              empty: { type: object, properties: { a: { type: string, default: b } } }
              free: { type: object, x-kubernetes-preserve-unknown-fields: true }
              port: { x-kubernetes-int-or-string: true }
              size: { type: integer, default: 3 }
          status: { type: object }
"#;

/// A node for each object whose kind the server has; the kinds that it doesn't have.
async fn nodes(scene: &Scene, applies: bool) -> Result<(Workflow<TestResource>, usize, BTreeSet<String>)> {
    let way: CustomResourceDefinition = serde_saphyr::from_str(WAY)?;
    scene.cluster.install_crds([way]).await?;
    let objects: Vec<Value> =
        serde_saphyr::from_str(&include_str!("untouched.yaml").replace('$', &scene.namespace))?;
    let (mut workflow, mut number, mut lacking) = (Workflow::builder(), 0, BTreeSet::new());
    for (at, object) in objects.into_iter().enumerate() {
        let types: TypeMeta = serde_json::from_value(object.clone())?;
        let Some((kind, served)) = served(&scene.client, &types).await? else {
            lacking.insert(types.kind);
            continue;
        };
        let named = format!("{}-{at}", types.kind.to_lowercase());
        let object = listed(object).context(named.clone())?;
        let node = node(move |_: &TestResource| object.clone()).named(named).kind(kind);
        let node = node.ready_when_applied().use_ssa(applies);
        workflow = match served.scope {
            Scope::Cluster => workflow.nodes((node.cluster_scoped().without_owner(),)),
            Scope::Namespaced => workflow.nodes((node,)),
        };
        number += 1;
    }
    Ok((workflow.build()?, number, lacking))
}

/// The writes that the server took, without those of the primary.
fn taken(written: Vec<String>) -> Vec<String> {
    let is_taken = |write: &String| write.contains("-> 20") && !write.contains(" testresources/");
    written.into_iter().filter(is_taken).collect()
}

async fn untouched(name: &str, applies: bool) -> Result<()> {
    let scene = Scene::new(name).await?;
    // The account of the pods may come a moment later than its namespace.
    scene.failures.allow("error looking up service account");
    if !applies {
        // Its controller writes as long as the Deployment is being made.
        scene.failures.allow("the object has been modified");
    }
    let (workflow, number, lacking) = nodes(&scene, applies).await?;
    let is_real = scene.cluster.control_plane().is_ok();
    assert!(if is_real { lacking.is_empty() } else { number >= 38 }, "{number}, without {lacking:?}");
    let script = Script::idle();
    let operator = scene.start(scene.managed(&script, &workflow).generation_aware(false)).await?;
    scene.create("one", "first").await?;
    let mut made = Vec::new();
    // Until its controllers have made a Deployment, each of their writes triggers a run.
    scene
        .until_other("the making of the Deployment", "making", |made: &Deployment| {
            made.status.as_ref().is_some_and(|status| status.replicas == Some(2))
        })
        .await?;
    made.extend(taken(operator.settled().await?.written()));
    if applies {
        let again: Vec<_> = made.iter().filter(|write| !write.ends_with("-> 201")).collect();
        assert!(again.is_empty(), "each is written once: {again:?}");
        assert_eq!(made.len(), number, "{made:?}");
    }
    for round in ["second", "third"] {
        scene.patch("one", json!({ "metadata": { "labels": { "round": round } } })).await?;
        let settled = operator.settled().await?;
        assert!(settled.runs_of(&scene.key("one")) > 0);
        assert_eq!(settled.written(), [""; 0], "the {round} run");
    }
    // What has no namespace would stay on a shared server.
    scene.delete("one").await?;
    scene.until_gone("one").await
}

#[operator_test]
async fn what_nobody_has_changed_is_applied_once() -> Result<()> {
    untouched("untouched-applied", true).await
}

#[operator_test]
async fn what_nobody_has_changed_is_replaced_once_at_most() -> Result<()> {
    untouched("untouched-replaced", false).await
}
