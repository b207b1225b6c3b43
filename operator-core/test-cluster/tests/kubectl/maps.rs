//! Reading and changing simple objects in every form.

use super::script::{Step, feed, run, watch};

const WITH_UNKNOWN: &str =
    r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"odd"},"dat":{"a":"b"},"extra":[]}"#;
const SECRET: &str = "
apiVersion: v1
kind: Secret
metadata: {name: s, labels: {app: x}}
stringData: {user: me}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
";

const EVENT: &str = "
apiVersion: v1
kind: Event
metadata: {name: one.1}
involvedObject: {apiVersion: v1, kind: ConfigMap, name: one, namespace: maps}
type: Warning
reason: Looked
message: Somebody has looked at it.
source: {component: tests}
firstTimestamp: '2026-01-01T10:00:00Z'
lastTimestamp: '2026-01-01T10:00:00Z'
count: 1
";

pub(crate) fn steps() -> Vec<Step> {
    vec![
        run("get configmaps --field-selector=metadata.name=none"),
        run("create configmap one --from-literal=a=1 --from-literal=b=2"),
        run("create configmap one"),
        run("create configmap two --from-literal=a=1 --dry-run=server"),
        run("create configmap two --from-literal=a=1 --dry-run=client -o yaml"),
        run("create configmap two --from-literal=a=1 -o yaml"),
        run("get configmap one two"),
        run("get configmap one -o wide"),
        run("get configmap one -o yaml"),
        run("get configmap one -o yaml --show-managed-fields"),
        run("get configmap one -o json"),
        run("get configmap one -o jsonpath={.data.a}"),
        run("get configmap one -o name"),
        run(
            "get configmap -o custom-columns=NAME:.metadata.name,A:.data.a --field-selector=metadata.name!=kube-root-ca.crt",
        ),
        run("get configmap one two absent"),
        run("label configmap one app=x"),
        run("label configmap one app=y"),
        run("label configmap one app=y --overwrite"),
        run("label configmap two app=y tier=back"),
        run("get configmaps -l app=y --show-labels"),
        run("get configmaps -l app=y,tier -L tier"),
        run("get configmaps -l 'app in (x,y)' --sort-by=.metadata.name"),
        run("get configmaps -A -l app=y"),
        run("label configmaps -l app=y app-"),
        run("annotate configmap one note=hello"),
        run("annotate configmap one note=other"),
        run("describe configmap one"),
        run("patch configmap one -p '{\"data\":{\"a\":\"3\"}}'"),
        run("patch configmap one -p '{\"data\":{\"a\":\"3\"}}'"),
        run("patch configmap one --type=merge -p '{\"data\":{\"b\":null}}'"),
        run("patch configmap one --type=json -p '[{\"op\":\"add\",\"path\":\"/data/c\",\"value\":\"4\"}]'"),
        run("patch configmap one --type=json -p '[{\"op\":\"test\",\"path\":\"/data/c\",\"value\":\"5\"}]'"),
        run("patch configmap one -p '{\"metadata\":{\"finalizers\":[{}]}}'"),
        run("get configmap one -o yaml"),
        watch(
            "get configmaps --field-selector=metadata.name=one -w -L turn",
            &["label configmap one turn=first", "label configmap one --overwrite turn=last"],
            "last",
        ),
        feed("create -f - --validate=strict", WITH_UNKNOWN),
        feed("create -f - --validate=warn", WITH_UNKNOWN),
        feed("create -f - --validate=ignore", WITH_UNKNOWN),
        feed("apply -f -", SECRET),
        run("get secret,serviceaccount -l app=x"),
        run("describe secret s"),
        run("get secret s -o yaml"),
        run("create secret generic t --from-literal=a=b"),
        run("create serviceaccount robot"),
        feed("create -f -", EVENT),
        run("get events -o wide"),
        run("events"),
        run("events --for=configmap/one"),
        run("describe configmap one"),
        run("create quota q --hard=pods=3,limits.cpu=4"),
        run("get namespace maps -o wide"),
        run("describe namespace maps"),
    ]
}
