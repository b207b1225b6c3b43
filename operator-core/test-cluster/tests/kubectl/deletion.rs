//! Deletion: finalizers, owners, and waiting.

use super::script::{Step, feed, run, until};

const OWNER: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [example.com/hold]}
";
const SET: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec: {containers: [{name: main, image: 'shop:1'}]}
";

pub(crate) fn steps() -> Vec<Step> {
    vec![
        feed("create -f -", OWNER),
        run("delete configmap held --wait=false"),
        run("delete configmap held --timeout=1s"),
        run("get configmap held"),
        run("wait configmap/held --for=delete --timeout=1s"),
        run("patch configmap held --type=merge -p '{\"metadata\":{\"finalizers\":null}}'"),
        run("wait configmap/held --for=delete --timeout=30s"),
        run("get configmap held"),
        run("delete configmap held"),
        run("delete configmap held --ignore-not-found"),
        run("create configmap a"),
        run("create configmap b"),
        run("delete configmap a b --dry-run=server"),
        run("delete configmap a b -o name"),
        feed("create -f -", SET),
        until("get replicasets -l app=shop -o name", "replicaset"),
        run("delete deployment shop --cascade=orphan"),
        run("get replicasets -l app=shop -o jsonpath={.items[*].metadata.ownerReferences}"),
        run("delete replicasets -l app=shop --cascade=foreground -o name"),
        until("get replicasets -l app=shop", "No resources"),
        run("create namespace gone"),
        run("delete namespace gone"),
        run("get namespace gone"),
    ]
}
