//! Rules in CEL: what they refuse, with which words, and what an update may leave as it is.

use serde_json::{Value, json};

use super::kinds::{DEFINITIONS, define, definition, object, of_spec};
use crate::harness::both::Both;

pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "replicas": {"type": "integer", "x-kubernetes-validations": [
                {"rule": "self >= 0", "message": "not negative"},
                {"rule": "self <= 10", "messageExpression": "self > 100 ? 'far too many' : 'too many: ' + (self == 11 ? '11' : '')", "reason": "FieldValueForbidden"},
            ]},
            "name": {"type": "string", "maxLength": 20, "x-kubernetes-validations": [
                {"rule": "self == oldSelf", "message": "can't change"},
            ]},
            "once": {"type": "string", "maxLength": 20, "x-kubernetes-validations": [
                {"rule": "!oldSelf.hasValue() || oldSelf.value() == self", "optionalOldSelf": true, "message": "set once"},
            ]},
            "list": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10, "x-kubernetes-validations": [
                {"rule": "self.matches('^[a-z]+$')"},
            ]}, "x-kubernetes-validations": [{"rule": "self.all(x, self.exists_one(y, x == y))", "message": "no duplicates"}]},
            "keyed": {"type": "array", "maxItems": 4, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
                "type": "object", "required": ["name"],
                "properties": {"name": {"type": "string", "maxLength": 5}, "size": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": "!has(self.size) || self.size < 5", "fieldPath": ".size", "reason": "FieldValueInvalid", "message": "too large"},
                    {"rule": "!has(oldSelf.size) || has(self.size) && self.size >= oldSelf.size", "message": "can't shrink"}],
            }},
            "map": {"type": "object", "maxProperties": 3, "additionalProperties": {"type": "string", "maxLength": 5, "x-kubernetes-validations": [
                {"rule": "self != 'bad'"},
            ]}},
            "port": {"x-kubernetes-int-or-string": true, "x-kubernetes-validations": [
                {"rule": "type(self) == int ? self < 100 : self.endsWith('%')", "message": "a port below 100 or a part"},
            ]},
            "at": {"type": "string", "format": "date-time"},
            "lasts": {"type": "string", "format": "duration", "x-kubernetes-validations": [{"rule": "self <= duration('1h')"}]},
            "error": {"type": "integer", "x-kubernetes-validations": [{"rule": "10 / self > 1"}]},
            "size": {"type": "string", "maxLength": 10, "x-kubernetes-validations": [
                {"rule": "isQuantity(self) && quantity(self).isLessThan(quantity('1Gi'))", "message": "less than 1Gi"},
            ]},
            "address": {"type": "string", "maxLength": 40, "x-kubernetes-validations": [
                {"rule": "isIP(self) && cidr('10.0.0.0/8').containsIP(self)"},
            ]},
            "url": {"type": "string", "maxLength": 40, "x-kubernetes-validations": [
                {"rule": "isURL(self) && url(self).getScheme() == 'https'", "message": "https"},
            ]},
            "dns": {"type": "string", "maxLength": 80, "x-kubernetes-validations": [
                {"rule": "!format.dns1123Label().validate(self).hasValue()", "messageExpression": "format.dns1123Label().validate(self).value()[0]"},
            ]},
            "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "x-kubernetes-validations": [{"rule": "has(self.a) != has(self.b)", "message": "exactly one of a and b", "reason": "FieldValueRequired", "fieldPath": ".a"}]},
            "choice": {"type": "string", "enum": ["x", "y"]},
        },
        "x-kubernetes-validations": [
            {"rule": "!has(self.replicas) || !has(self.list) || size(self.list) <= self.replicas", "message": "more items than replicas"},
            {"rule": "!has(self.map) || self.map.all(k, k.size() < 4)"},
        ],
    })
}

