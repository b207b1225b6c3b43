//! What can't be changed in an existing object is recognised by what the server does, whatever its refusal says: the object is deleted and
//! created again where the node says so, and only if another one would be accepted.

use super::{listed, served};
use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    api::{DynamicObject, TypeMeta},
    discovery::Scope,
};

/// Rules without words, and with any.
const STONE: &str = r#"
metadata: { name: stones.immutable.example.com }
spec:
  group: immutable.example.com
  scope: Namespaced
  names: { plural: stones, singular: stone, kind: Stone }
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
              a: { type: string, x-kubernetes-validations: [{ rule: self == oldSelf }] }
              b: { type: string, x-kubernetes-validations: [{ rule: self == oldSelf, message: Leave it alone. }] }
              c: { type: string, maxLength: 9, x-kubernetes-validations: [{ rule: self == oldSelf, reason: FieldValueForbidden }] }
"#;

/// Each object in its two states: `(a|b)` is `a` in the first and `b` in the second one. `$` is the namespace,
/// and `@` begins the address of a service.
const CHANGES: &str = r#"
- {apiVersion: v1, kind: Pod, spec: {schedulingGates: [{name: example.com/never}], containers: [{name: a, image: "a"}, {name: "(b|c)", image: "a"}]}}
- {apiVersion: v1, kind: Pod, spec: {schedulingGates: [{name: example.com/never}], tolerations: [{key: "(a|b)"}], containers: [{name: a, image: "a"}]}}
- {apiVersion: v1, kind: Pod, spec: {schedulingGates: [{name: example.com/never}], hostNetwork: (false|true), containers: [{name: a, image: "a"}]}}
- {apiVersion: v1, kind: ConfigMap, immutable: true, data: {a: "(a|b)"}}
- {apiVersion: v1, kind: Secret, immutable: true, stringData: {a: "(a|b)"}}
- {apiVersion: v1, kind: Secret, type: "example.com/(a|b)"}
- {apiVersion: v1, kind: Service, spec: {type: NodePort, clusterIP: @.(77|78), ports: [{port: 80, nodePort: 31977}]}}
- {apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], storageClassName: "(a|b)", resources: {requests: {storage: 1Gi}}}}
- {apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0, selector: {matchLabels: {app: "(a|b)"}}, template: {metadata: {labels: {app: "(a|b)"}}, spec: {containers: [{name: a, image: a}]}}}}
- {apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 0, serviceName: "(a|b)", selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}
- {apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 0, selector: {matchLabels: {app: b}}, template: {metadata: {labels: {app: b}}, spec: {containers: [{name: a, image: a}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: (1|2)Gi}}}}]}}
- {apiVersion: apps/v1, kind: ControllerRevision, revision: 1, data: {a: "(a|b)"}}
- {apiVersion: batch/v1, kind: Job, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: "(a|b)"}]}}}}
- {apiVersion: batch/v1, kind: Job, spec: {suspend: true, completions: (1|2), template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "(a|b)"}}
- {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: immutable-$}, value: (10|11)}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: immutable-$}, provisioner: example.com/none, parameters: {a: "(a|b)"}}
- {apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: immutable-$}, spec: {controller: "example.com/(a|b)"}}
- {apiVersion: immutable.example.com/v1, kind: Stone, spec: {a: "(a|b)"}}
- {apiVersion: immutable.example.com/v1, kind: Stone, spec: {b: "(a|b)"}}
- {apiVersion: immutable.example.com/v1, kind: Stone, spec: {c: "(a|b)"}}
"#;

