//! Digests don't depend on what makes no difference.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::generator::{LookupKey, digest::digest_of_value, digest_of};

pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~äö\n\t:#'\"{}]{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-zA-Z0-9:# -]{0,6}", inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The same value, with the fields of each mapping inserted in the reverse order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> =
                fields.iter().map(|(key, value)| (key.clone(), reversed(value))).collect();
            fields.reverse();
            Value::Object(fields.into_iter().collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..crate::properties::daily() })]

    #[test]
    fn the_order_of_fields_makes_no_difference(value in any_json()) {
        prop_assert_eq!(digest_of_value(&value), digest_of_value(&reversed(&value)));
    }

    #[test]
    fn different_values_have_different_digests(one in any_json(), other in any_json()) {
        prop_assert_eq!(one == other, digest_of_value(&one) == digest_of_value(&other));
    }
}

#[test]
fn each_input_makes_a_difference() {
    let key = |name: &str| LookupKey {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    };
    let none = BTreeMap::new();
    let one = |name: &str, version: &str| BTreeMap::from([(key(name), version.to_owned())]);
    let all = [
        digest_of(&json!({}), "", &none),
        digest_of(&json!([]), "", &none),
        digest_of(&json!({}), "a", &none),
        digest_of(&json!({}), "", &one("a", "1")),
        digest_of(&json!({}), "", &one("a", "2")),
        digest_of(&json!({}), "", &one("a1", "")),
    ];
    for (at, one) in all.iter().enumerate() {
        assert!(!all[..at].contains(one), "{at}");
    }
}