pub(crate) fn specs() -> Vec<Value> {
    vec![
        json!({"replicas": 1}),
        json!({"replicas": -1}),
        json!({"replicas": 11}),
        json!({"list": ["a", "b"], "replicas": 1}),
        json!({"list": ["a", "B", "a"]}),
        json!({"keyed": [{"name": "a", "size": 6}, {"name": "b"}]}),
        json!({"map": {"a": "bad", "long-key": "x"}}),
        json!({"port": 100}),
        json!({"port": "5%"}),
        json!({"port": "x"}),
        json!({"lasts": "2h"}),
        json!({"lasts": "30m", "at": "2024-01-01T00:00:00Z"}),
        json!({"error": 0}),
        json!({"error": 20}),
        json!({"size": "2Gi"}),
        json!({"size": "x"}),
        json!({"size": "1M"}),
        json!({"address": "11.0.0.1"}),
        json!({"address": "10.0.0.1"}),
        json!({"url": "http://a.b"}),
        json!({"dns": "A"}),
        json!({"one": {}}),
        json!({"one": {"a": "x", "b": "y"}}),
        json!({"one": {"a": "x"}}),
        json!({"choice": "z", "replicas": -1}),
        json!({"name": "n", "once": "o"}),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_refuse_with_the_same_words() {
    let both = Both::start().await;
    define(&both, &definition("ruleds", "Ruled", &of_spec(&schema()))).await;
    let path = "/apis/test.example.com/v1/ruleds";
    for (at, spec) in specs().iter().enumerate() {
        both.same("POST", path, &object("Ruled", &format!("a{at}"), spec)).await;
    }
    // From each valid object to each other.
    both.same("POST", path, &object("Ruled", "u", &json!({"name": "n", "once": "o"}))).await;
    let at = format!("{path}/u");
    for spec in [
        json!({"name": "m"}),
        json!({"once": "p"}),
        json!({"once": null}),
        json!({"once": "q"}),
        json!({"keyed": [{"name": "a", "size": 3}]}),
        json!({"keyed": [{"name": "a", "size": 2}]}),
        json!({"keyed": [{"name": "b", "size": 1}, {"name": "a", "size": 4}]}),
        json!({"keyed": [{"name": "a"}]}),
        json!({"replicas": 20}),
        json!({"replicas": 2, "list": ["a", "b", "c"]}),
    ] {
        both.same("MERGE", &at, &json!({"spec": spec})).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_invalid_before_and_is_not_changed_is_let_be() {
    let both = Both::start().await;
    let loose = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "integer"}, "other": {"type": "string"},
        "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
            "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}},
        "plain": {"type": "array", "items": {"type": "string"}},
    }});
    let plural = "ratchets";
    define(&both, &definition(plural, "Ratchet", &of_spec(&loose))).await;
    let path = format!("/apis/test.example.com/v1/{plural}");
    let spec = json!({"a": "B", "b": 100, "list": [{"name": "x", "size": 10}, {"name": "y", "size": 1}], "plain": ["A", "b"]});
    both.same("POST", &path, &object("Ratchet", "r", &spec)).await;
    let mut tight = of_spec(&loose);
    let properties = &mut tight["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    properties["a"] = json!({"type": "string", "pattern": "^[a-z]$"});
    properties["b"] =
        json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self < 10", "message": "small"}]});
    properties["list"]["items"]["properties"]["size"] = json!({"type": "integer", "maximum": 5});
    properties["list"]["items"]["x-kubernetes-validations"] =
        json!([{"rule": "self.size < 5", "message": "item"}]);
    properties["plain"]["items"] = json!({"type": "string", "maxLength": 10, "pattern": "^[a-z]$"});
    let change = json!({"spec": {"versions": definition(plural, "Ratchet", &tight)["spec"]["versions"]}});
    let at = format!("{}/{plural}.test.example.com", DEFINITIONS);
    both.pair("MERGE", &at, &change).await;
    // The real server takes a moment: a new object shows when it has arrived.
    let probe = object("Ratchet", "probe", &json!({"a": "B"}));
    let probe_path = format!("{path}?dryRun=All");
    both.until(422, "POST", &probe_path, &probe).await;
    let at = format!("{path}/r");
    for spec in [
        json!({"other": "x"}),
        json!({"a": "C"}),
        json!({"b": 101}),
        json!({"list": [{"name": "y", "size": 2}, {"name": "x", "size": 10}]}),
        json!({"list": [{"name": "y", "size": 2}, {"name": "x", "size": 11}]}),
        json!({"plain": ["A", "b", "c"]}),
        json!({"a": "d", "b": 5}),
    ] {
        both.same("MERGE", &at, &json!({"spec": spec})).await;
    }
}
