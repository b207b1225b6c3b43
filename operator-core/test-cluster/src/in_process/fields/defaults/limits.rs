//! LimitRanges: what a container gets follows from what it may have.

use serde_json::{Map, Value, json};

use super::{Object, each, part, pods};

/// A limit that is not given is the highest one; a request is the limit, or else the lowest one.
pub(super) fn fill(range: &mut Object) {
    let items = range.get_mut("spec").and_then(|spec| spec.get_mut("limits")).and_then(Value::as_array_mut);
    for item in items.into_iter().flatten().filter(|item| item["type"] == "Container") {
        for (field, from) in [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")] {
            let amounts: Map<String, Value> = item[from].as_object().cloned().unwrap_or_default();
            if item[field].is_null() && !amounts.is_empty() {
                item[field] = json!({});
            }
            if let Some(target) = item.get_mut(field).and_then(Value::as_object_mut) {
                for (resource, amount) in amounts {
                    target.entry(resource).or_insert(amount);
                }
            }
        }
    }
    for item in part(range, "spec").into_iter().flat_map(|spec| each(spec, "limits")) {
        for amounts in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
            if let Some(amounts) = part(item, amounts) {
                pods::round(amounts);
            }
        }
    }
}
