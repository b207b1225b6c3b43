//! Events in both forms, and the fields by which Kubernetes' kinds are selected.

use serde_json::{Value, json};

use super::Both;

const NONE: Value = Value::Null;

fn old(name: &str) -> Value {
    json!({
        "metadata": { "name": name },
        "involvedObject": { "kind": "Pod", "name": "a", "namespace": "events" },
        "reason": "R", "message": "m", "type": "Normal", "count": 2,
        "firstTimestamp": "2024-01-01T00:00:00Z", "lastTimestamp": "2024-01-01T00:00:00Z",
        "source": { "component": "c", "host": "h" },
    })
}

fn new(name: &str) -> Value {
    json!({
        "metadata": { "name": name },
        "regarding": { "kind": "Pod", "name": "b", "namespace": "events" },
        "reason": "R", "note": "m", "type": "Normal", "action": "Act",
        "reportingController": "c.io/x", "reportingInstance": "i", "eventTime": "2024-01-01T00:00:00.000000Z",
    })
}

#[tokio::test]
async fn an_event_has_two_forms() {
    let mut both = Both::new("events").await;
    let core = "/api/v1/namespaces/events/events";
    let other = "/apis/events.k8s.io/v1/namespaces/events/events";
    both.ask("POST", core, &old("old")).await;
    both.ask("POST", other, &new("new")).await;
    both.ask("POST", other, &new("old")).await;
    for path in [core, other] {
        for name in ["old", "new"] {
            both.ask("GET", &format!("{path}/{name}"), &NONE).await;
        }
        both.ask("GET", path, &NONE).await;
        for field in [
            "involvedObject.name=a",
            "regarding.name=b",
            "reportingComponent=c.io/x",
            "reportingController!=c.io/x",
            "source=c",
            "source=c.io/x",
            "reason=R,type=Normal",
            "metadata.name=old",
            "note=m",
        ] {
            let field = field.replace('=', "%3D").replace('!', "%21").replace('/', "%2F");
            both.ask("GET", &format!("{path}?fieldSelector={field}"), &NONE).await;
        }
    }
    both.ask("MERGE", &format!("{core}/new"), &json!({ "count": 3 })).await;
    both.ask("GET", &format!("{other}/new"), &NONE).await;
    let series = json!({ "series": { "count": 2, "lastObservedTime": "2024-01-01T00:00:00.000000Z" } });
    both.ask("MERGE", &format!("{other}/new"), &series).await;
    both.ask("GET", &format!("{core}/new"), &NONE).await;
    let apply = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "name": "new" },
        "series": { "count": 3, "lastObservedTime": "2024-01-01T00:00:01.000000Z" },
    });
    both.ask("APPLY", &format!("{other}/new?fieldManager=me"), &apply).await;
    both.ask("APPLY", &format!("{other}/new?fieldManager=me&force=true"), &apply).await;
    both.ask("GET", &format!("{core}/new"), &NONE).await;
    both.ask("DELETE", &format!("{other}/old"), &NONE).await;
    both.ask("GET", &format!("{core}/old"), &NONE).await;
    both.ask("DELETE", core, &NONE).await;
    both.ask("GET", other, &NONE).await;
    both.end();
}

#[tokio::test]
async fn the_fields_of_kinds() {
    let mut both = Both::new("fields").await;
    let pods = "/api/v1/namespaces/fields/pods";
    for (name, network) in [("a", false), ("b", true)] {
        let pod = json!({
            "metadata": { "name": name },
            "spec": { "containers": [{ "name": "c", "image": "i" }], "hostNetwork": network },
        });
        both.ask("POST", pods, &pod).await;
    }
    for (kind, fields) in [
        (
            "pods",
            "spec.hostNetwork=true;spec.hostNetwork=false;spec.host=;status.podIP=;status.nominatedNodeName=;spec.foo=x;status.phase=Pending",
        ),
        ("services", "spec.type=ClusterIP;spec.clusterIP=None;spec.foo=x"),
        ("secrets", "type=Opaque;spec.foo=x"),
        ("configmaps", "metadata.namespace=fields;data=x"),
    ] {
        for field in fields.split(';') {
            let path =
                format!("/api/v1/namespaces/fields/{kind}?fieldSelector={}", field.replace('=', "%3D"));
            both.ask("GET", &path, &NONE).await;
        }
    }
    for field in ["spec.unschedulable=false", "metadata.namespace=x", "status.foo=x"] {
        let path = format!("/api/v1/nodes?fieldSelector={}", field.replace('=', "%3D"));
        both.ask("GET", &path, &NONE).await;
    }
    for (path, field) in [
        ("/apis/batch/v1/namespaces/fields/jobs", "status.successful=0"),
        ("/apis/batch/v1/namespaces/fields/jobs", "status.foo=0"),
        ("/apis/apps/v1/namespaces/fields/replicasets", "status.replicas=0"),
        ("/apis/apps/v1/namespaces/fields/deployments", "status.replicas=0"),
    ] {
        both.ask("GET", &format!("{path}?fieldSelector={}", field.replace('=', "%3D")), &NONE).await;
    }
    both.end();
}
