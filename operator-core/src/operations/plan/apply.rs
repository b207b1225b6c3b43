//! Server-side apply without the schema of a kind. Pure.
//!
//! ```text
//! body ──▶ merged into the known object ──▶ what we owned, nobody else owns, and the body has no more: removed
//!    └───▶ the set of its fields ──▶ our entry of the managed fields
//! ```
//!
//! Lists are in `lists`.
//!
//! # Assumptions
//! - Whoever applies takes the fields by force; that others lose them is not noted.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Map, Value, json};

use super::{Moment, lists};
use crate::{operations::send::request::WriteRequest, resource::ResourceType};

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    /// The name of its field.
    pub(super) field: &'p str,
    /// Whether lists with the usual keys are merged by them: those of the cluster's own kinds, and of all metadata.
    pub(super) keyed: bool,
}

/// `known` after an apply of `body`, with the managed fields.
pub(super) fn applied(
    write: &WriteRequest<'_>,
    known: Option<&Value>,
    body: &Value,
    moment: &Moment<'_>,
) -> Value {
    let wanted = wanted(body, write.subresource);
    let nothing = json!({});
    let live = known.unwrap_or(&nothing);
    let entries = live["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let is_ours = |entry: &Value| {
        entry["manager"] == moment.manager
            && entry["operation"] == "Apply"
            && entry["subresource"].as_str() == write.subresource
    };
    let (ours, mut others): (Vec<Value>, Vec<Value>) = entries.into_iter().partition(is_ours);
    let sets = |entries: &[Value]| entries.iter().map(|entry| entry["fieldsV1"].clone()).collect::<Vec<_>>();
    let (our_sets, their_sets) = (sets(&ours), sets(&others));
    let trees: Vec<&Value> = our_sets.iter().chain(&their_sets).collect();
    let (mut object, owned) = merged(Some(live), &wanted, &trees, root(write.kind));
    let theirs: Vec<&Value> = their_sets.iter().collect();
    for before in &our_sets {
        remove(&mut object, before, &owned, &theirs);
    }
    if owned.as_object().is_some_and(|owned| !owned.is_empty()) {
        others.push(entry(write.kind, write.subresource, &owned, moment));
    }
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    object["metadata"]["managedFields"] = others.into();
    object
}

/// The managed fields of an object that `moment.manager` has applied as it is.
pub(crate) fn made_by(object: &Value, kind: &ResourceType, moment: &Moment<'_>) -> Value {
    let (_, owned) = merged(None, &wanted(object, None), &[], root(kind));
    json!([entry(kind, None, &owned, moment)])
}

fn root(kind: &ResourceType) -> Place<'static> {
    let group = kind.group();
    Place { field: "", keyed: !group.contains('.') || group.ends_with(".k8s.io") }
}

fn entry(kind: &ResourceType, subresource: Option<&str>, owned: &Value, moment: &Moment<'_>) -> Value {
    let mut entry = json!({
        "manager": moment.manager,
        "operation": "Apply",
        "apiVersion": kind.api_version(),
        "time": Time(moment.now),
        "fieldsType": "FieldsV1",
        "fieldsV1": owned,
    });
    if let Some(subresource) = subresource {
        entry["subresource"] = subresource.into();
    }
    entry
}

/// The part of a body that is applied: without what no manager can own.
fn wanted(body: &Value, subresource: Option<&str>) -> Value {
    const NOBODYS: [&str; 9] = [
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "uid",
    ];
    let mut wanted = body.as_object().cloned().unwrap_or_default();
    match subresource {
        Some(subresource) => wanted.retain(|name, _| name == subresource),
        None => wanted.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind" | "status")),
    }
    if let Some(metadata) = wanted.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, value| !NOBODYS.contains(&name.as_str()) && !value.is_null());
        if metadata.is_empty() {
            wanted.remove("metadata");
        }
    }
    wanted.into()
}

