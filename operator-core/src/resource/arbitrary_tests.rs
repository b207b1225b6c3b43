//! JSON of any shape, for the tests of what reads some.

use proptest::prelude::*;
use serde_json::{Value, json};

/// Any JSON. Names of fields are now and then those that an object has.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| json!(float)),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(field(), inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The name of a field.
fn field() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 12] = [
        "metadata",
        "name",
        "namespace",
        "resourceVersion",
        "uid",
        "annotations",
        "managedFields",
        "manager",
        "fieldsV1",
        "data",
        "status",
        "code",
    ];
    prop_oneof![3 => prop::sample::select(&KNOWN[..]).prop_map(str::to_owned), 1 => ".{0,4}"]
}

/// Any bytes; mostly JSON, whole or cut off, so that more than the first byte is looked at.
pub(crate) fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        2 => any_json().prop_map(|json| json.to_string().into_bytes()),
        1 => (any_json(), any::<prop::sample::Index>()).prop_map(|(json, cut)| {
            let mut bytes = json.to_string().into_bytes();
            bytes.truncate(cut.index(bytes.len()));
            bytes
        }),
        1 => prop::collection::vec(any::<u8>(), 0..64),
    ]
}
