//! Patches of a Deployment: what each directive does, and what is refused.

use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::{super::Schema, Refused};

fn live() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": "web", "finalizers": ["a", "b"] },
        "spec": {
            "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } },
            "template": { "spec": { "containers": [
                { "name": "one", "image": "1", "args": ["x", "y"], "env": [{ "name": "E", "value": "1" }] },
                { "name": "two", "image": "2" },
            ] } },
        },
    })
}

fn patched(patch: Value) -> Result<Value, Refused> {
    let schema = Schema::builtin(&GroupVersionKind::gvk("apps", "v1", "Deployment")).expect("a schema");
    let Value::Object(patch) = patch else { panic!("no object") };
    schema.strategic_merge(&live(), patch).expect("a built-in kind")
}

fn of_pod(patch: &Value) -> Result<Value, Refused> {
    let patched = patched(json!({ "spec": { "template": { "spec": patch } } }))?;
    Ok(patched["spec"]["template"]["spec"].clone())
}

fn names(pod: &Value) -> String {
    let containers = pod["containers"].as_array().into_iter().flatten();
    containers.map(|one| format!("{}:{} ", one["name"].as_str().unwrap_or("-"), one["image"])).collect()
}

#[test]
fn items_with_a_key_are_merged_and_others_come_first() {
    let pod =
        of_pod(&json!({ "containers": [{ "name": "two", "image": "3" }, { "name": "new", "image": "4" }] }));
    assert_eq!(names(&pod.expect("merged")), "one:\"1\" two:\"3\" new:\"4\" ");
    let pod = of_pod(&json!({ "containers": [{ "name": "one", "args": ["z"], "env": [{ "name": "F" }] }] }));
    let one = pod.expect("merged")["containers"][0].clone();
    assert_eq!(one["args"], json!(["z"]), "a list without a strategy is replaced");
    assert_eq!(one["env"], json!([{ "name": "F" }, { "name": "E", "value": "1" }]));
}

#[test]
fn directives_delete_and_replace() {
    let pod = of_pod(&json!({ "containers": [{ "name": "one", "$patch": "delete" }] })).expect("merged");
    assert_eq!(names(&pod), "two:\"2\" ");
    let pod = of_pod(&json!({ "containers": [{ "name": "x" }, { "$patch": "replace" }] })).expect("merged");
    assert_eq!(names(&pod), "x:null ");
    let patch = json!({ "spec": { "strategy": { "$patch": "replace", "type": "Recreate" } } });
    assert_eq!(patched(patch).expect("merged")["spec"]["strategy"], json!({ "type": "Recreate" }));
    let patch = json!({ "spec": { "strategy": { "$retainKeys": ["type"], "type": "Recreate" } } });
    assert_eq!(patched(patch).expect("merged")["spec"]["strategy"], json!({ "type": "Recreate" }));
    let patch = json!({ "metadata": { "$deleteFromPrimitiveList/finalizers": ["a"] } });
    assert_eq!(patched(patch).expect("merged")["metadata"]["finalizers"], json!(["b"]));
    let patch = json!({ "metadata": { "finalizers": ["c", "a"] } });
    assert_eq!(patched(patch).expect("merged")["metadata"]["finalizers"], json!(["c", "a", "b"]));
}

#[test]
fn an_order_is_kept() {
    let order = json!([{ "name": "two" }, { "name": "one" }]);
    let pod = of_pod(&json!({ "$setElementOrder/containers": order })).expect("merged");
    assert_eq!(names(&pod), "two:\"2\" one:\"1\" ");
    let new = json!([{ "name": "new" }, { "name": "one" }]);
    let pod = of_pod(&json!({ "$setElementOrder/containers": new, "containers": [{ "name": "new" }] }));
    assert_eq!(names(&pod.expect("merged")), "new:null one:\"1\" two:\"2\" ");
}

#[test]
fn what_makes_no_sense_is_refused_with_the_library_s_words() {
    let why = |patch: Value| of_pod(&patch).expect_err("refused");
    let internal = |text: &str| Refused::Internal(text.to_owned());
    assert_eq!(
        why(json!({ "containers": [{ "image": "x" }] })),
        internal("map: map[image:x] does not contain declared merge key: name")
    );
    assert_eq!(
        why(json!({ "containers": [{ "name": "one", "$patch": "turn" }] })),
        internal("unknown patch type: turn in map: map[$patch:turn name:one]")
    );
    let patch = json!({ "spec": { "strategy": { "$retainKeys": ["type"], "rollingUpdate": {} } } });
    assert_eq!(patched(patch), Err(Refused::BadRequest("invalid patch format of retainKeys")));
    assert_eq!(
        why(json!({ "$setElementOrder/containers": [{ "name": "one" }], "containers": [{ "name": "two" }] })),
        internal(
            "The order in patch list:\n[map[name:two]]\n doesn't match $setElementOrder list:\n[map[name:one]]\n"
        )
    );
}
