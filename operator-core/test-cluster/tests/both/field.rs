//! What definitions and clients in the field have sent, with which the servers once differed; their kinds are searched by the
//! fuzz (`odd`).

use serde_json::{Value, json};

use super::Both;
use crate::definitions::kinds::{DEFINITIONS, served};

const GROUP: &str = "field.example.com";

/// Two servers with a kind whose spec has a schema, and with a namespace that is named after it.
async fn with_kind(kind: &str, spec: &Value, more: &Value) -> (Both, String) {
    let namespace = format!("field-{}", kind.to_lowercase());
    let mut both = Both::new(&namespace).await;
    let plural = format!("{}s", kind.to_lowercase());
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let mut version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    for (field, value) in more.as_object().into_iter().flatten() {
        version[field] = value.clone();
    }
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": {"kind": kind, "plural": plural}, "versions": [version]},
    });
    both.ask_code("POST", DEFINITIONS, &definition).await;
    served(&both, &definition).await;
    (both, format!("/apis/{GROUP}/v1/namespaces/{namespace}/{plural}"))
}

fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn anything() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

#[tokio::test]
async fn a_list_that_preserves_unknown_fields_keeps_those_of_its_items() {
    let known = json!({"type": "object", "properties": {"known": {"type": "string"}}});
    let list =
        |items: Value| json!({"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": items});
    let schema = json!({"type": "object", "properties": {
        "pipelines": list(json!({"type": "object"})),
        "groups": list(json!({"type": "object", "properties": {"a": known}})),
    }});
    let (mut both, path) = with_kind("Pipe", &schema, &json!({})).await;
    let one = json!({"pipelines": [{"id": "main", "config.string": "x"}], "groups": [{"b": 1, "a": {"known": "k", "other": "o"}}]});
    both.ask("POST", &format!("{path}?fieldManager=t"), &object("Pipe", "one", &one)).await;
    let two = object("Pipe", "two", &json!({"pipelines": [{"id": "main"}]}));
    both.ask("APPLY", &format!("{path}/two?fieldManager=t"), &two).await;
    let three = object("Pipe", "three", &json!({"pipelines": [{"id": "main"}]}));
    both.ask("POST", &format!("{path}?fieldValidation=Strict"), &three).await;
    both.end();
}

#[tokio::test]
async fn a_column_with_a_strange_path_is_shown() {
    let columns = json!([
        {"name": "Hosts", "type": "string", "jsonPath": ".spec.http[].hosts"}, {"name": "Plain", "type": "string", "jsonPath": ".spec.plain"},
        {"name": "Wrong", "type": "string", "jsonPath": ".spec.http[x]"}, {"name": "After", "type": "string", "jsonPath": ".spec.plain"},
    ]);
    let (mut both, path) =
        with_kind("Route", &anything(), &json!({"additionalPrinterColumns": columns})).await;
    let spec = json!({"plain": "p", "http": [{"hosts": ["h1", "h2"]}, {"hosts": ["h3"]}]});
    both.ask("POST", &path, &object("Route", "one", &spec)).await;
    both.ask("TABLE", &format!("{path}/one?includeObject=None"), &Value::Null).await;
    both.end();
}