/// The same with a second mistake, for which another object would be refused as well.
const INVALID: &str = r#"
- {apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0, selector: {matchLabels: {app: "(a|b)"}}, template: {metadata: {labels: {app: "(a|b)"}}, spec: {containers: [{name: a, image: "(a|)"}]}}}}
- {apiVersion: apps/v1, kind: Deployment, spec: {replicas: 0, selector: {matchLabels: {app: "(a|b)"}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}
- {apiVersion: immutable.example.com/v1, kind: Stone, spec: {c: "(a|much too long)"}}
- {apiVersion: immutable.example.com/v1, kind: Stone, spec: {a: "(a|b)", c: "(a|much too long)"}}
- {apiVersion: v1, kind: ConfigMap, data: {"(a|not/a/key)": a}}
"#;

/// The text with the first of each pair, or the second.
fn state(text: &str, second: bool) -> String {
    let mut parts = text.split('(');
    let mut state = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (pair, rest) = part.split_once(')').expect("the end of a pair");
        let (before, after) = pair.split_once('|').expect("two states");
        state.push_str(if second { after } else { before });
        state.push_str(rest);
    }
    state
}

/// A node for each object, and where each of them is.
async fn nodes(
    scene: &Scene,
    changes: &str,
) -> Result<(Workflow<TestResource>, Vec<Api<DynamicObject>>, Vec<String>)> {
    let stone: CustomResourceDefinition = serde_saphyr::from_str(STONE)?;
    scene.cluster.install_crds([stone]).await?;
    let text = changes.replace('$', &scene.namespace).replace('@', "10.96.0");
    let states: [Vec<Value>; 2] =
        [serde_saphyr::from_str(&state(&text, false))?, serde_saphyr::from_str(&state(&text, true))?];
    let (mut workflow, mut apis, mut names) = (Workflow::builder(), Vec::new(), Vec::new());
    let [before, after] = states;
    for (at, (before, after)) in before.into_iter().zip(after).enumerate() {
        let types: TypeMeta = serde_json::from_value(before.clone())?;
        let found = served(&scene.client, &types).await?;
        let (kind, served) = found.with_context(|| format!("no {}", types.kind))?;
        let named = format!("{}-{at}", types.kind.to_lowercase());
        let (before, after) = (listed(before)?, listed(after)?);
        let wanted = move |primary: &TestResource| {
            if primary.spec.value == "first" { before.clone() } else { after.clone() }
        };
        let node = node(wanted).named(named.clone()).kind(kind.clone());
        let node = node.ready_when_applied().recreate_when_immutable();
        let is_cluster_scoped = served.scope == Scope::Cluster;
        names.push(if is_cluster_scoped {
            format!("immutable-{}", scene.namespace)
        } else {
            format!("one-{named}")
        });
        apis.push(match served.scope {
            Scope::Cluster => Api::all_with(scene.client.clone(), &kind),
            Scope::Namespaced => Api::namespaced_with(scene.client.clone(), &scene.namespace, &kind),
        });
        workflow = match is_cluster_scoped {
            true => workflow.nodes((node.cluster_scoped().without_owner(),)),
            false => workflow.nodes((node,)),
        };
    }
    Ok((workflow.build()?, apis, names))
}

#[operator_test]
async fn what_cannot_be_changed_is_created_again_whatever_the_refusal_says() -> Result<()> {
    let scene = Scene::new("immutable").await?;
    for words in ["error looking up service account", "and is created again once it is gone"] {
        scene.failures.allow(words);
    }
    let (workflow, apis, names) = nodes(&scene, CHANGES).await?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let mut before = Vec::new();
    for (api, name) in apis.iter().zip(&names) {
        before.push(api.get(name).await.with_context(|| name.clone())?.uid());
    }
    scene.set("one", "second").await?;
    eventually("another object of each", async || {
        for ((api, name), before) in apis.iter().zip(&names).zip(&before) {
            if api.get_opt(name).await?.is_none_or(|now| now.uid() == *before) {
                return Ok(None);
            }
        }
        Ok(Some(()))
    })
    .await
    .context(format!("{:?}", operator.settled().await?.written()))?;
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await
}

#[operator_test]
async fn what_another_object_would_be_refused_for_deletes_none() -> Result<()> {
    let scene = Scene::new("immutable-invalid").await?;
    scene.failures.allow("nodes failed");
    scene.failures.allow("Invalid");
    let (workflow, apis, names) = nodes(&scene, INVALID).await?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    scene.set("one", "second").await?;
    eventually("a refusal of each", async || {
        let refused = operator.settled().await?.written();
        Ok(refused.iter().any(|write| write.ends_with("-> 422")).then_some(refused))
    })
    .await
    .map(|written| assert!(!written.iter().any(|write| write.starts_with("DELETE")), "{written:?}"))?;
    for (api, name) in apis.iter().zip(&names) {
        assert!(api.get(name).await?.metadata.deletion_timestamp.is_none());
    }
    Ok(())
}
