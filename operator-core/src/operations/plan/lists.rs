//! How a list is merged, as far as that can be known without its schema. Pure.
//!
//! The managed fields of the known object show which fields identify its items. Without them, the lists of the
//! cluster's own kinds have the keys that lists of that name usually have. All others are replaced as a whole.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::apply::{Place, merged as merged_value};

/// What a list is.
#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// One value.
    Whole,
    /// Its items are what they are.
    Set,
    /// Its items are told apart by these fields.
    Keyed(Vec<String>),
}

/// The keys of lists by the names of their fields, in the cluster's own kinds.
const USUAL: [(&str, &[&[&str]]); 14] = [
    ("conditions", &[&["type"]]),
    ("containers", &[&["name"]]),
    ("env", &[&["name"]]),
    ("ephemeralContainers", &[&["name"]]),
    ("hostAliases", &[&["ip"]]),
    ("imagePullSecrets", &[&["name"]]),
    ("initContainers", &[&["name"]]),
    ("ownerReferences", &[&["uid"]]),
    ("ports", &[&["containerPort", "protocol"], &["port", "protocol"]]),
    ("secrets", &[&["name"]]),
    ("topologySpreadConstraints", &[&["topologyKey", "whenUnsatisfiable"]]),
    ("volumeDevices", &[&["devicePath"]]),
    ("volumeMounts", &[&["mountPath"]]),
    ("volumes", &[&["name"]]),
];

/// The one key field with a default, which a server fills in.
const PROTOCOL: (&str, &str) = ("protocol", "TCP");

/// The list `live` with `items` in it, and the set of their fields.
pub(super) fn merged(
    live: Option<&Value>,
    items: &[Value],
    trees: &[&Value],
    place: Place<'_>,
) -> (Value, Value) {
    let present = live.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    match shape(items, trees, place) {
        Shape::Whole => (items.into(), json!({})),
        Shape::Set => {
            let mut all = present.to_vec();
            all.extend(items.iter().filter(|item| !present.contains(item)).cloned());
            let owned: Map<_, _> = items.iter().map(|item| (format!("v:{item}"), json!({}))).collect();
            (all.into(), owned.into())
        }
        Shape::Keyed(keys) => by_keys(present, items, &keys, trees, place),
    }
}

fn by_keys(
    present: &[Value],
    items: &[Value],
    keys: &[String],
    trees: &[&Value],
    place: Place<'_>,
) -> (Value, Value) {
    let (mut all, mut owned) = (present.to_vec(), Map::new());
    for item in items {
        let key = key_of(item, keys);
        let name = format!("k:{}", Value::from(key.clone()));
        let below: Vec<&Value> = trees.iter().filter_map(|tree| tree.get(&name)).collect();
        let position = all.iter().position(|one| key_of(one, keys) == key);
        let start = position.map_or_else(|| Value::from(defaulted(&key)), |position| all[position].clone());
        let (value, mut fields) = merged_value(Some(&start), item, &below, place);
        fields["."] = json!({});
        owned.insert(name, fields);
        match position {
            Some(position) => all[position] = value,
            None => all.push(value),
        }
    }
    (all.into(), owned.into())
}

/// The values of an item's key fields.
fn key_of(item: &Value, keys: &[String]) -> Map<String, Value> {
    let of = |key: &String| match item.get(key) {
        None if key == PROTOCOL.0 => PROTOCOL.1.into(),
        value => value.cloned().unwrap_or_default(),
    };
    keys.iter().map(|key| (key.clone(), of(key))).collect()
}

/// What a server fills into a new item.
fn defaulted(key: &Map<String, Value>) -> Map<String, Value> {
    key.iter()
        .filter(|(name, _)| *name == PROTOCOL.0)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn shape(items: &[Value], trees: &[&Value], place: Place<'_>) -> Shape {
    let known = trees.iter().filter_map(|tree| tree.as_object()).find_map(|tree| {
        let first = tree.keys().find(|key| *key != ".");
        match first {
            None => Some(Shape::Whole),
            Some(first) if first.starts_with("v:") => Some(Shape::Set),
            Some(first) => {
                let key: Map<String, Value> = serde_json::from_str(first.strip_prefix("k:")?).ok()?;
                Some(Shape::Keyed(key.into_iter().map(|(name, _)| name).collect()))
            }
        }
    });
    let shape = known.unwrap_or_else(|| usual(items, place));
    match &shape {
        Shape::Keyed(keys) if !are_told_apart(items, keys) => Shape::Whole,
        _ => shape,
    }
}

fn usual(items: &[Value], place: Place<'_>) -> Shape {
    if !place.keyed {
        return Shape::Whole;
    }
    if place.field == "finalizers" {
        return Shape::Set;
    }
    let keys = USUAL.iter().find(|(field, _)| *field == place.field).map_or(&[][..], |(_, keys)| keys);
    let keys = keys.iter().map(|keys| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
    keys.into_iter().find(|keys| are_told_apart(items, keys)).map_or(Shape::Whole, Shape::Keyed)
}

/// Whether each item has all keys, and each other ones.
fn are_told_apart(items: &[Value], keys: &[String]) -> bool {
    let mut seen = BTreeSet::new();
    items.iter().all(|item| {
        let key = key_of(item, keys);
        item.is_object()
            && key.values().all(|value| !value.is_null() && !value.is_object() && !value.is_array())
            && seen.insert(Value::from(key).to_string())
    })
}
