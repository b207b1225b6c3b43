//! The scale of custom objects.

use serde_json::{Value, json};

use super::kinds::{define, definition, object, of_spec};
use crate::harness::both::Both;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scale_is_read_and_written_as_on_the_real_server() {
    let both = Both::start().await;
    let mut version = of_spec(&json!({"type": "object", "properties": {
        "deep": {"type": "object", "properties": {"replicas": {"type": "integer", "maximum": 9}}}, "x": {"type": "string"},
    }}));
    version["schema"]["openAPIV3Schema"]["properties"]["status"] = json!({"type": "object", "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}}});
    version["subresources"] = json!({"status": {}, "scale": {
        "specReplicasPath": ".spec.deep.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector",
    }});
    define(&both, &definition("scaleds", "Scaled", &version)).await;
    let path = "/apis/test.example.com/v1/scaleds";
    both.same("POST", path, &object("Scaled", "none", &json!({"x": "y"}))).await;
    both.same("GET", &format!("{path}/none/scale"), &Value::Null).await;
    both.same("MERGE", &format!("{path}/none/scale"), &json!({"metadata": {"labels": {"a": "b"}}})).await;
    let of = |name: &str, replicas: Value| json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": name}, "spec": {"replicas": replicas}});
    both.same("POST", path, &object("Scaled", "a", &json!({"deep": {"replicas": 2}}))).await;
    let status = json!({"status": {"replicas": 1, "selector": "app=a"}});
    both.same("MERGE", &format!("{path}/a/status"), &status).await;
    let at = format!("{path}/a/scale");
    both.same("GET", &at, &Value::Null).await;
    both.same("PUT", &at, &of("a", json!(3))).await;
    both.same("PUT", &at, &of("a", json!(-1))).await;
    both.same("PUT", &at, &of("a", json!(10))).await;
    both.same("PUT", &at, &of("b", json!(1))).await;
    both.same("MERGE", &at, &json!({"spec": {"replicas": 0}})).await;
    both.same("MERGE", &at, &json!({"spec": {"replicas": 5}})).await;
    both.same("GET", &format!("{path}/a"), &Value::Null).await;
    both.same("MERGE", &format!("{path}/a"), &json!({"spec": {"deep": {"replicas": -3}}})).await;
    both.same("GET", &format!("{path}/missing/scale"), &Value::Null).await;
}
