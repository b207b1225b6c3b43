//! Items of lists with keys.

use serde_json::{Map, Value};

use crate::operations::matcher::{present, same_number};

/// The key fields of a list, as the managed sets of its items show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyFields(Vec<String>);

/// The values of the key fields of one item.
#[derive(Clone, Debug)]
pub(super) struct Key(Vec<Value>);

impl KeyFields {
    /// The key fields in a managed set of a list; `None` if its items have no keys.
    pub(super) fn of(set: &Map<String, Value>) -> Option<Self> {
        let key = set.keys().find_map(|key| key.strip_prefix("k:"))?;
        let fields: Map<String, Value> = serde_json::from_str(key).ok()?;
        (!fields.is_empty()).then(|| Self(fields.into_iter().map(|(name, _)| name).collect()))
    }

    /// The key of an item; `None` if one of its fields is missing and has no default.
    pub(super) fn of_item(&self, item: &Value) -> Option<Key> {
        let value = |name: &String| match present(item.get(name)) {
            Some(value) => Some(value.clone()),
            None => default_of(name),
        };
        self.0.iter().map(value).collect::<Option<_>>().map(Key)
    }

    /// The key of an item in a managed set.
    pub(super) fn of_set(&self, key: &str) -> Option<Key> {
        let fields: Map<String, Value> = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
        self.0.iter().map(|name| fields.get(name).cloned()).collect::<Option<_>>().map(Key)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(one, other)| equal(one, other))
    }
}

/// The default of a key field: a port uses TCP, in a Service as well as in a container.
fn default_of(name: &str) -> Option<Value> {
    (name == "protocol").then(|| "TCP".into())
}

/// Whether two values are equal, however their numbers are written.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => same_number(one, other),
        _ => one == other,
    }
}
