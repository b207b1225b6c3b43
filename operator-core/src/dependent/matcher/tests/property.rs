//! Properties over random objects, with a server that adds, drops and reorders.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{
    super::{GenericMatcher, Match, matches_applied, merged},
    cases::MANAGER,
};

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

/// What the server records as applied.
fn owned(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| (format!("f:{name}"), owned(field)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) if is_by_name(items) => {
            let item = |item: &Value| (format!("k:{}", json!({ "name": item["name"] })), owned(item));
            items.iter().map(item).collect::<Map<_, _>>().into()
        }
        _ => json!({}),
    }
}

/// What the server does with what it is sent.
#[derive(Clone, Copy, Debug)]
struct Server {
    drops_zeros: bool,
    adds: bool,
    reorders: bool,
}

impl Server {
    fn stores(self, value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let is_zero = |value: &Value| [json!(false), json!(0), json!("")].contains(value);
                let kept = fields.iter().filter(|(_, value)| !(self.drops_zeros && is_zero(value)));
                let mut stored: Map<_, _> =
                    kept.map(|(name, field)| (name.clone(), self.stores(field))).collect();
                if self.adds {
                    stored.insert("zz".to_owned(), json!({ "by": "server" }));
                }
                stored.into()
            }
            Value::Array(items) if is_by_name(items) => {
                let mut stored: Vec<Value> = items.iter().map(|item| self.stores(item)).collect();
                if self.adds {
                    stored.insert(0, json!({ "name": "foreign" }));
                }
                if self.reorders {
                    stored.reverse();
                }
                stored.into()
            }
            other => other.clone(),
        }
    }

    fn applied(self, desired: &Value) -> (Value, Vec<ManagedFieldsEntry>) {
        let mut actual = desired.clone();
        actual["spec"] = self.stores(&desired["spec"]);
        let fields = json!({ "f:metadata": owned(&desired["metadata"]), "f:spec": owned(&desired["spec"]) });
        let entry = ManagedFieldsEntry {
            manager: Some(MANAGER.to_owned()),
            operation: Some("Apply".to_owned()),
            fields_v1: Some(FieldsV1(fields)),
            ..ManagedFieldsEntry::default()
        };
        (actual, vec![entry])
    }
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
    fn what_was_applied_matches_and_with_another_leaf_does_not(
        desired in object(), drops_zeros: bool, adds: bool, reorders: bool, at: prop::sample::Index,
    ) {
        let (actual, managed) = Server { drops_zeros, adds, reorders }.applied(&desired);
        prop_assert_eq!(matches_applied(&desired, &actual, &managed, MANAGER), Match::Equal);
        let other = changed(&desired, at);
        prop_assert!(!matches_applied(&other, &actual, &managed, MANAGER).is_equal(), "{}", other);
    }

    #[test]
    fn what_was_replaced_matches_and_with_another_leaf_does_not(
        desired in object(), adds: bool, at: prop::sample::Index,
    ) {
        let server = Server { drops_zeros: false, adds, reorders: false };
        let (before, _) = server.applied(&changed(&desired, at));
        let (actual, _) = server.applied(&merged(&before, &desired));
        prop_assert_eq!(GenericMatcher::new().matches(&desired, &actual), Match::Equal);
        prop_assert!(!GenericMatcher::new().matches(&changed(&desired, at), &actual).is_equal());
    }

    #[test]
    fn any_two_objects_can_be_compared(desired in tree(), actual in tree()) {
        let (desired, actual) = (json!({ "spec": desired }), json!({ "spec": actual }));
        let managed = Server { drops_zeros: true, adds: true, reorders: true }
            .applied(&actual).1;
        let found = matches_applied(&desired, &actual, &managed, MANAGER);
        prop_assert!(found.is_equal() || matches!(found, Match::Differs(paths) if !paths.is_empty()));
        let _ = merged(&actual, &desired);
        prop_assert_eq!(GenericMatcher::new().matches(&desired, &desired), Match::Equal);
    }
}
