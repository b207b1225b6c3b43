//! The JSON patch that replaces what others have written by what is ours.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};

use super::{
    culprits::{Beside, Culprits, Items},
    merged::Merged,
    place::{List, Place},
};

/// The operations of the patch. Those that reach deeper into the object come first: each counts items as they are
/// before any is removed.
pub(super) fn of(culprits: &Culprits<'_>) -> Vec<Value> {
    let mut all: Vec<(String, Vec<Value>)> = Vec::new();
    all.extend(culprits.items.iter().map(|items| (items.list.place.pointer.clone(), replaced(items))));
    all.extend(culprits.beside.iter().map(|beside| (beside.ours.pointer.clone(), cleared(beside))));
    all.extend(culprits.lists.iter().map(|list| (list.place.pointer.clone(), vec![whole(list)])));
    all.sort_by_key(|(pointer, _)| Reverse(pointer.matches('/').count()));
    all.into_iter().flat_map(|(_, operations)| operations).collect()
}

/// Each item is replaced by the one of ours that it blocks, otherwise by another one that is missing, otherwise
/// removed.
fn replaced(items: &Items<'_>) -> Vec<Value> {
    let list = &items.list;
    let missing = |item: &Merged| item.desired.filter(|_| item.live.is_none());
    let mut missing: Vec<_> = list.merged.iter().filter_map(missing).collect();
    let mut replacements = Vec::new();
    let mut take = |at: usize| missing.iter().position(|other| *other == at).map(|at| missing.remove(at));
    for (theirs, ours) in &items.positions {
        replacements.push((*theirs, ours.and_then(&mut take), ours.is_none()));
    }
    let mut missing = missing.into_iter();
    let mut removed = Vec::new();
    let mut operations = Vec::new();
    for (theirs, ours, takes_any) in replacements {
        match ours.or_else(|| if takes_any { missing.next() } else { None }) {
            Some(ours) => {
                operations.push(replace(&format!("{}/{theirs}", list.place.pointer), &list.desired[ours]))
            }
            None => removed.push(theirs),
        }
    }
    operations
        .extend(removed.into_iter().rev().map(|theirs| remove(&format!("{}/{theirs}", list.place.pointer))));
    operations
}

/// The field of others is removed, and what of ours is missing beside it, or simple and different, is set. Or all
/// fields of others are removed.
fn cleared(beside: &Beside<'_>) -> Vec<Value> {
    let (ours, pointer) = (&beside.ours, &beside.ours.pointer);
    let Some(name) = &beside.field else {
        return ours.desired.map(|desired| replace(pointer, desired)).into_iter().collect();
    };
    let mut operations = vec![remove(&ours.field(name).pointer)];
    for (name, wanted) in ours.desired.and_then(Value::as_object).into_iter().flatten() {
        let field = ours.field(name);
        let comes = match field.live {
            None => true,
            Some(found) => !wanted.is_object() && !wanted.is_array() && found != wanted,
        };
        if comes {
            operations.push(json!({ "op": "add", "path": field.pointer, "value": wanted }));
        }
    }
    operations
}

/// The list without items of others, and with ours in full.
fn whole(list: &List<'_>) -> Value {
    let ours = list.merged.iter().filter(|item| item.desired.is_some());
    let ours: Vec<_> = ours.map(|item| merged_value(&list.item(*item))).collect();
    replace(&list.place.pointer, &Value::Array(ours))
}

/// The value that an apply would produce at a place.
fn merged_value(place: &Place<'_>) -> Value {
    let (desired, live) = match (place.desired, place.live) {
        (Some(desired), Some(live)) => (desired, live),
        (one, other) => return one.or(other).cloned().unwrap_or_default(),
    };
    match (desired, live) {
        (Value::Object(desired), Value::Object(live)) if place.is_granular() => {
            let names = live.keys().chain(desired.keys());
            Value::Object(
                names.map(|name| (name.clone(), merged_value(&place.field(name)))).collect::<Map<_, _>>(),
            )
        }
        (Value::Array(_), Value::Array(_)) => match place.list() {
            Some(list) => list.merged.iter().map(|item| merged_value(&list.item(*item))).collect(),
            None => desired.clone(),
        },
        _ => desired.clone(),
    }
}

fn replace(path: &str, value: &Value) -> Value {
    json!({ "op": "replace", "path": path, "value": value })
}

fn remove(path: &str) -> Value {
    json!({ "op": "remove", "path": path })
}
