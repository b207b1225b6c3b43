//! The look beside the text, on objects as a real API server stores them: what it is sure of, and that it is never wrong.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    super::{Match, matches_applied},
    cases::{self, MANAGER},
};
use crate::{
    cache::tests::known::scanned,
    operations::matcher::{is_surely_applied, strip_nulls},
};

/// What both say: whether it is sure, and the full matcher's word. `None` where the object isn't one that could be kept.
fn both(desired: &Value, actual: &Value) -> Option<(bool, Match)> {
    let managed =
        serde_json::from_value::<Vec<ManagedFieldsEntry>>(actual["metadata"]["managedFields"].clone());
    let kept = scanned(&actual.to_string(), MANAGER)?;
    let mut body = desired.clone();
    strip_nulls(&mut body);
    let applied = kept.applied_by(MANAGER);
    let is_sure = applied.is_some_and(|applied| is_surely_applied(&body, kept.text(), &applied));
    Some((is_sure, matches_applied(&body, actual, &managed.ok()?, MANAGER)))
}

/// An object of ours with what differs from one to the other: its owner.
fn owned() -> (Value, Value) {
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

fn pairs() -> Vec<(String, Value, Value)> {
    let cases = cases::all().into_iter().map(|(name, case)| (name, case.desired, case.actual));
    let (desired, actual) = owned();
    cases.chain([("owned".to_owned(), desired, actual)]).collect()
}

#[test]
fn it_is_sure_of_what_is_usual() {
    let sure: Vec<String> = pairs()
        .into_iter()
        .filter(|(_, desired, actual)| both(desired, actual).is_some_and(|(is_sure, _)| is_sure))
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
    assert_eq!(with(managed.clone()), (true, Match::Equal));
    let mut of_another_version = managed.clone();
    of_another_version["apiVersion"] = json!("v2");
    let (is_sure, full) = with(of_another_version);
    assert!(!is_sure && !full.is_equal(), "{full:?}");
    let mut of_another_owner = managed;
    of_another_owner["fieldsV1"]["f:metadata"]["f:ownerReferences"] =
        json!({ "k:{\"uid\":\"2a2b2c2d\"}": {} });
    let (is_sure, full) = with(of_another_owner);
    assert!(!is_sure && !full.is_equal(), "{full:?}");
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
    assert_eq!(with("TCP"), (true, Match::Equal));
    let (is_sure, full) = with("UDP");
    assert!(!is_sure && !full.is_equal(), "{full:?}");
}

/// Chance that repeats itself.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Changes, removes, adds, repeats or swaps something somewhere below.
fn mutate(value: &mut Value, chance: &mut Chance) {
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
    fn what_is_surely_equal_is_equal_for_the_full_matcher(seed in 1_u64.., which: prop::sample::Index, side in 0..3_u8) {
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
            let Some((is_sure, full)) = both(&desired, &actual) else { continue };
            prop_assert!(!is_sure || full == Match::Equal, "{name}: {full:?}\n{desired}\n{actual}");
        }
    }
}
