//! When two values are equal: numbers by their value, sets and keyed lists in any order.

use std::{cmp::Ordering, sync::Arc};

use serde_json::Value;

use super::value::{Error, List, Object, Result, Val};

/// Whether two values are equal; those of different types are not.
pub(super) fn equal(one: &Val<'_>, two: &Val<'_>) -> Result<bool> {
    Ok(match (one, two) {
        (Val::Null, Val::Null) => true,
        (Val::List(one), Val::List(two)) => return lists(one, two),
        (Val::Map(_) | Val::Object(_), Val::Map(_) | Val::Object(_)) => return maps(one, two),
        (Val::Type(one), Val::Type(two)) => one.runtime_name() == two.runtime_name(),
        (Val::Optional(one), Val::Optional(two)) => match (one, two) {
            (Some(one), Some(two)) => return equal(one, two),
            (one, two) => one.is_none() && two.is_none(),
        },
        (Val::Quantity(one), Val::Quantity(two)) => one == two,
        (Val::Url(one), Val::Url(two)) => one.text == two.text,
        (Val::Ip(one), Val::Ip(two)) => one == two,
        (Val::Cidr(one, length), Val::Cidr(two, other)) => one == two && length == other,
        (Val::Semver(one), Val::Semver(two)) => one.cmp_precedence(two) == Ordering::Equal,
        (Val::Format(one), Val::Format(two)) => one == two,
        (Val::Unknown(one), Val::Unknown(two)) => one == two,
        (one, two) => match one.compare(two) {
            Ok(order) => order == Ordering::Equal,
            Err(_) => false,
        },
    })
}

fn lists(one: &List<'_>, two: &List<'_>) -> Result<bool> {
    if one.items.len() != two.items.len() {
        return Ok(false);
    }
    let kind = |list: &List<'_>| {
        list.of.and_then(|of| of.get("x-kubernetes-list-type")).and_then(Value::as_str).map(str::to_owned)
    };
    match kind(one).as_deref() {
        Some("set") => {
            for item in &two.items {
                if !contains(&one.items, item)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Some("map") => {
            for item in &two.items {
                let key = key(one, item);
                let Some(same) = one.items.iter().find(|other| self::key(one, other) == key) else {
                    return Ok(false);
                };
                if !equal(same, item)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => {
            for (one, two) in one.items.iter().zip(&two.items) {
                if !equal(one, two)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}

/// Whether an item is in a list.
pub(super) fn contains(items: &[Val<'_>], item: &Val<'_>) -> Result<bool> {
    for other in items {
        if equal(other, item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What distinguishes an item of a keyed list.
fn key(list: &List<'_>, item: &Val<'_>) -> Vec<Option<Value>> {
    let keys = list.of.and_then(|of| of.get("x-kubernetes-list-map-keys")).and_then(Value::as_array);
    let keys = keys.into_iter().flatten().filter_map(Value::as_str);
    keys.map(|key| match item {
        Val::Object(object) => object.fields.get(key).cloned(),
        _ => None,
    })
    .collect()
}

fn maps(one: &Val<'_>, two: &Val<'_>) -> Result<bool> {
    if let (Val::Object(one), Val::Object(two)) = (one, two) {
        return objects(one, two);
    }
    let (Some(ones), Some(twos)) = (one.entries(), two.entries()) else { return Ok(false) };
    if ones.len() != twos.len() {
        return Ok(false);
    }
    for (key, value) in ones {
        let Some((_, other)) = twos.iter().find(|(other, _)| other.key() == key.key()) else {
            return Ok(false);
        };
        if !equal(&value?, &other.clone()?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All fields count, also those that no schema describes.
fn objects(one: &Object<'_>, two: &Object<'_>) -> Result<bool> {
    if one.fields.len() != two.fields.len() {
        return Ok(false);
    }
    for (name, value) in one.fields {
        let Some(other) = two.fields.get(name) else { return Ok(false) };
        let same = match (one.get(name), two.get(name)) {
            (Some(one), Some(two)) => equal(&one?, &two?)?,
            _ => value == other,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Two lists as one: sets become their union, of keyed lists the second one's items replace the first one's.
pub(super) fn join<'v>(one: &Arc<List<'v>>, two: &List<'v>) -> Result<Val<'v>> {
    let mut items = one.items.clone();
    match one.of.and_then(|of| of.get("x-kubernetes-list-type")).and_then(Value::as_str) {
        Some("set") => {
            for item in &two.items {
                if !contains(&items, item)? {
                    items.push(item.clone());
                }
            }
        }
        Some("map") => {
            for item in &two.items {
                let key = key(one, item);
                match items.iter().position(|other| self::key(one, other) == key) {
                    Some(at) => items[at] = item.clone(),
                    None => items.push(item.clone()),
                }
            }
        }
        _ => items.extend(two.items.iter().cloned()),
    }
    if items.len() > 1_000_000 {
        return Err(Error::new("list is too long"));
    }
    Ok(Val::List(Arc::new(List { items, of: one.of })))
}
