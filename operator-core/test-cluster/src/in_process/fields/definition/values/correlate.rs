//! What a value was before an update: the parts that are the same may stay invalid.

use serde_json::Value;

/// The value before the update that belongs to a value after it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Old<'o>(pub(in super::super) &'o Value);

impl<'o> Old<'o> {
    /// Whether nothing has changed.
    pub(in super::super) fn is_same(self, new: &Value) -> bool {
        self.0 == new
    }

    /// The old value of a field.
    pub(in super::super) fn field(self, name: &str) -> Option<Self> {
        self.0.as_object()?.get(name).map(Self)
    }

    /// The old item of a list, which only has one if items have keys.
    pub(in super::super) fn item(self, schema: &Value, item: &Value) -> Option<Self> {
        if schema.get("x-kubernetes-list-type").and_then(Value::as_str) != Some("map") {
            return None;
        }
        let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array)?;
        let key = |item: &Value| -> Vec<Value> {
            let names = keys.iter().filter_map(Value::as_str);
            names.map(|name| item.get(name).cloned().unwrap_or_default()).collect()
        };
        let wanted = key(item);
        self.0.as_array()?.iter().find(|old| key(old) == wanted).map(Self)
    }
}
