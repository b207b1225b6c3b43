//! The look beside the text, on objects as a real API server stores them: what it is sure of, and that it is never wrong.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    super::{Match, matches_applied, words_decide},
    cases::{self, MANAGER},
};
use crate::{
    cache::tests::known::scanned,
    operations::matcher::{Look, look_beside, strip_nulls},
};

/// What both say: the look, and the full matcher. `None` where the object isn't one that could be kept.
pub(super) fn both(desired: &Value, actual: &Value) -> Option<(Look, Match)> {
    let managed =
        serde_json::from_value::<Vec<ManagedFieldsEntry>>(actual["metadata"]["managedFields"].clone());
    let kept = scanned(&actual.to_string(), MANAGER)?;
    let mut body = desired.clone();
    strip_nulls(&mut body);
    let applied = kept.applied_by(MANAGER);
    let look = applied.map_or(Look::Unsure, |applied| look_beside(&body, kept.text(), &applied));
    let look = if look == Look::Another && !words_decide(&body) { Look::Unsure } else { look };
    Some((look, matches_applied(&body, actual, &managed.ok()?, MANAGER)))
}

/// An object of ours with what differs from one to the other: its owner.
pub(super) fn owned() -> (Value, Value) {
    let owner = json!([{ "apiVersion": "example.com/v1", "kind": "Thing", "name": "a", "uid": "1f0a7c3e" }]);
    let desired = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "a", "ownerReferences": owner, "labels": { "a": "b" } },
        "data": { "text": "some\n\"words\"" },
    });
    let mut actual = desired.clone();
    actual["metadata"]["uid"] = json!("u");
    actual["metadata"]["labels"]["foreign"] = json!("c");
    actual["metadata"]["managedFields"] = json!([{
        "manager": MANAGER, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:data": { "f:text": {} },
            "f:metadata": { "f:labels": { "f:a": {} }, "f:ownerReferences": { "k:{\"uid\":\"1f0a7c3e\"}": {} } },
        },
    }]);
    (desired, actual)
}

pub(super) fn pairs() -> Vec<(String, Value, Value)> {
    let cases = cases::all().into_iter().map(|(name, case)| (name, case.desired, case.actual));
    let (desired, actual) = owned();
    cases.chain([("owned".to_owned(), desired, actual)]).collect()
}

#[test]
fn it_is_sure_of_what_is_usual() {
    let sure: Vec<String> = pairs()
        .into_iter()
        .filter(|(_, desired, actual)| both(desired, actual).is_some_and(|(look, _)| look == Look::Equal))
        .map(|(name, ..)| name)
        .collect();
    // The others hold what the server writes differently, drops or fills in, or are lists in another order.
    insta::assert_debug_snapshot!(sure);
}

#[test]
fn it_is_not_sure_of_another_version_nor_of_another_owner() {
    let (desired, actual) = owned();
    let managed = actual["metadata"]["managedFields"][0].clone();
    let with = |managed: Value| {
        let mut actual = actual.clone();
        actual["metadata"]["managedFields"] = json!([managed]);
        both(&desired, &actual).unwrap()
    };
    assert_eq!(with(managed.clone()), (Look::Equal, Match::Equal));
    let mut of_another_version = managed.clone();
    of_another_version["apiVersion"] = json!("v2");
    let (look, full) = with(of_another_version);
    assert!(look == Look::Unsure && !full.is_equal(), "{full:?}");
    let mut of_another_owner = managed;
    of_another_owner["fieldsV1"]["f:metadata"]["f:ownerReferences"] =
        json!({ "k:{\"uid\":\"2a2b2c2d\"}": {} });
    let (look, full) = with(of_another_owner);
    assert!(look == Look::Unsure && !full.is_equal(), "{full:?}");
}

#[test]
fn it_is_sure_of_another_word_but_not_of_another_spelling() {
    let (desired, actual) = owned();
    let with = |pointer: &str, wanted: Value, found: Value| {
        let (mut desired, mut actual) = (desired.clone(), actual.clone());
        *desired.pointer_mut(pointer).unwrap() = wanted;
        *actual.pointer_mut(pointer).unwrap() = found;
        let (look, full) = both(&desired, &actual).unwrap();
        assert_eq!(full.is_equal(), desired.pointer(pointer) == actual.pointer(pointer), "{full:?}");
        look
    };
    let (label, data) = ("/metadata/labels/a", "/data/text");
    assert_eq!(with(label, json!("one"), json!("one")), Look::Equal);
    assert_eq!(with(label, json!("one"), json!("two")), Look::Another);
    assert_eq!(with(data, json!("two"), json!("2")), Look::Another);
    assert_eq!(with(data, json!("1000m"), json!("1")), Look::Unsure, "it may be a quantity");
    assert_eq!(with(data, json!("2026-11-24T00:00:00Z"), json!("2026-11-24T00:00:00.0Z")), Look::Unsure);
    assert_eq!(with(data, json!(""), json!("one")), Look::Unsure, "it may stand for a default");
    assert_eq!(with(data, json!("one"), json!("")), Look::Unsure);
    assert_eq!(with(data, json!("one"), json!(1)), Look::Unsure);
}

