//! Values of custom objects: patterns, formats, limits, alternatives, and what is ratcheted.

use serde_json::{Value, json};

use super::kinds::{define, definition, object, of_spec};
use crate::harness::both::{Answer, Both};

fn text(words: &Value) -> Value {
    let mut schema = json!({"type": "string"});
    for (word, value) in words.as_object().unwrap() {
        schema[word] = value.clone();
    }
    schema
}

pub(crate) fn schema() -> Value {
    let formats = [
        "uri",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "cidr",
        "mac",
        "uuid",
        "uuid3",
        "uuid4",
        "uuid5",
        "isbn",
        "isbn10",
        "isbn13",
        "creditcard",
        "ssn",
        "hexcolor",
        "rgbcolor",
        "byte",
        "password",
        "date",
        "duration",
        "date-time",
        "datetime",
        "bsonobjectid",
        "k8s-short-name",
        "k8s-long-name",
        "unknown",
    ];
    let mut properties = json!({
        "pattern": text(&json!({"pattern": r"^[\w.-]+\d$"})),
        "short": text(&json!({"minLength": 2, "maxLength": 4, "pattern": "^a"})),
        "choice": text(&json!({"enum": ["a", "b"]})),
        "multiple": {"type": "integer", "multipleOf": 5, "minimum": 10, "maximum": 100, "exclusiveMaximum": true},
        "part": {"type": "number", "multipleOf": 0.5, "minimum": -1.5, "exclusiveMinimum": true},
        "small": {"type": "integer", "format": "int32"},
        "large": {"type": "integer", "format": "int64"},
        "float": {"type": "number", "format": "float"},
        "flag": {"type": "boolean"},
        "either": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "^[0-9]+%$"},
        "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "format": "ipv4"}},
        "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
            "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "size": {"type": "integer", "maximum": 5}},
        }},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": {"type": "string", "maxLength": 3}},
        "one": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "any": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            "anyOf": [{"required": ["a"], "properties": {"a": {"pattern": "^x"}}}, {"properties": {"b": {"minimum": 3}}, "required": ["b"]}]},
        "all": {"type": "integer", "allOf": [{"minimum": 3}, {"maximum": 5}]},
        "not": {"type": "string", "not": {"enum": ["x"]}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "known": {"type": "object", "properties": {"a": {"type": "integer"}}},
        }},
        "embedded": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        "nullable": {"type": "string", "nullable": true},
    });
    for format in formats {
        properties[format] = text(&json!({"format": format}));
    }
    json!({"type": "object", "properties": properties, "required": ["pattern"]})
}

