//! What was found of one state of an object holds for another one that is alike: on objects as a real API server stores them.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    super::Match,
    beside::{Chance, both, mutate, owned, pairs},
    cases::MANAGER,
};
use crate::cache::tests::known::scanned_both;

/// Whether the two are alike. `None` where one of them isn't an object that could be kept.
fn are_alike(older: &Value, newer: &Value) -> Option<bool> {
    texts_are_alike(&older.to_string(), &newer.to_string())
}

fn texts_are_alike(older: &str, newer: &str) -> Option<bool> {
    let (older, newer) = scanned_both(older, newer, MANAGER)?;
    let alike = newer.is_alike(&older);
    assert_eq!(alike, older.is_alike(&newer), "it doesn't matter which one came first");
    Some(alike)
}

/// An object that somebody else has labelled before, too.
fn labelled(mut actual: Value) -> Value {
    let metadata = actual["metadata"].as_object_mut().expect("metadata is an object");
    metadata.insert("resourceVersion".to_owned(), json!("7"));
    for map in ["labels", "annotations"] {
        metadata.entry(map).or_insert(json!({}))["somebody"] = json!("before");
    }
    actual
}

/// Something that somebody, or one of ours, does to it.
fn change(object: &mut Value, chance: &mut Chance) {
    let values = [json!("before"), json!("after"), json!(""), json!(null)];
    let value = values[chance.below(values.len())].clone();
    let map = if chance.below(2) == 0 { "labels" } else { "annotations" };
    let below = &mut object["metadata"][map];
    match chance.below(10) {
        // Some of them may be ours.
        0 | 1 => mutate(below, chance),
        2..5 => {
            if let Some(entries) = below.as_object_mut() {
                let name = ["somebody", "app", "another"][chance.below(3)];
                entries.insert(name.to_owned(), value);
            }
        }
        5 => object["metadata"]["resourceVersion"] = json!(chance.below(9).to_string()),
        6 => object["status"] = json!({ "replicas": chance.below(3), "words": value }),
        7 => mutate(&mut object["metadata"]["managedFields"], chance),
        8 => mutate(&mut object["metadata"], chance),
        _ => mutate(object, chance),
    }
}

/// A walk through states of an object: how many of them are alike the one before, which matched; and which of these don't match.
fn walk((name, desired, actual): &(String, Value, Value), seed: u64) -> (usize, Vec<String>) {
    let (mut chance, mut older) = (Chance(seed), labelled(actual.clone()));
    let (mut alike, mut wrong) = (0, Vec::new());
    for _ in 0..20 {
        // Only what has matched is taken over.
        if both(desired, &older).is_none_or(|(_, found)| found != Match::Equal) {
            break;
        }
        let mut newer = older.clone();
        for _ in 0..=chance.below(2) {
            if newer["metadata"].is_object() {
                change(&mut newer, &mut chance);
            }
        }
        if are_alike(&older, &newer) == Some(true) {
            alike += 1;
            match both(desired, &newer) {
                Some((_, Match::Equal)) => older = newer,
                Some(found) => wrong.push(format!("{name}: {found:?}\n{desired}\n{older}\n{newer}")),
                // The full matcher can't read it.
                None => break,
            }
        }
    }
    (alike, wrong)
}

#[test]
fn what_others_do_beside_it_makes_a_state_that_is_alike() {
    let (_, actual) = owned();
    let older = labelled(actual);
    let with = |pointer: &str, value: Value| {
        let mut newer = older.clone();
        newer["metadata"]["resourceVersion"] = json!("8");
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        newer.pointer_mut(parent).unwrap()[name.replace("~1", "/")] = value;
        are_alike(&older, &newer)
    };
    assert_eq!(with("/metadata/resourceVersion", json!("123456")), Some(true));
    assert_eq!(with("/metadata/labels/somebody", json!("after")), Some(true));
    assert_eq!(with("/metadata/labels/another", json!("a\"b")), Some(true));
    assert_eq!(with("/metadata/labels/a~1b", json!("c")), Some(true));
    assert_eq!(with("/metadata/annotations/somebody", json!("after")), Some(true));

    assert_eq!(with("/metadata/labels/a", json!("another")), Some(false), "it is ours");
    assert_eq!(with("/metadata/labels", json!({ "somebody": "before" })), Some(false), "ours is gone");
    assert_eq!(with("/metadata/labels", json!(null)), Some(false));
    assert_eq!(with("/metadata/labels", json!("none")), Some(false));
    assert_eq!(with("/metadata/uid", json!("another")), Some(false));
    assert_eq!(with("/metadata/finalizers", json!(["a"])), Some(false));
    assert_eq!(with("/metadata/deletionTimestamp", json!("2026-11-24T00:00:00Z")), Some(false));
    assert_eq!(with("/data/text", json!("another")), Some(false));
    assert_eq!(with("/data/more", json!("more")), Some(false), "a matcher may look at all of it");
    assert_eq!(with("/spec", json!({})), Some(false));
    assert_eq!(with("/apiVersion", json!("v2")), Some(false));
}

