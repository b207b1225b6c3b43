//! Lists whose items must differ.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::outcome::{Cause, cause, child, invalid};

/// Finds items that are in a set or a map twice: the second of each is reported.
pub(in super::super) fn duplicates(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let property = schema.get("properties").and_then(|properties| properties.get(name));
                if let Some(property) = property {
                    duplicates(property, value, &child(path, name), causes);
                }
                let others = schema.get("additionalProperties").filter(|others| others.is_object());
                if let Some(others) = others {
                    duplicates(others, value, &format!("{path}[{name}]"), causes);
                }
            }
        }
        Value::Array(items) => {
            match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
                Some("set") => report(items, path, causes),
                Some("map") => {
                    let is_object = |item: &&Value| item.is_object() || item.is_null();
                    if let Some(at) = items.iter().position(|item| !is_object(&item)) {
                        let why = "must be an object for an array of list-type map";
                        causes.push(invalid(&format!("{path}[{at}]"), &items[at], why));
                    } else {
                        report(&items.iter().map(|item| key(schema, item)).collect::<Vec<_>>(), path, causes);
                    }
                }
                _ => {}
            }
            if let Some(of) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    duplicates(of, item, &format!("{path}[{index}]"), causes);
                }
            }
        }
        _ => {}
    }
}

fn report(items: &[Value], path: &str, causes: &mut Vec<Cause>) {
    let mut seen = BTreeMap::<String, u32>::new();
    for (index, item) in items.iter().enumerate() {
        let times = seen.entry(item.to_string()).or_default();
        *times += 1;
        if *times == 2 {
            causes.push(cause("Duplicate", &format!("{path}[{index}]"), format!("Duplicate value: {item}")));
        }
    }
}

/// What distinguishes an item of a map.
fn key(schema: &Value, item: &Value) -> Value {
    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let names = keys.into_iter().flatten().filter_map(Value::as_str);
    let fields = names.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone())));
    let fields: Map<String, Value> = fields.collect();
    json!(fields)
}