#[tokio::test]
async fn columns_show_what_their_paths_lead_to() {
    let paths = [
        ("string", "...n"),
        ("string", "..spec.n"),
        ("string", ".a|.b"),
        ("string", ".--1"),
        ("string", ".spec.text '\\xc3\\xa4\\377'"),
        ("string", ".spec.text 5"),
        ("integer", ".spec.text 5"),
        ("number", ".spec.text 5.5"),
        ("string", ".spec.text.*"),
        ("integer", ".spec.text.*"),
        ("string", ".spec.mid"),
        ("integer", ".spec.mid"),
        ("number", ".spec.mid"),
        ("string", ".spec.more"),
        ("integer", ".spec.more"),
        ("number", ".spec.more"),
        ("number", ".spec.long"),
        ("string", ".spec.small"),
        ("string", ".spec"),
        ("string", ".spec.list[9223372036854775807]"),
        ("string", ".spec.list[?(range)]"),
        ("string", ".spec.list[?(end)]"),
        ("string", ".spec.list[?(word)]"),
        ("string", ".spec.n} and {.spec.n"),
        ("string", ".spec.n} and {.spec[0]"),
        ("string", ".spec.list[--1]"),
        ("string", ".spec.n"),
    ];
    let columns = |paths: &[(&str, &str)]| {
        let column = |(of, path): &(&str, &str)| json!({"name": path, "type": of, "jsonPath": path});
        json!({"additionalPrinterColumns": paths.iter().map(column).collect::<Value>()})
    };
    let (mut both, path) = with_kind("Led", &anything(), &columns(&paths)).await;
    let spec = json!({
        "text": "t", "n": 3, "list": ["a", "b"], "mid": 12_345_678.5, "more": 1e19, "long": 9_007_199_254_740_993_i64,
        "small": 0.000_012,
    });
    both.ask("POST", &path, &object("Led", "one", &spec)).await;
    both.ask("TABLE", &format!("{path}/one?includeObject=None"), &Value::Null).await;
    both.end();
    // A backslash hides the end of a path.
    let (mut both, path) =
        with_kind("Misled", &anything(), &columns(&[("string", ".spec.n"), ("string", ".spec.n\\")])).await;
    both.ask("POST", &path, &object("Misled", "one", &spec)).await;
    both.ask("TABLE", &format!("{path}/one?includeObject=None"), &Value::Null).await;
    both.end();
}

#[tokio::test]
async fn signs_in_the_keys_of_managed_fields_are_escaped() {
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {
        "args": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "value"],
            "items": {"type": "object", "required": ["name", "value"], "properties": {"name": text, "value": text}},
        },
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
    }});
    let (mut both, path) = with_kind("Args", &schema, &json!({})).await;
    let spec = json!({"args": [{"name": "eviction-hard", "value": "a<0%,b>1&c"}, {"name": "u", "value": "\u{2028}"}], "set": ["x<y"]});
    both.ask("APPLY", &format!("{path}/one?fieldManager=t"), &object("Args", "one", &spec)).await;
    let other =
        json!({"args": [{"name": "eviction-hard", "value": "a<0%,b>1&c"}], "set": ["x<y", "\u{8}\u{7f}"]});
    both.ask("APPLY", &format!("{path}/one?fieldManager=u"), &object("Args", "one", &other)).await;
    both.end();
}

#[tokio::test]
async fn embedded_objects_have_the_metadata_of_any_object() {
    let embedded = json!({
        "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
    });
    let schema = json!({"type": "object", "properties": {"template": embedded}});
    let (mut both, path) = with_kind("Embed", &schema, &json!({})).await;
    for (number, metadata) in [
        json!({"name": "x", "creationTimestamp": null, "annotations": {}}),
        json!({"labels": {"a": 1}}),
        json!(1),
        Value::Null,
        json!({"name": "a/b", "labels": {"a b": "c"}, "namespace": "Not_Valid"}),
        json!({"ownerReferences": [{"x": 1}], "unknown": 1}),
    ]
    .into_iter()
    .enumerate()
    {
        let template = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        let body = object("Embed", &format!("o{number}"), &json!({"template": template}));
        for validation in ["Strict", "Warn"] {
            both.ask("POST", &format!("{path}?fieldValidation={validation}"), &body).await;
        }
    }
    both.end();
}

#[tokio::test]
async fn an_owner_that_is_named_twice_is_named_once() {
    let mut both = Both::new("field-owners").await;
    let maps = "/api/v1/namespaces/field-owners/configmaps";
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u1"});
    let owners = json!({"ownerReferences": [owner, owner]});
    let mut map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": owners});
    map["metadata"]["name"] = json!("c");
    both.ask("POST", &format!("{maps}?dryRun=All"), &map).await;
    both.ask("POST", maps, &json!({"metadata": {"name": "c"}})).await;
    both.ask("PUT", &format!("{maps}/c"), &map).await;
    both.ask("MERGE", &format!("{maps}/c"), &json!({"metadata": owners})).await;
    both.end();
}