/// The items of a list of a built-in kind have no type, and the events of a watch have one.
#[test]
fn what_a_list_has_told_is_alike_what_a_watch_tells() {
    let (_, actual) = owned();
    let mut listed = labelled(actual);
    let fields = listed.as_object_mut().unwrap();
    fields.retain(|name, _| name != "kind" && name != "apiVersion");
    let mut newer = listed.clone();
    newer["metadata"]["resourceVersion"] = json!("8");
    newer["metadata"]["labels"]["somebody"] = json!("after");
    let mut other = newer.clone();
    other["data"]["text"] = json!("another");
    let typed = |head: &str, object: &Value| format!("{{{head}{}", &object.to_string()[1..]);
    let alike = texts_are_alike;
    let (kind, version) = (r#""kind":"ConfigMap","#, r#""apiVersion":"v1","#);
    for head in [format!("{kind}{version}"), format!("{version}{kind}")] {
        assert_eq!(alike(&typed("", &listed), &typed(&head, &newer)), Some(true), "{head}");
        assert_eq!(alike(&typed(&head, &listed), &typed(&head, &newer)), Some(true), "{head}");
        assert_eq!(alike(&typed("", &listed), &typed(&head, &other)), Some(false), "{head}");
        let more = format!("{head}\"data2\":{{}},");
        assert_eq!(alike(&typed("", &listed), &typed(&more, &newer)), Some(false), "{more}");
    }
    let another = format!("{kind}\"apiVersion\":\"v2\",");
    let head = format!("{kind}{version}");
    assert_eq!(alike(&typed(&head, &listed), &typed(&another, &newer)), Some(false), "another version");
    assert_eq!(alike(&typed("", &listed), &typed(kind, &newer)), Some(false), "half a type");
}

#[test]
fn a_status_is_nothing_that_is_looked_at() {
    let (_, actual) = owned();
    let with = |status: Value, inner: Value| {
        let mut object = labelled(actual.clone());
        (object["status"], object["data"]["status"]) = (status, inner);
        object
    };
    let older = with(json!({ "replicas": 1 }), json!("a"));
    assert_eq!(are_alike(&older, &with(json!({ "replicas": 2 }), json!("a"))), Some(true));
    assert_eq!(are_alike(&older, &with(json!(null), json!("a"))), Some(true));
    assert_eq!(
        are_alike(&older, &with(json!({ "replicas": 1 }), json!("b"))),
        Some(false),
        "it is no status"
    );
    assert_eq!(are_alike(&older, &with(json!({ "replicas": 2 }), json!("b"))), Some(false));
    let mut after = with(json!({ "replicas": 2 }), json!("a"));
    after["type"] = json!("Opaque");
    assert_eq!(are_alike(&older, &after), Some(false), "something follows the status");
}

#[test]
fn it_is_not_alike_where_ours_own_something_else() {
    let (_, actual) = owned();
    let older = labelled(actual);
    let with = |pointer: &str, value: Value| {
        let mut newer = older.clone();
        *newer.pointer_mut(&format!("/metadata/managedFields/0{pointer}")).unwrap() = value;
        are_alike(&older, &newer)
    };
    assert_eq!(with("/fieldsV1/f:data", json!({ "f:text": {}, "f:more": {} })), Some(false));
    assert_eq!(with("/fieldsV1/f:metadata/f:labels", json!({})), Some(false));
    let another = json!({ "k:{\"uid\":\"2a2b2c2d\"}": {} });
    assert_eq!(with("/fieldsV1/f:metadata/f:ownerReferences", another), Some(false));
    assert_eq!(with("/apiVersion", json!("v2")), Some(false));
    assert_eq!(with("/operation", json!("Update")), Some(false));
    assert_eq!(with("/manager", json!("somebody")), Some(false));

    let managed = |managed: Value| {
        let mut newer = older.clone();
        newer["metadata"]["managedFields"] = managed;
        newer
    };
    let mut entries = older["metadata"]["managedFields"].clone();
    let others =
        json!({ "manager": "somebody", "fieldsV1": { "f:metadata": { "f:labels": { "f:b": {} } } } });
    entries.as_array_mut().unwrap().push(others);
    assert_eq!(are_alike(&older, &managed(entries)), Some(true), "others may own what they like");
    let none = managed(json!([]));
    assert_eq!(are_alike(&none, &none), Some(false), "what was never applied matches nothing");
}

/// What is owned as a whole, or in a way that nobody here understands, may be any label.
#[test]
fn a_set_that_is_not_understood_may_own_all_labels() {
    let (_, actual) = owned();
    for labels in [json!({}), json!({ ".": {} }), json!({ "v:1": {} }), json!(7)] {
        let mut older = labelled(actual.clone());
        older["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"]["f:labels"] = labels;
        let mut newer = older.clone();
        newer["metadata"]["labels"]["somebody"] = json!("after");
        assert_eq!(are_alike(&older, &newer), Some(false));
        newer["metadata"]["labels"] = older["metadata"]["labels"].clone();
        assert_eq!(are_alike(&older, &newer), Some(true));
    }
}

/// So that the property below has something to say.
#[test]
fn many_states_are_alike() {
    let pairs = pairs();
    let alike = pairs.iter().zip(1..).map(|(pair, seed)| walk(pair, seed * 7_919).0);
    let (objects, alike) = alike.fold((0, 0), |(objects, all), alike| (objects + 1, all + alike));
    assert!(alike > 3 * objects, "{alike} of {objects} objects");
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn what_is_alike_matches_alike(seed in 1_u64.., which: prop::sample::Index) {
        // Read once for each process, as there are thousands of rounds.
        static PAIRS: std::sync::LazyLock<Vec<(String, Value, Value)>> = std::sync::LazyLock::new(pairs);
        let (_, wrong) = walk(which.get(&PAIRS), seed);
        prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