/// What stands in the same place may be another item, so its key comes first.
#[test]
fn it_is_sure_of_another_word_in_an_item_whose_key_was_read() {
    let with = |items: &str, wanted: Value, owned: Value| {
        let object = |ports: &str| {
            let head = r#""apiVersion":"v1","kind":"Service","metadata":{"name":"a"}"#;
            format!("{{{head},\"spec\":{{\"ports\":{ports}}}}}")
        };
        let desired: Value = serde_json::from_str(&object(&wanted.to_string())).unwrap();
        let managed = json!([{
            "manager": MANAGER, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": { "f:spec": { "f:ports": owned } },
        }]);
        let actual = object(items).replacen(r#""a"}"#, &format!(r#""a","managedFields":{managed}}}"#), 1);
        let kept = scanned(&actual, MANAGER).unwrap();
        let look = look_beside(&desired, kept.text(), &kept.applied_by(MANAGER).unwrap());
        let (_, full) = both(&desired, &serde_json::from_str(&actual).unwrap()).unwrap();
        (look, full.is_equal())
    };
    let by_port = |port: u16| {
        let key = format!("k:{{\"port\":{port},\"protocol\":\"TCP\"}}");
        json!({ key: { ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {} } })
    };
    let wanted = json!([{ "name": "one", "port": 1, "protocol": "TCP" }]);
    let found = |items: &str| with(items, wanted.clone(), by_port(1));
    assert_eq!(found(r#"[{"port":1,"protocol":"TCP","name":"one"}]"#), (Look::Equal, true));
    assert_eq!(found(r#"[{"port":1,"protocol":"TCP","name":"two"}]"#), (Look::Another, false));
    assert_eq!(found(r#"[{"port":1,"name":"two","protocol":"TCP"}]"#), (Look::Unsure, false), "half a key");
    assert_eq!(found(r#"[{"name":"two","port":1,"protocol":"TCP"}]"#), (Look::Unsure, false), "no key yet");
    assert_eq!(found(r#"[{"port":1,"protocol":"UDP","name":"two"}]"#), (Look::Unsure, false), "another key");
    let two = r#"[{"port":2,"protocol":"TCP","name":"two"},{"port":1,"protocol":"TCP","name":"one"}]"#;
    assert_eq!(found(two), (Look::Unsure, true), "it is the second one");
    let twice = r#"[{"port":1,"protocol":"TCP","name":"two"},{"port":1,"protocol":"TCP","name":"one"}]"#;
    assert_eq!(found(twice), (Look::Another, false), "a key that exists twice is a difference, too");
}

#[test]
fn it_is_not_sure_of_items_in_another_order() {
    let desired = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "a" },
        "spec": { "ports": [
            { "name": "one", "port": 1, "protocol": "TCP" }, { "name": "two", "port": 2, "protocol": "TCP" },
        ] },
    });
    let mut actual = desired.clone();
    actual["spec"]["ports"].as_array_mut().unwrap().reverse();
    let item = json!({ ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {} });
    actual["metadata"]["managedFields"] = json!([{
        "manager": MANAGER, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": { "f:spec": { "f:ports": {
            "k:{\"port\":1,\"protocol\":\"TCP\"}": item, "k:{\"port\":2,\"protocol\":\"TCP\"}": item,
        } } },
    }]);
    assert_eq!(both(&desired, &actual), Some((Look::Unsure, Match::Equal)));
}

/// A list that is owned as a whole has no items of its own; each text in it counts.
#[test]
fn it_is_not_sure_of_another_text_in_a_list_that_is_owned_as_a_whole() {
    let with = |ranges: Value| {
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": { "name": "a" },
            "spec": { "loadBalancerSourceRanges": ranges },
        })
    };
    let desired = with(json!(["one", "two"]));
    let seen = |ranges: Value| {
        let mut actual = with(ranges);
        actual["metadata"]["managedFields"] = json!([{
            "manager": MANAGER, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": { "f:spec": { "f:loadBalancerSourceRanges": {} } },
        }]);
        let (look, full) = both(&desired, &actual).unwrap();
        (look, full.is_equal())
    };
    assert_eq!(seen(json!(["one", "two"])), (Look::Equal, true));
    assert_eq!(seen(json!(["one", "three"])), (Look::Unsure, false));
    assert_eq!(seen(json!(["one"])), (Look::Unsure, false));
    assert_eq!(seen(json!(["one", "two", "three"])), (Look::Unsure, false));
}

/// What is sent under `stringData` is stored under `data`.
#[test]
fn words_do_not_decide_where_something_else_is_said_of_them() {
    let (mut desired, mut actual) = owned();
    assert!(words_decide(&desired));
    desired["stringData"] = json!({ "text": "two" });
    assert!(!words_decide(&desired));
    let (mut desired, _) = owned();
    let previous = "javaoperatorsdk.io/previous";
    desired["metadata"]["annotations"] = json!({ previous: "one" });
    actual["metadata"]["annotations"] = json!({ previous: "two" });
    let owned = &mut actual["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"];
    owned["f:annotations"] = json!({ format!("f:{previous}"): {} });
    assert_eq!(both(&desired, &actual), Some((Look::Unsure, Match::Equal)));
}

/// The protocol of a port may be left out; it makes the item another one all the same.
#[test]
fn an_item_is_the_one_that_is_owned_by_its_whole_key() {
    let fields = json!({ "f:spec": { "f:ports": {
        "k:{\"port\":53,\"protocol\":\"TCP\"}": { ".": {}, "f:name": {}, "f:port": {} },
    } } });
    let desired = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": { "name": "a" },
        "spec": { "ports": [{ "name": "dns", "port": 53 }] },
    });
    let with = |protocol: &str| {
        let mut actual = desired.clone();
        actual["spec"]["ports"][0]["protocol"] = json!(protocol);
        actual["metadata"]["managedFields"] = json!([{
            "manager": MANAGER, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        }]);
        both(&desired, &actual).unwrap()
    };
    assert_eq!(with("TCP"), (Look::Equal, Match::Equal));
    let (look, full) = with("UDP");
    assert!(look == Look::Unsure && !full.is_equal(), "{full:?}");
}

/// Chance that repeats itself.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Changes, removes, adds, repeats or swaps something somewhere below.
pub(super) fn mutate(value: &mut Value, chance: &mut Chance) {
    let scalars =
        [json!(7), json!(7.0), json!("x"), json!(null), json!({}), json!([]), json!(true), json!("")];
    match value {
        Value::Object(fields) if !fields.is_empty() && chance.below(8) > 0 => {
            let name = fields.keys().nth(chance.below(fields.len())).cloned().unwrap_or_default();
            match chance.below(12) {
                0 => drop(fields.remove(&name)),
                1 => drop(fields.insert("added".to_owned(), scalars[chance.below(8)].clone())),
                _ => mutate(&mut fields[&name], chance),
            }
        }
        Value::Array(items) if !items.is_empty() && chance.below(8) > 0 => {
            let (at, other) = (chance.below(items.len()), chance.below(items.len()));
            match chance.below(8) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                2 => items.swap(at, other),
                _ => mutate(&mut items[at], chance),
            }
        }
        other => *other = scalars[chance.below(8)].clone(),
    }
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn what_is_sure_is_so_for_the_full_matcher(seed in 1_u64.., which: prop::sample::Index, side in 0..3_u8) {
        // Read once for each process, as there are thousands of rounds.
        static PAIRS: std::sync::LazyLock<Vec<(String, Value, Value)>> = std::sync::LazyLock::new(pairs);
        let (name, mut desired, mut actual) = which.get(&PAIRS).clone();
        let mut chance = Chance(seed);
        for _ in 0..20 {
            match side {
                0 => mutate(&mut desired, &mut chance),
                1 => mutate(&mut actual, &mut chance),
                _ => mutate(&mut actual["metadata"], &mut chance),
            }
            if !actual["metadata"].is_object() {
                break;
            }
            let Some((look, full)) = both(&desired, &actual) else { continue };
            let fits = match look {
                Look::Equal => full == Match::Equal,
                Look::Another => full != Match::Equal,
                Look::Unsure => true,
            };
            prop_assert!(fits, "{name}: {look:?} and {full:?}\n{desired}\n{actual}");
        }
    }
}
