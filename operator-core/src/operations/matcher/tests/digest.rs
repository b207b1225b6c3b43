use serde_json::{Value, json};

use super::{
    super::{digest, digest::same_values},
    differs, with,
};
use crate::operations::matcher::Match;

const MARK: &str = "example.com/mark";

fn of(object: &Value) -> String {
    digest(object, MARK, false)
}

fn object() -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "a", "namespace": "b", "labels": { "a": "b" }, "annotations": { MARK: "of.a", "c": "d" } },
        "data": { "a": "1", "b": "" }, "list": [1, true, null, [], {}, "text"],
    })
}

/// An operator of another version would write each object once more.
#[test]
fn it_is_the_same_in_each_version() {
    assert_eq!(of(&object()), "75753d562fa7e164088fa04a8f74d939");
}

#[test]
fn what_the_server_decides_and_the_mark_itself_make_no_difference() {
    for (pointer, value) in [
        ("/metadata/uid", json!("u")),
        ("/metadata/resourceVersion", json!("7")),
        ("/metadata/generation", json!(2)),
        ("/metadata/creationTimestamp", json!("2026-11-21T12:00:00Z")),
        ("/metadata/annotations/example.com~1mark", json!("of.a.digest")),
        ("/status", json!({ "ready": true })),
    ] {
        assert_eq!(of(&object()), of(&with(&object(), pointer, value)), "{pointer}");
    }
}

#[test]
fn what_is_wanted_makes_one() {
    let mut all = vec![of(&object())];
    for (pointer, value) in [
        ("/apiVersion", json!("v2")),
        ("/kind", json!("Secret")),
        ("/metadata/labels/a", json!("c")),
        ("/metadata/labels/new", json!("")),
        ("/metadata/annotations/c", json!("e")),
        ("/metadata/finalizers", json!(["f"])),
        ("/data/b", json!("1")),
        ("/data/ab", json!("")),
        ("/list/0", json!("1")),
        ("/list/1", json!("true")),
        ("/list/2", json!("null")),
        ("/list/3", json!({})),
        ("/list/5", json!(["text"])),
        ("/list/-", json!("")),
    ] {
        all.push(of(&with(&object(), pointer, value)));
    }
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

/// Whoever may read the annotation could try out passwords.
#[test]
fn that_of_a_secret_says_nothing_about_values() {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a" },
        "data": { "a": "MQ==" }, "stringData": { "b": "2" },
    });
    let of = |secret: &Value| digest(secret, MARK, true);
    for pointer in ["/data/a", "/stringData/b"] {
        let other = with(&secret, pointer, json!("Mw=="));
        assert_eq!(of(&secret), of(&other), "{pointer}");
        let one_more = with(&secret, &format!("{pointer}-more"), json!("Mw=="));
        assert_ne!(of(&secret), of(&one_more), "{pointer}");
    }
    assert_ne!(of(&secret), of(&with(&secret, "/immutable", json!(true))));
}

#[test]
fn the_values_of_a_secret_are_compared_one_by_one() {
    let wanted = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "labels": { "a": "b" } },
        "data": { "a": "MQ==" }, "stringData": { "b": "2" },
    });
    let actual = json!({ "metadata": {}, "data": { "a": "MQ==", "b": "Mg==", "of-others": "MQ==" }, "type": "Opaque" });
    assert_eq!(same_values(&wanted, &actual), Match::Equal);
    assert_eq!(same_values(&wanted, &with(&actual, "/data/a", json!("Mg=="))), differs(&["data.a"]));
    assert_eq!(same_values(&wanted, &with(&actual, "/data/b", json!("MQ=="))), differs(&["stringData"]));
}