/// Values of each field, valid and not.
pub(crate) fn cases() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("pattern", vec![json!("a_1"), json!("a b1"), json!("ä1"), json!(1), json!(""), json!([])]),
        ("short", vec![json!("ab"), json!("a"), json!("äöü€x"), json!("bc"), json!(null)]),
        ("choice", vec![json!("a"), json!("c"), json!(1)]),
        (
            "multiple",
            vec![json!(10), json!(12), json!(5), json!(100), json!(10.0), json!(10.5), json!("x"), json!(7)],
        ),
        ("part", vec![json!(1), json!(0.5), json!(0.3), json!(-1.5), json!(-2)]),
        (
            "small",
            vec![
                json!(2147483647),
                json!(2147483648_i64),
                json!(-2147483649_i64),
                json!("1"),
                json!(1.5),
                json!(true),
            ],
        ),
        ("large", vec![json!(9223372036854775807_i64), json!(true), json!({})]),
        ("float", vec![json!(1), json!(1e39), json!("1")]),
        ("flag", vec![json!(true), json!("true"), json!(0)]),
        ("either", vec![json!(1), json!("5%"), json!("x"), json!(true), json!(1.5)]),
        (
            "list",
            vec![
                json!(["10.0.0.1"]),
                json!([]),
                json!(["1.1.1.1", "x", "2.2.2.2"]),
                json!([null]),
                json!("x"),
            ],
        ),
        (
            "keyed",
            vec![
                json!([{"name": "a"}, {"name": "a"}]),
                json!([{"name": "a", "size": 6}]),
                json!([{}]),
                json!(["x"]),
            ],
        ),
        ("set", vec![json!(["a", "b", "a", "a"]), json!(["a"])]),
        (
            "map",
            vec![
                json!({}),
                json!({"a": "b"}),
                json!({"a": "b", "c": "d", "e": "f"}),
                json!({"a": "long"}),
                json!({"a": 1}),
            ],
        ),
        ("one", vec![json!({}), json!({"a": "x"}), json!({"a": "x", "b": 1}), json!({"a": 1})]),
        (
            "any",
            vec![json!({}), json!({"a": "y"}), json!({"a": "x"}), json!({"b": 2}), json!({"a": "y", "b": 2})],
        ),
        ("all", vec![json!(2), json!(4), json!(6)]),
        ("not", vec![json!("x"), json!("y")]),
        (
            "free",
            vec![
                json!({"x": {"y": [1, {"z": null}]}, "known": {"a": 1, "gone": 2}}),
                json!({"known": {"a": "x"}}),
            ],
        ),
        (
            "embedded",
            vec![
                json!({"apiVersion": "v1", "kind": "Pod", "spec": {"x": 1}, "metadata": {"name": "a"}}),
                json!({}),
                json!({"apiVersion": "", "kind": "1x"}),
                json!({"apiVersion": "a/b/c", "kind": "Pod"}),
            ],
        ),
        ("nullable", vec![json!(null), json!("x"), json!(1)]),
        (
            "uri",
            vec![
                json!("https://a.b/c?d"),
                json!("a b"),
                json!("/x"),
                json!(""),
                json!(1),
                json!([]),
                json!("http://[::1]:a"),
            ],
        ),
        ("email", vec![json!("a@b.c"), json!("A <a@b.c>"), json!("a"), json!("a@"), json!("a b@c.d")]),
        (
            "hostname",
            vec![json!("a.example.com"), json!("-a"), json!("a_b"), json!("a.b-.c"), json!("example.1com")],
        ),
        ("ipv4", vec![json!("10.0.0.1"), json!("010.0.0.1"), json!("::1"), json!("1.2.3"), json!(5)]),
        ("ipv6", vec![json!("::1"), json!("1.2.3.4"), json!("::ffff:1.2.3.4"), json!("fe80::1%eth0")]),
        ("cidr", vec![json!("10.0.0.0/8"), json!("10.0.0.1"), json!("::/0"), json!("10.0.0.0/33")]),
        (
            "mac",
            vec![
                json!("01:23:45:67:89:ab"),
                json!("01-23-45-67-89-ab"),
                json!("0123.4567.89ab"),
                json!("01:23"),
            ],
        ),
        (
            "uuid",
            vec![
                json!("123e4567-e89b-12d3-a456-426614174000"),
                json!("123E4567E89B12D3A456426614174000"),
                json!("x"),
            ],
        ),
        (
            "uuid3",
            vec![
                json!("123e4567-e89b-32d3-a456-426614174000"),
                json!("123e4567-e89b-12d3-a456-426614174000"),
            ],
        ),
        (
            "uuid4",
            vec![
                json!("123e4567-e89b-42d3-a456-426614174000"),
                json!("123e4567-e89b-42d3-c456-426614174000"),
            ],
        ),
        (
            "uuid5",
            vec![
                json!("123e4567-e89b-52d3-a456-426614174000"),
                json!("123e4567-e89b-42d3-a456-426614174000"),
            ],
        ),
        ("isbn", vec![json!("0321751043"), json!("978-0321751041"), json!("1")]),
        ("isbn10", vec![json!("0321751043"), json!("978-0321751041")]),
        ("isbn13", vec![json!("0321751043"), json!("978-0321751041")]),
        ("creditcard", vec![json!("4111 1111 1111 1111"), json!("4111 1111 1111 1112")]),
        ("ssn", vec![json!("111-22-3333"), json!("111223333"), json!("1")]),
        ("hexcolor", vec![json!("#fff"), json!("fffFFF"), json!("#ff")]),
        ("rgbcolor", vec![json!("rgb(1, 2,3)"), json!("rgb(1,2,300)")]),
        ("byte", vec![json!("AAE="), json!("AAE"), json!(""), json!("_-==")]),
        ("password", vec![json!("x")]),
        ("date", vec![json!("2024-02-29"), json!("2023-02-29"), json!("2024-2-9"), json!("20240229")]),
        ("duration", vec![json!("1h30m"), json!("2 days"), json!("soon"), json!(""), json!("1x")]),
        (
            "date-time",
            vec![
                json!("2024-01-01T00:00:00Z"),
                json!("2024-01-01t00:00:00.5+01:00"),
                json!("2024-01-01"),
                json!("2024-01-01T25:00:00Z"),
                json!(1),
                json!("2024-01-01T00:00:60Z"),
            ],
        ),
        ("datetime", vec![json!("2024-01-01T00:00:00Z"), json!("x")]),
        ("bsonobjectid", vec![json!("507f1f77bcf86cd799439011"), json!("x")]),
        ("k8s-short-name", vec![json!("a-b"), json!("A"), json!("a.b")]),
        ("k8s-long-name", vec![json!("a.b"), json!("A")]),
        ("unknown", vec![json!("x"), json!(1)]),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_are_refused_with_the_same_words() {
    let both = Both::start().await;
    let schema = schema();
    define(&both, &definition("checks", "Check", &of_spec(&schema))).await;
    let path = "/apis/test.example.com/v1/checks";
    let (mut refused, mut taken) = (0, 0);
    let mut differences = Vec::new();
    for (field, values) in cases() {
        for (at, value) in values.iter().enumerate() {
            let name = format!("{field}-{at}");
            let mut spec = json!({"pattern": "a1"});
            spec[field] = value.clone();
            let (real, model) = both.pair("POST", path, &object("Check", &name, &spec)).await;
            if real == model {
                *(if real.0 == 201 { &mut taken } else { &mut refused }) += 1;
            } else {
                let shown = |answer: &Answer| {
                    format!("{} {} {}", answer.0, answer.1["message"], answer.1["details"]["causes"])
                };
                differences.push(format!(
                    "{field}: {value}\n  real  {}\n  model {}",
                    shown(&real),
                    shown(&model)
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
    assert!(refused >= 90 && taken >= 60, "{refused} refused, {taken} taken");
}
