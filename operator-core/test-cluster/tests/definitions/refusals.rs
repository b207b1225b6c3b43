//! Definitions that are refused, and with which causes.

use serde_json::{Value, json};

use super::kinds::{DEFINITIONS, definition, of_spec};
use crate::harness::both::{Answer, Both, pretty};

/// Schemas of a field with what is wrong with each.
fn schemas() -> Vec<Value> {
    let rule = |rule: &str| json!([{"rule": rule}]);
    let of = |rules: Value| json!({"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string", "maxLength": 10}}, "x-kubernetes-validations": rules});
    vec![
        json!({}),
        json!({"type": "unknown"}),
        json!({"type": "array"}),
        json!({"type": "array", "items": {}}),
        json!({"type": "object", "properties": {"a": {}}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
        json!({"type": "string", "pattern": "["}),
        json!({"type": "string", "pattern": "(?=a)"}),
        json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}}),
        json!({"type": "string", "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "x-kubernetes-list-type": "bag", "items": {"type": "string"}}),
        json!({"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}),
        json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": {"type": "object", "properties": {"a": {"type": "string"}}}}),
        json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["b"], "items": {"type": "object", "properties": {"a": {"type": "string"}}}}),
        json!({"type": "array", "x-kubernetes-list-map-keys": ["a"], "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}}),
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}),
        json!({"type": "array", "x-kubernetes-map-type": "atomic", "items": {"type": "string"}}),
        json!({"type": "object", "x-kubernetes-map-type": "loose"}),
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false}),
        json!({"type": "object", "x-kubernetes-embedded-resource": true}),
        json!({"type": "string", "x-kubernetes-embedded-resource": true}),
        json!({"x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "string", "default": 1}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "default": {"b": 1}}),
        json!({"type": "string", "enum": ["a"], "default": "b"}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"], "type": "object"}, {"properties": {"b": {"minLength": 1}}}]}),
        json!({"type": "object", "oneOf": [{"properties": {"b": {"type": "string", "description": "x"}}}]}),
        of(rule("self.missing == 1")),
        of(rule("self.n == 'a'")),
        of(rule("self.n")),
        of(rule("foo(self.n) && self.n.bar()")),
        of(rule("self.s.matches('[')")),
        of(rule("")),
        of(json!([{"rule": "self.n > 0", "message": " "}])),
        of(json!([{"rule": "self.n > 0", "message": "a\nb"}])),
        of(json!([{"rule": "self.n\n> 0"}])),
        of(json!([{"rule": "self.n > 0", "messageExpression": "self.n"}])),
        of(json!([{"rule": "self.n > 0", "messageExpression": "self.x"}])),
        of(json!([{"rule": "self.n > 0", "reason": "Other"}])),
        of(json!([{"rule": "self.n > 0", "fieldPath": ".x"}])),
        of(json!([{"rule": "self.n > 0", "optionalOldSelf": true}])),
        of(rule("[1, 'a'].size() == 2")),
        of(rule("self.n.size() == 1")),
        of(rule("has(self.n.x)")),
        of(rule("self.all(x, true)")),
        json!({"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10, "x-kubernetes-validations": rule("self == oldSelf")}}),
    ]
}

/// Schemas with rules that are taken.
fn taken() -> Vec<Value> {
    let rule = |rule: &str| json!([{"rule": rule}]);
    vec![
        json!({"type": "array", "maxItems": 16, "items": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 253}}},
            "x-kubernetes-validations": rule("self.all(a, self.exists_one(b, a.name == b.name))")}),
        json!({"type": "string", "maxLength": 1000, "x-kubernetes-validations": rule("self.matches('^[a-z]+$')")}),
        json!({"type": "object", "maxProperties": 100, "additionalProperties": {"type": "string", "maxLength": 100},
            "x-kubernetes-validations": rule("self.all(k, k.size() < 10 && self[k].size() < 10)")}),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_are_refused_with_the_same_causes() {
    let both = Both::start().await;
    let mut differences = Vec::new();
    let path = format!("{DEFINITIONS}?dryRun=All");
    let mut compare = async |shown: &Value, body: &Value| {
        let (real, model) = both.pair("POST", &path, body).await;
        let part = |answer: &Answer| (answer.0, answer.1["message"].clone(), answer.1["details"].clone());
        if part(&real) != part(&model) {
            let only = |answer: &Answer| {
                if answer.0 == 201 { "201".to_owned() } else { pretty(answer) }
            };
            differences.push(format!("{shown}\n--- real {}\n--- model {}", only(&real), only(&model)));
        }
    };
    for spec in schemas().iter().chain(&taken()) {
        compare(spec, &definition("wrongs", "Wrong", &of_spec(spec))).await;
    }
    let plain = of_spec(
        &json!({"type": "object", "properties": {"replicas": {"type": "integer"}, "s": {"type": "string"}}}),
    );
    let version = |word: &str, value: Value| {
        let mut version = plain.clone();
        version[word] = value;
        version
    };
    for changed in [
        version("name", json!("V1")),
        version("deprecationWarning", json!("old")),
        version(
            "additionalPrinterColumns",
            json!([{"name": "", "type": "text", "jsonPath": "x"}, {"name": "a", "type": "string", "jsonPath": ".a", "format": "x"}]),
        ),
        version(
            "subresources",
            json!({"scale": {"specReplicasPath": ".status.a", "statusReplicasPath": "status.b", "labelSelectorPath": ".a"}}),
        ),
        version(
            "selectableFields",
            json!([{"jsonPath": ".spec.missing"}, {"jsonPath": ".spec"}, {"jsonPath": ".metadata.name"}, {"jsonPath": ".spec.s"}, {"jsonPath": ".spec.s"}]),
        ),
        version(
            "subresources",
            json!({"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}),
        ),
    ] {
        compare(&changed, &definition("wrongs", "Wrong", &changed)).await;
    }
    for (pointer, value) in [
        ("/spec/group", json!("nodots")),
        ("/spec/scope", json!("World")),
        ("/spec/names/kind", json!("Wrong Kind")),
        ("/spec/names/listKind", json!("Wrong")),
        ("/spec/names/shortNames", json!(["A"])),
        ("/spec/names/categories", json!(["a b"])),
        ("/metadata/name", json!("other.test.example.com")),
    ] {
        let mut body = definition("wrongs", "Wrong", &plain);
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        body.pointer_mut(parent).unwrap()[field] = value.clone();
        compare(&json!({pointer: value}), &body).await;
    }
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
}
