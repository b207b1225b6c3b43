//! Several mistakes in one object: in its metadata, its spec, its embedded objects, its rules.

use integration_tests::prelude::*;

use super::{Ask, Story, definition, object, path_of};

const REQUESTS: usize = 12;

pub(super) fn story(random: &mut Random, seed: &str) -> Story {
    let kind = "Mistake";
    let [live, other] = ["live", "other"].map(|name| format!("{name}{seed}"));
    let schema = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "string", "maxLength": 3},
        "n": {"type": "integer", "minimum": 0, "x-kubernetes-validations": [{"rule": "self < 5", "message": "too much"}]},
        "mode": {"type": "string", "enum": ["x", "y"]},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "object": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        "replicas": {"type": "integer"},
    }});
    let more = json!({"subresources": {"status": {}, "scale": {
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
    }}});
    let path = path_of(kind);
    let mut asks = vec![
        Ask::new("POST", path.clone(), &object(kind, &live, &json!({"a": "x"}))),
        Ask::new("POST", path.clone(), &object(kind, &other, &json!({"a": "x", "n": 1}))),
    ];
    for _ in 0..REQUESTS {
        let name = random.pick(&[&live, &other]);
        let mut body = object(kind, name, &spec(random));
        metadata(random, &mut body["metadata"]);
        let is_new = random.chance(55);
        asks.push(match random.below(4) {
            _ if is_new => {
                body["metadata"]["name"] =
                    json!(random.pick(&["new", "new", "Bad_Name", "", "a..b", &"x".repeat(260), &live]));
                Ask::new("POST", format!("{path}?dryRun=All"), &body)
            }
            0 => {
                body["metadata"]["name"] = json!("fresh");
                Ask::new("APPLY", format!("{path}/fresh?fieldManager=m&dryRun=All"), &body)
            }
            1 => Ask::new("APPLY", format!("{path}/{name}?fieldManager=m&force=true&dryRun=All"), &body),
            _ => {
                let patch = json!({"metadata": body["metadata"], "spec": body["spec"]});
                Ask::new("MERGE", format!("{path}/{name}?fieldManager=m&dryRun=All"), &patch)
            }
        });
    }
    let definition = definition(kind, &schema, &more);
    Story { definition: Some(definition), is_shared: true, asks }
}

fn spec(random: &mut Random) -> Value {
    let mut spec = json!({});
    if random.chance(70) {
        spec["a"] =
            random.pick(&[json!("x"), json!("x"), json!(1), json!("long text"), json!(["x"]), Value::Null]);
    }
    for (field, values) in [
        ("n", json!([1, -1, 9, "x", 1.5])),
        ("mode", json!(["x", "z", 1])),
        ("set", json!([["a"], ["a", "a"], [1], "a"])),
        ("replicas", json!([1, -1, 3_000_000_000_i64, "x"])),
        (
            "object",
            json!([
                {"apiVersion": "v1", "kind": "A"}, {"kind": "A"}, {"apiVersion": "v1", "kind": "A B"},
                {"apiVersion": "v1", "kind": "A", "metadata": {"labels": {"a b": "c"}, "name": "a/b"}},
            ]),
        ),
    ] {
        if random.chance(35) {
            let values = values.as_array().cloned().unwrap_or_default();
            spec[field] = random.pick(&values);
        }
    }
    spec
}

fn metadata(random: &mut Random, metadata: &mut Value) {
    for (field, values) in [
        ("labels", json!([{"a": "b"}, {"a b": "c"}, {"a": "b c"}, {"a/b/c": ""}])),
        ("annotations", json!([{"a": "b c"}, {"a b": "c"}, {"/x": ""}])),
        ("finalizers", json!([["a/b"], ["a b"], ["orphan", "foregroundDeletion"], ["plain"]])),
        (
            "ownerReferences",
            json!([
                [{"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u"}], [{"apiVersion": "", "kind": "", "name": "", "uid": ""}],
            ]),
        ),
        ("uid", json!(["other"])),
        ("generation", json!([-1, 7])),
    ] {
        if random.chance(22) {
            let values = values.as_array().cloned().unwrap_or_default();
            metadata[field] = random.pick(&values);
        }
    }
}