/// `live` with `wanted` in it, and the set of the fields of `wanted`. `trees` are the sets of all managers here.
pub(super) fn merged(
    live: Option<&Value>,
    wanted: &Value,
    trees: &[&Value],
    place: Place<'_>,
) -> (Value, Value) {
    match wanted {
        Value::Array(items) => lists::merged(live, items, trees, place),
        Value::Object(fields) if fields.is_empty() => {
            (live.filter(|live| live.is_object()).cloned().unwrap_or_else(|| json!({})), json!({}))
        }
        Value::Object(fields) if !is_whole(live, trees) => {
            let mut object = live.and_then(Value::as_object).cloned().unwrap_or_default();
            let mut owned = Map::new();
            for (name, wanted) in fields.iter().filter(|(_, wanted)| !wanted.is_null()) {
                let key = format!("f:{name}");
                let below: Vec<&Value> = trees.iter().filter_map(|tree| tree.get(&key)).collect();
                let place = Place { field: name, keyed: place.keyed || name == "metadata" };
                let (value, fields) = merged(object.get(name), wanted, &below, place);
                object.insert(name.clone(), value);
                owned.insert(key, fields);
            }
            (object.into(), owned.into())
        }
        whole => (whole.clone(), json!({})),
    }
}

/// Whether a map is owned as a whole: somebody owns it, and nothing in it.
fn is_whole(live: Option<&Value>, trees: &[&Value]) -> bool {
    let is_filled = live.and_then(Value::as_object).is_some_and(|live| !live.is_empty());
    is_filled && trees.iter().any(|tree| tree.as_object().is_some_and(Map::is_empty))
}

/// Removes what is in the set `before`, is in `after` no more, and in none of the others'.
fn remove(value: &mut Value, before: &Value, after: &Value, others: &[&Value]) {
    let owned = before.as_object().into_iter().flatten();
    for (key, below) in owned.filter(|(key, _)| *key != ".") {
        let theirs: Vec<&Value> = others.iter().filter_map(|other| other.get(key)).collect();
        let now = after.get(key);
        let is_member = is_empty(below) || below.get(".").is_some();
        if is_member && now.is_none() && theirs.is_empty() {
            take(value, key);
            continue;
        }
        let Some(child) = child(value, key) else { continue };
        let was_empty = is_empty(child);
        remove(child, below, now.unwrap_or(&Value::Null), &theirs);
        if !was_empty && is_empty(child) {
            take(value, key);
        }
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// What a key of a set names in `value`.
fn child<'v>(value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    if let Some(name) = key.strip_prefix("f:") {
        return value.get_mut(name);
    }
    let item = item_of(key)?;
    value.as_array_mut()?.iter_mut().find(|one| item(one))
}

fn take(value: &mut Value, key: &str) {
    if let Some(name) = key.strip_prefix("f:") {
        if let Some(fields) = value.as_object_mut() {
            fields.remove(name);
        }
    } else if let (Some(item), Some(items)) = (item_of(key), value.as_array_mut()) {
        items.retain(|one| !item(one));
    }
}

/// Whether an item of a list is the one that a key of a set names.
fn item_of(key: &str) -> Option<impl Fn(&Value) -> bool> {
    let (kind, text) = key.split_at_checked(2)?;
    let named: Value = serde_json::from_str(text).ok()?;
    let by_key = match kind {
        "k:" => true,
        "v:" => false,
        _ => return None,
    };
    Some(move |item: &Value| match by_key {
        true => named.as_object().into_iter().flatten().all(|(name, value)| item.get(name) == Some(value)),
        false => *item == named,
    })
}

/// The object without the times of its managed fields, which alone are no change.
pub(super) fn without_times(object: &Value) -> Value {
    let mut object = object.clone();
    for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("time");
        }
    }
    // Their order is none of ours.
    if let Some(entries) = object["metadata"]["managedFields"].as_array_mut() {
        entries.sort_by_key(ToString::to_string);
    }
    object
}