#[tokio::test]
async fn a_wrong_name_and_a_wrong_field_are_told_together() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}});
    let (both, path) = with_kind("Named", &schema, &json!({})).await;
    both.same("POST", &path, &object("Named", "Bad_Name", &json!({"a": 1}))).await;
    let mut labelled = object("Named", "one", &json!({}));
    labelled["metadata"]["labels"] = json!({"a b": "c"});
    both.same("POST", &path, &labelled).await;
}

#[tokio::test]
async fn deep_and_odd_json_is_read_alike() {
    let (mut both, path) = with_kind("Open", &anything(), &json!({})).await;
    let head = |name: &str| {
        format!("\"apiVersion\":\"{GROUP}/v1\",\"kind\":\"Open\",\"metadata\":{{\"name\":\"{name}\"}}")
    };
    let deep = format!("{{{},\"spec\":{}1{}}}", head("deep"), "{\"a\":".repeat(300), "}".repeat(300));
    both.ask_code("POST", &path, &deep.into()).await;
    for (number, text) in [
        r#""\ud83d""#,
        r#""\ud83d\ude00""#,
        "18446744073709551616",
        "9223372036854775808",
        "1e400",
        "[1,]",
        "'x'",
    ]
    .iter()
    .enumerate()
    {
        let body = format!("{{{},\"spec\":{{\"x\":{text}}}}}", head(&format!("o{number}")));
        both.ask("POST", &path, &body.clone().into()).await;
        both.ask("APPLY", &format!("{path}/a{number}?fieldManager=t"), &body.replace("\"o", "\"a").into())
            .await;
    }
    both.ask("POST", &path, &object("Open", "live", &json!({"l": [1], "o": {"x": 1}}))).await;
    let patch = json!({"spec": {"l": [null, {"a": null}], "o": [{"a": null}], "n": [{"a": null}]}});
    both.ask("MERGE", &format!("{path}/live"), &patch).await;
    for patch in [
        r#"[{"op":"add","path":"x/spec/l","value":1}]"#,
        r#"[{"op":"add","path":"spec","value":1}]"#,
        r#"[{"op":"add","path":"","value":1}]"#,
        r#"[{"op":"add","path":"/spec/l","value":1,"value":2,"other":1,"op":"add"}]"#,
        r#"[{"op":"copy","from":"x/spec/l","path":"/spec/m","Op":1}]"#,
    ] {
        both.ask("JSON", &format!("{path}/live?dryRun=All"), &patch.into()).await;
    }
    for body in [r#"{"kind":"Open","metadata":{"name":"n"}}"#, r#"{"apiVersion":"","kind":"Open"}"#, "{}"] {
        both.ask("POST", &path, &body.into()).await;
    }
    for text in ["nul", "-", "1.", "1e", "\"", "\"\\", "\"\\u12", "[", "{\"a\"", "tru"] {
        both.ask("MERGE", &format!("{path}/live"), &format!("{{\"spec\":{text}").into()).await;
    }
    let lines = format!("\n  {{{},\"spec\":{{\"a\":1,\"a\":2}}}}", head("lines"));
    both.ask("POST", &path, &lines.into()).await;
    both.end();
}

#[tokio::test]
async fn a_body_of_a_kind_of_kubernetes_is_refused_by_the_types_of_its_fields() {
    let mut both = Both::new("field-typed").await;
    let maps = "/api/v1/namespaces/field-typed/configmaps?dryRun=All";
    let map = |kind: &str, data: &str| -> Value {
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"{kind}\",\"metadata\":{{\"name\":\"m\"}},\"data\":{data}}}"
        )
        .into()
    };
    for data in [
        "{\"x\":1e400}",
        "{\"x\":[1e400]}",
        "{\"x\":\"a\",\"x\":\"b\"}",
        "{\"x\":{\"a\":1,\"a\":2}}",
        "{\"x\":\"a\"},\"unknown\":1e400",
    ] {
        for validation in ["Warn", "Strict"] {
            let path = format!("{maps}&fieldValidation={validation}");
            both.ask("POST", &path, &map("ConfigMap", data)).await;
        }
    }
    for kind in ["Secret", "Nothing", "Config,Map"] {
        both.ask("POST", maps, &map(kind, "{}")).await;
    }
    both.end();
}

