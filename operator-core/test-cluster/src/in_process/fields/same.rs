//! Whether a write changes anything.

use serde_json::{Map, Value};

use super::{canonical, recorded::at};

/// Whether two values are equal except for one of their fields, on which `special` decides.
fn same_but(one: &Value, two: &Value, field: &str, special: impl Fn(&Value, &Value) -> bool) -> bool {
    let (Value::Object(left), Value::Object(right)) = (one, two) else { return canonical::equal(one, two) };
    let others = |fields: &Map<String, Value>| fields.len() - usize::from(fields.contains_key(field));
    let same = |(name, left): (&String, &Value)| {
        name == field || right.get(name).is_some_and(|right| canonical::equal(left, right))
    };
    others(left) == others(right) && left.iter().all(same) && special(at(one, field), at(two, field))
}

/// Whether a write changes nothing, so that the resourceVersion stays: times of managed fields don't count.
pub(in crate::in_process) fn is_same(live: &Value, new: &Value) -> bool {
    same_but(live, new, "metadata", |live, new| {
        same_but(live, new, "managedFields", |live, new| match (live, new) {
            (Value::Array(live), Value::Array(new)) => {
                live.len() == new.len()
                    && live.iter().zip(new).all(|(live, new)| same_but(live, new, "time", |_, _| true))
            }
            _ => canonical::equal(live, new),
        })
    })
}
