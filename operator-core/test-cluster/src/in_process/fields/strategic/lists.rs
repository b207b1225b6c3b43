//! Merging lists: by key, or by value.

use serde_json::{Map, Value};

use super::{
    DIRECTIVE, ORDER, Refused, map,
    meta::{Meta, Rule},
    no_key, shown, unknown_directive, wrong_type,
};
use crate::in_process::go::type_of;

type Item = Map<String, Value>;

/// Merges a list, or deletes the items of the patch from it.
pub(super) fn merge(
    mut live: Vec<Value>,
    patch: Vec<Value>,
    rule: &Rule,
    of: Meta<'_>,
    deletes: bool,
) -> Result<Vec<Value>, Refused> {
    if live.is_empty() && patch.is_empty() {
        return Ok(live);
    }
    if !check_elements(&[live.clone(), patch.clone()])? {
        if deletes {
            live.retain(|item| !patch.contains(item));
            return Ok(live);
        }
        let mut merged = live.clone();
        merged.extend(patch.iter().cloned());
        return in_order(without_doubles(merged), &patch, &live, "");
    }
    if rule.key.is_empty() {
        return Err(Refused::Internal(format!("cannot merge lists without merge key for {}", of.form())));
    }
    let (live, patch) = with_directives(live, patch, &rule.key)?;
    let mut merged = live.clone();
    for item in &patch {
        let new = item_of(item)?;
        let key = new.get(&rule.key).ok_or_else(|| no_key(new, &rule.key))?;
        match position(&merged, &rule.key, key)? {
            Some(at) => {
                let old = item_of(&merged[at])?.clone();
                merged[at] = map(old, new.clone(), of)?.into();
            }
            None => merged.push(item.clone()),
        }
    }
    in_order(merged, &patch, &live, &rule.key)
}

/// Does what items with a directive say: the list that is left, and the items to merge into it.
fn with_directives(
    mut live: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), Refused> {
    let (mut plain, mut replaces) = (Vec::new(), false);
    for item in patch {
        let fields = item_of(&item)?;
        match fields.get(DIRECTIVE).map(|directive| (directive, directive.as_str())) {
            None => plain.push(item),
            Some((_, Some("delete"))) => {
                let value = fields.get(key).ok_or_else(|| no_key(fields, key))?;
                while let Some(at) = position(&live, key, value)? {
                    live.remove(at);
                }
            }
            Some((_, Some("replace"))) => replaces = true,
            Some((_, Some("merge"))) => {
                let wrong = "merging lists cannot yet be specified in the patch";
                return Err(Refused::Internal(wrong.to_owned()));
            }
            Some((directive, _)) => return Err(unknown_directive(directive, fields)),
        }
    }
    Ok(if replaces { (plain, Vec::new()) } else { (live, plain) })
}

/// Brings a merged list into order: what is in the patch as there, the rest as before.
pub(super) fn in_order(
    merged: Vec<Value>,
    order: &[Value],
    before: &[Value],
    key: &str,
) -> Result<Vec<Value>, Refused> {
    let mut keyed = Vec::new();
    for item in merged {
        keyed.push((key_value(&item, key)?, item));
    }
    let places = |list: &[Value]| {
        let keys = list.iter().map(|item| key_value(item, key));
        keys.collect::<Result<Vec<_>, _>>()
    };
    let (order, before) = (places(order)?, places(before)?);
    let place = |list: &[Value], value: &Value| list.iter().position(|known| known == value);
    let (mut patched, mut others): (Vec<_>, Vec<_>) =
        keyed.into_iter().partition(|(value, _)| place(&order, value).is_some());
    patched.sort_by_key(|(value, _)| place(&order, value));
    others.sort_by_key(|(value, _)| place(&before, value).unwrap_or(usize::MAX));
    let (mut patched, mut others) = (patched.into_iter().peekable(), others.into_iter().peekable());
    let mut all = Vec::new();
    loop {
        let others_first = match (others.peek(), patched.peek()) {
            (None, None) => return Ok(all),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some((other, _)), Some((patch, _))) => {
                place(&before, other).zip(place(&before, patch)).is_some_and(|(other, patch)| other < patch)
            }
        };
        let next = if others_first { others.next() } else { patched.next() };
        all.extend(next.map(|(_, item)| item));
    }
}

/// Checks that the items of a patch have the order that it names.
pub(super) fn check_order(patch: &[Value], order: &[Value], key: &str) -> Result<(), Refused> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut places = order.iter();
    for item in patch {
        if !key.is_empty() && item_of(item)?.contains_key(DIRECTIVE) {
            continue;
        }
        let value = key_value(item, key)?;
        let mut found = false;
        for place in places.by_ref() {
            if key_value(place, key)? == value {
                found = true;
                break;
            }
        }
        if !found {
            let (patch, order) = (shown(&patch.into()), shown(&order.into()));
            return Err(Refused::Internal(format!(
                "The order in patch list:\n{patch}\n doesn't match {ORDER} list:\n{order}\n"
            )));
        }
    }
    Ok(())
}

/// Checks that all items are of one type; returns whether they are maps.
pub(super) fn check_elements(lists: &[Vec<Value>; 2]) -> Result<bool, Refused> {
    let mut items = lists.iter().flatten();
    let Some(first) = items.next() else {
        return Err(Refused::Internal("no elements in any of the given slices".to_owned()));
    };
    if first.is_array() {
        return Err(Refused::Unprocessable("lists of lists are not supported"));
    }
    if items.any(|item| type_of(item) != type_of(first)) {
        let all: Vec<_> = lists.iter().map(|list| shown(&Value::from(list.clone()))).collect();
        return Err(Refused::Internal(format!("list element types are not identical: [{}]", all.join(" "))));
    }
    Ok(first.is_object())
}

fn item_of(item: &Value) -> Result<&Item, Refused> {
    item.as_object().ok_or_else(|| wrong_type("map[string]interface {}", item))
}

/// The value by which an item is known.
fn key_value(item: &Value, key: &str) -> Result<Value, Refused> {
    if key.is_empty() {
        return Ok(item.clone());
    }
    let item = item_of(item)?;
    item.get(key).cloned().ok_or_else(|| no_key(item, key))
}

fn position(list: &[Value], key: &str, value: &Value) -> Result<Option<usize>, Refused> {
    for (at, item) in list.iter().enumerate() {
        let Some(item) = item.as_object() else {
            return Err(Refused::Internal(format!("value for key {at} is not a map")));
        };
        if item.get(key) == Some(value) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Each value once. As in the real server, the last one takes the place of a double.
fn without_doubles(mut list: Vec<Value>) -> Vec<Value> {
    let mut at = 0;
    while at < list.len() {
        let mut other = at + 1;
        while other < list.len() {
            if list[at] == list[other] {
                list.swap_remove(other);
            } else {
                other += 1;
            }
        }
        at += 1;
    }
    list
}