#[tokio::test]
async fn quantities_are_written_as_they_came_or_in_one_form() {
    let mut both = Both::new("field-amounts").await;
    let deployments = "/apis/apps/v1/namespaces/field-amounts/deployments?dryRun=All";
    for amount in [
        "1E3",
        "+1",
        "5.",
        "16Ei",
        "1e30",
        " 1",
        "1 ",
        "1ki",
        "1000E",
        "12345678901234567890",
        "0.0000000001",
        "",
        "Ki",
        "Ei",
        ".Ei",
        "-.Ei",
        "9223372036854775807e99",
        "1234567890123456788e99",
    ] {
        let container = json!({"name": "c", "image": "i", "resources": {"limits": {"memory": amount}}});
        let body = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}},
        }});
        both.ask("POST", deployments, &body).await;
    }
    both.end();
}

#[tokio::test]
async fn a_whole_number_with_a_point_counts_as_a_change() {
    let (mut both, path) = with_kind("Whole", &anything(), &json!({})).await;
    both.ask("POST", &format!("{path}?fieldManager=t"), &object("Whole", "whole", &json!({"n": 1}))).await;
    for _ in 0..2 {
        let patch = Value::from(r#"{"spec":{"n":1.0}}"#);
        both.ask("MERGE", &format!("{path}/whole?fieldManager=m"), &patch).await;
    }
    both.end();
}

#[tokio::test]
async fn an_integer_with_a_point_is_a_float_unless_it_is_applied() {
    let rule = |rule: &str| json!([{"rule": rule, "message": "too much"}]);
    let integer = json!({"type": "integer"});
    let schema = json!({"type": "object", "properties": {
        "i": integer, "n": {"type": "number"}, "either": {"x-kubernetes-int-or-string": true},
        "ruled": {"type": "integer", "x-kubernetes-validations": rule("self < 50")},
        "eitherRuled": {"x-kubernetes-int-or-string": true, "x-kubernetes-validations": rule("self == 1 || self == 'x'")},
        "list": {"type": "array", "maxItems": 5, "items": integer, "x-kubernetes-validations": rule("self.all(x, x < 50)")},
        "some": {"type": "integer", "enum": [1, 2]}, "rest": {"type": "number", "enum": [1, 1_234_567.5]},
        "even": {"type": "integer", "multipleOf": 2}, "times": {"type": "number", "multipleOf": 1_000_000.5},
        "most": {"type": "integer", "maximum": 5}, "limit": {"type": "number", "maximum": 2_000_000.5},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "number"}},
        "map": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": integer}},
        },
    }});
    let (mut both, path) = with_kind("Pointed", &schema, &json!({})).await;
    let one = object("Pointed", "one", &json!({"i": 1, "n": 1, "either": 1}));
    both.ask("POST", &format!("{path}?fieldManager=t"), &one).await;
    for spec in [
        r#"{"i":1.0}"#,
        r#"{"i":1e16}"#,
        r#"{"i":9223372036854775808}"#,
        r#"{"i":18446744073709551615}"#,
        r#"{"n":1.0}"#,
        r#"{"n":9223372036854775808}"#,
        r#"{"n":9223372036854775808.0}"#,
        r#"{"either":1.0}"#,
        r#"{"either":1e15}"#,
        r#"{"either":9223372036854775808}"#,
        r#"{"either":1e21}"#,
        r#"{"ruled":1.0}"#,
        r#"{"eitherRuled":1.0}"#,
        r#"{"list":[1,2.0]}"#,
        r#"{"some":1.0}"#,
        r#"{"rest":1.0}"#,
        r#"{"rest":1234567.25}"#,
        r#"{"even":2.0}"#,
        r#"{"even":3.0}"#,
        r#"{"times":1234567.25}"#,
        r#"{"most":6.0}"#,
        r#"{"limit":12345678.5}"#,
        r#"{"limit":1e15}"#,
        r#"{"set":[1,1.0]}"#,
        r#"{"map":[{"k":1},{"k":1.0}]}"#,
    ] {
        let whole = format!(
            r#"{{"apiVersion":"{GROUP}/v1","kind":"Pointed","metadata":{{"name":"one"}},"spec":{spec}}}"#
        );
        let apply = format!("{path}/one?fieldManager=a&force=true&dryRun=All");
        both.ask("APPLY", &apply, &whole.into()).await;
        both.ask("MERGE", &format!("{path}/one?fieldManager=m"), &format!("{{\"spec\":{spec}}}").into())
            .await;
    }
    both.end();
}

