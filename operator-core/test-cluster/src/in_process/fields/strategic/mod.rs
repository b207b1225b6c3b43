//! Strategic merge patches: merge patches that know the lists of Kubernetes' kinds by their keys. Pure.
//!
//! ```text
//!  live ──┐                       ┌─ $patch, $retainKeys: what becomes of the whole map
//!         ├─▶ merge, map by map ──┼─ $setElementOrder: a list and its order
//!  patch ─┘                       └─ other fields: replaced, removed, merged by what the type says (meta.rs)
//! ```
//!
//! # Guarantees
//! - What comes out is what the recorded server's library makes of it, and refusals have its words.
//!
//! # Assumptions
//! - The live object is as it is stored, so that each of its fields is one of its type.

mod lists;
mod meta;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::meta::Meta;
use super::{Origin, Schema};
use crate::in_process::go::type_of;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder";
const DELETE_FROM: &str = "$deleteFromPrimitiveList";

/// Why a patch is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::in_process) enum Refused {
    /// 400.
    BadRequest(&'static str),
    /// 422.
    Unprocessable(&'static str),
    /// 500, which is what the server answers to what its library can't do.
    Internal(String),
}

const BAD_ORDER: Refused = Refused::BadRequest("invalid patch format of setElementOrder list");
const BAD_PRIMITIVES: Refused = Refused::BadRequest("invalid patch format of primitive list");
const BAD_RETAIN_KEYS: Refused = Refused::BadRequest("invalid patch format of retainKeys");

impl Schema {
    /// The live object with a strategic merge patch applied; `None` for a custom kind, which has no such patches.
    pub(in crate::in_process) fn strategic_merge(
        &self,
        live: &Value,
        patch: Map<String, Value>,
    ) -> Option<Result<Value, Refused>> {
        let Origin::Builtin { go, .. } = &self.0.origin else { return None };
        let live = live.as_object().cloned().unwrap_or_default();
        Some(map(live, patch, Meta::of(go)).map(Value::Object))
    }
}

/// Merges a map.
fn map(
    mut live: Map<String, Value>,
    mut patch: Map<String, Value>,
    meta: Meta<'_>,
) -> Result<Map<String, Value>, Refused> {
    if let Some(directive) = patch.remove(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Map::new()),
            _ => {
                patch.insert(DIRECTIVE.to_owned(), directive.clone());
                Err(unknown_directive(&directive, &patch))
            }
        };
    }
    retain_keys(&mut live, &mut patch)?;
    ordered_lists(&mut live, &mut patch, meta)?;
    for (key, value) in patch {
        let deleted_from = key.starts_with(DELETE_FROM);
        let key = if deleted_from { key_of(&key, DELETE_FROM).ok_or(BAD_PRIMITIVES)? } else { key };
        if value.is_null() {
            live.remove(&key);
            continue;
        }
        let merged = match (live.remove(&key), value) {
            // There is nothing to delete from.
            (None, _) if deleted_from => continue,
            (Some(Value::Object(old)), Value::Object(new)) => {
                let (of, rule) = meta.field(&key)?;
                Some(Value::Object(if rule.strategy == "replace" { new } else { map(old, new, of)? }))
            }
            (Some(Value::Array(old)), Value::Array(new)) => {
                let (of, rule) = meta.list(&key)?;
                let merges = rule.strategy == "merge" || deleted_from;
                Some(if merges {
                    lists::merge(old, new, &rule, of, deleted_from)?.into()
                } else {
                    new.into()
                })
            }
            (Some(old), _) if deleted_from => Some(old),
            (Some(old), new) if type_of(&old) == type_of(&new) => without_directives(new),
            (_, new) => without_directives(without_nulls(new)),
        };
        if let Some(merged) = merged {
            live.insert(key, merged);
        }
    }
    Ok(live)
}

/// Removes what a patch says not to retain.
fn retain_keys(live: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Result<(), Refused> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let keys = keys.as_array().ok_or(BAD_RETAIN_KEYS)?;
    let retained = |key: &String| keys.iter().any(|retained| retained == key);
    let is_directive = |key: &String| key.starts_with(DELETE_FROM) || key.starts_with(ORDER);
    if patch.iter().any(|(key, value)| !value.is_null() && !is_directive(key) && !retained(key)) {
        return Err(BAD_RETAIN_KEYS);
    }
    live.retain(|key, _| retained(key));
    Ok(())
}

/// Merges the lists whose order a patch names, and takes them out of the patch.
fn ordered_lists(
    live: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    meta: Meta<'_>,
) -> Result<(), Refused> {
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for directive in directives {
        let order = list_of(patch.remove(&directive).unwrap_or_default())?;
        let key = key_of(&directive, ORDER).ok_or(BAD_ORDER)?;
        let old = live.get(&key).cloned().map(list_of).transpose()?;
        let new = patch.get(&key).cloned().map(list_of).transpose()?;
        let (of, rule) = meta.list(&key)?;
        lists::check_order(new.as_deref().unwrap_or_default(), &order, &rule.key)?;
        let before = old.clone().unwrap_or_default();
        let both = [before.clone(), new.clone().unwrap_or_default()];
        let merged = match (old, new) {
            (Some(old), None) => old,
            (None, Some(new)) => match without_directives(Value::Array(new)) {
                Some(Value::Array(new)) => new,
                _ => continue,
            },
            (Some(old), Some(new)) if rule.strategy == "merge" => lists::merge(old, new, &rule, of, false)?,
            (Some(_), Some(new)) => new,
            (None, None) => continue,
        };
        lists::check_elements(&both)?;
        live.insert(key.clone(), lists::in_order(merged, &order, &before, &rule.key)?.into());
        patch.remove(&key);
    }
    Ok(())
}

fn list_of(value: Value) -> Result<Vec<Value>, Refused> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(wrong_type("[]interface {}", &other)),
    }
}

/// The field that a directive is about.
fn key_of(directive: &str, prefix: &str) -> Option<String> {
    directive.strip_prefix(prefix)?.strip_prefix('/').map(str::to_owned)
}

/// What is left of a value of a patch where there is nothing to merge it with; `None` if it is itself a directive.
fn without_directives(value: Value) -> Option<Value> {
    Some(match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => return None,
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .filter_map(|(key, value)| Some((key, without_directives(value)?)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.into_iter().filter_map(without_directives).collect::<Vec<_>>().into(),
        other => other,
    })
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
            kept.map(|(key, value)| (key, without_nulls(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect::<Vec<_>>().into(),
        other => other,
    }
}

fn wrong_type(wanted: &str, given: &Value) -> Refused {
    // The library prints the type as a text, which nothing has none of.
    let given = if given.is_null() { "%!s(<nil>)" } else { type_of(given) };
    Refused::Internal(format!("expected a {wanted}, but received a {given}"))
}

fn unknown_directive(directive: &Value, within: &Map<String, Value>) -> Refused {
    Refused::Internal(format!("unknown patch type: {} in map: {}", shown(directive), shown_map(within)))
}

fn no_key(item: &Map<String, Value>, key: &str) -> Refused {
    Refused::Internal(format!("map: {} does not contain declared merge key: {key}", shown_map(item)))
}

/// A value as Go prints it.
pub(in crate::in_process) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => shown_map(fields),
        other => other.to_string(),
    }
}

fn shown_map(fields: &Map<String, Value>) -> String {
    let fields = fields.iter().map(|(key, value)| format!("{key}:{}", shown(value)));
    format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
}
