//! Properties over random objects that are replaced, with a server that adds.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::{GenericMatcher, Match, merged};

/// A scalar that no generated one is equal to.
const CHANGED: &str = "changed";

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        "[a-z]{0,3}".prop_map(Value::from)
    ]
}

/// A desired value: scalars, lists that are replaced as a whole, lists by name, and objects with something in them.
fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => scalar(),
        1 => prop::collection::vec(scalar(), 1..4).prop_map(Value::Array),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let fields = prop::collection::btree_map("[a-e]", inner.clone(), 1..4);
        let items = prop::collection::btree_map(
            "[a-e]{1,2}",
            prop::collection::btree_map("[a-e]", inner, 0..3),
            1..4,
        );
        prop_oneof![
            fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
            items.prop_map(|items| items
                .into_iter()
                .map(|(name, fields)| {
                    let mut item: Map<String, Value> = fields.into_iter().collect();
                    item.insert("name".to_owned(), name.into());
                    Value::Object(item)
                })
                .collect()),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-e]", tree(), 1..4).prop_map(|fields| {
        let spec: Map<String, Value> = fields.into_iter().collect();
        json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "labels": { "a": "b" } }, "spec": spec })
    })
}

fn is_by_name(items: &[Value]) -> bool {
    items.first().is_some_and(Value::is_object)
}

/// What the server stores of what it is sent.
fn stored(value: &Value, adds: bool) -> Value {
    match value {
        Value::Object(fields) => {
            let mut all: Map<_, _> =
                fields.iter().map(|(name, field)| (name.clone(), stored(field, adds))).collect();
            if adds {
                all.insert("zz".to_owned(), json!({ "by": "server" }));
            }
            all.into()
        }
        Value::Array(items) if is_by_name(items) => {
            let before = adds.then(|| json!({ "name": "foreign" }));
            before.into_iter().chain(items.iter().map(|item| stored(item, adds))).collect()
        }
        other => other.clone(),
    }
}

fn stored_object(object: &Value, adds: bool) -> Value {
    let mut actual = object.clone();
    actual["spec"] = stored(&object["spec"], adds);
    actual
}

fn leaves<'v>(value: &'v mut Value, found: &mut Vec<&'v mut Value>) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| leaves(field, found)),
        Value::Array(items) => items.iter_mut().for_each(|item| leaves(item, found)),
        leaf => found.push(leaf),
    }
}

fn changed(object: &Value, at: prop::sample::Index) -> Value {
    let mut object = object.clone();
    let mut found = Vec::new();
    leaves(&mut object["spec"], &mut found);
    let at = at.index(found.len());
    *found.swap_remove(at) = CHANGED.into();
    object
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn what_was_replaced_matches_and_with_another_leaf_does_not(
        desired in object(), adds: bool, at: prop::sample::Index,
    ) {
        let before = stored_object(&changed(&desired, at), adds);
        let actual = stored_object(&merged(&before, &desired), adds);
        prop_assert_eq!(GenericMatcher::new().matches(&desired, &actual), Match::Equal);
        prop_assert!(!GenericMatcher::new().matches(&changed(&desired, at), &actual).is_equal());
    }

    #[test]
    fn any_two_objects_can_be_compared(desired in tree(), actual in tree()) {
        let (desired, actual) = (json!({ "spec": desired }), json!({ "spec": actual }));
        let found = GenericMatcher::new().matches(&desired, &actual);
        prop_assert!(found.is_equal() || matches!(found, Match::Differs(paths) if !paths.is_empty()));
        let _ = merged(&actual, &desired);
        prop_assert_eq!(GenericMatcher::new().matches(&desired, &desired), Match::Equal);
    }
}