/// To an apply, two integers that are one float are the same.
#[tokio::test]
async fn an_apply_of_a_neighbour_of_a_large_integer_changes_nothing() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "number"}, "either": {"x-kubernetes-int-or-string": true}}});
    let (mut both, path) = with_kind("Large", &schema, &json!({})).await;
    let one = object("Large", "one", &json!({"n": i64::MAX, "either": i64::MAX}));
    both.ask("POST", &format!("{path}?fieldManager=t"), &one).await;
    for spec in ["{\"n\":9223372036854775808}", "{\"either\":9223372036854775808}"] {
        let whole = format!(
            r#"{{"apiVersion":"{GROUP}/v1","kind":"Large","metadata":{{"name":"one"}},"spec":{spec}}}"#
        );
        both.ask("APPLY", &format!("{path}/one?fieldManager=a&force=true"), &whole.into()).await;
    }
    both.end();
}

#[tokio::test]
async fn addresses_in_rules_are_those_of_go() {
    let rule = json!([{"rule": "isURL(self)", "message": "no URL"}]);
    let part = |part: &str| {
        let rule = json!([{"rule": "!isURL(self)", "messageExpression": format!("url(self).{part}()")}]);
        json!({"type": "string", "maxLength": 50, "x-kubernetes-validations": rule})
    };
    let schema = json!({"type": "object", "properties": {
        "u": {"type": "string", "x-kubernetes-validations": rule}, "name": part("getHostname"), "port": part("getPort"),
    }});
    let (mut both, path) = with_kind("Url", &schema, &json!({})).await;
    for text in [
        "http://#%blah$#@",
        "http://#@",
        "http://%41",
        "http://a%20b/",
        "http://user:p%zz@x/",
        "http://u ser@x/",
        "http://x/%zz",
        "http://x:1:2/",
        "http://x/#%zz",
        "https://user:p%20w@[::1]:443/a?b#c",
    ] {
        both.ask("POST", &format!("{path}?dryRun=All"), &object("Url", "one", &json!({"u": text}))).await;
    }
    for text in ["ftp://::1:1:2/", "ftp://::1/a", "postgres://x:1:2/a", "ftp://[::1]:80/", "ftp://x/"] {
        for field in ["name", "port"] {
            both.ask("POST", &format!("{path}?dryRun=All"), &object("Url", "one", &json!({field: text})))
                .await;
        }
    }
    both.end();
}

#[tokio::test]
async fn the_template_of_a_cron_job_has_the_defaults_of_its_policies() {
    let mut both = Both::new("field-crons").await;
    let rules = json!([{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]);
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]});
    let job = json!({"podFailurePolicy": {"rules": rules}, "template": {"spec": pod}});
    let body = json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "c"},
        "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": job}},
    });
    both.ask("POST", "/apis/batch/v1/namespaces/field-crons/cronjobs?dryRun=All", &body).await;
    both.end();
}

#[tokio::test]
async fn the_source_of_a_volume_stays() {
    let mut both = Both::new("field-volumes").await;
    let volumes = "/api/v1/persistentvolumes";
    let spec =
        json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}});
    let body =
        json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "field"}, "spec": spec});
    both.ask("POST", volumes, &body).await;
    for change in [
        json!({"hostPath": {"path": "/b"}}),
        json!({"hostPath": null, "nfs": {"server": "s", "path": "/p"}}),
        json!({"nfs": {"server": "s", "path": "/p"}}),
        json!({"volumeMode": "Block"}),
        json!({"capacity": {"storage": "2Gi"}}),
    ] {
        both.ask("MERGE", &format!("{volumes}/field"), &json!({"spec": change})).await;
    }
    // Labels of nodes may get their newer names, and not the older ones.
    let affinity = |key: &str| {
        let requirement = json!({"key": key, "operator": "In", "values": ["x"]});
        json!({"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}}}})
    };
    let (older, newer) = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
    for key in [older, older, newer, newer, older] {
        both.ask("MERGE", &format!("{volumes}/field"), &affinity(key)).await;
    }
    both.end();
}
