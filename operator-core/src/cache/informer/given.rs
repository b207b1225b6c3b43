//! An informer that is given its objects, where there is no cluster to list them from.
//!
//! ```text
//! objects by hand ─▶ those that its scope and its selectors include ─▶ engine, as a list shows them ─▶ synced
//! ```

use std::{collections::BTreeMap, sync::Arc, sync::atomic::Ordering};

use kube::core::{Expression, Selector, SelectorExt};
use serde_json::Value;

use super::{Informer, Inner};
use crate::{cache::text::Item, observe::SourceHealth, resource::ObjectKey};

impl Informer {
    /// Takes these objects for all that exist, as of `version`: it is synced when this returns, and follows nothing.
    pub(crate) fn given(&self, objects: &[(ObjectKey, Arc<Value>)], version: &str) {
        let inner = &*self.0;
        inner.is_given.store(true, Ordering::Relaxed);
        let engine = &inner.engine;
        for scope in engine.scopes.indexes() {
            engine.list_started(scope);
            for (key, object) in objects {
                if engine.scopes.of(key) == Some(scope) && inner.selects(object) {
                    engine.listed(scope, engine.face.take(&Item::of(&object.to_string())));
                }
            }
            engine.health_changed(scope, SourceHealth::Healthy);
            engine.list_finished(scope, version);
        }
    }
}

impl Inner {
    /// Whether its selectors include the object, as a server would judge.
    fn selects(&self, object: &Value) -> bool {
        let labels = object.pointer("/metadata/labels").cloned().unwrap_or_default();
        let labels: BTreeMap<String, String> = serde_json::from_value(labels).unwrap_or_default();
        let by_label =
            self.settings.label_selector.as_deref().is_none_or(|text| selector(text).matches(&labels));
        by_label && self.settings.field_selector.as_deref().is_none_or(|text| has_fields(text, object))
    }
}

/// A label selector in the API's syntax. A part that isn't understood excludes nothing.
fn selector(text: &str) -> Selector {
    parts(text).into_iter().filter_map(expression).collect()
}

/// The parts of a selector; a comma inside brackets is none of its own.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

fn expression(part: &str) -> Option<Expression> {
    let values = |list: &str| {
        let list = list.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some(list.split(',').map(|value| value.trim().to_owned()).collect())
    };
    let key = |key: &str| key.trim().to_owned();
    if let Some((name, list)) = part.split_once(" notin ") {
        return Some(Expression::NotIn(key(name), values(list)?));
    }
    if let Some((name, list)) = part.split_once(" in ") {
        return Some(Expression::In(key(name), values(list)?));
    }
    if let Some((name, value)) = part.split_once("!=") {
        return Some(Expression::NotEqual(key(name), key(value)));
    }
    if let Some((name, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Some(Expression::Equal(key(name), key(value)));
    }
    match part.strip_prefix('!') {
        _ if part.is_empty() => None,
        Some(name) => Some(Expression::DoesNotExist(key(name))),
        None => Some(Expression::Exists(key(part))),
    }
}

/// Whether the object's fields are as a field selector in the API's syntax says.
fn has_fields(text: &str, object: &Value) -> bool {
    parts(text).into_iter().all(|part| {
        let is = |path: &str, wanted: &str| {
            let pointer = format!("/{}", path.trim().replace('.', "/"));
            match object.pointer(&pointer) {
                Some(Value::String(found)) => found == wanted.trim(),
                Some(found) => {
                    serde_json::from_str(wanted.trim()).is_ok_and(|wanted: Value| wanted == *found)
                }
                None => wanted.trim().is_empty(),
            }
        };
        match (part.split_once("!="), part.split_once("==").or_else(|| part.split_once('='))) {
            (Some((path, wanted)), _) => !is(path, wanted),
            (None, Some((path, wanted))) => is(path, wanted),
            (None, None) => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_selector_means_what_it_means_to_a_server() {
        let labels = [("app".to_owned(), "web".to_owned()), ("tier".to_owned(), "front".to_owned())].into();
        for (text, expected) in [
            ("app=web", true),
            ("app==web,tier!=back", true),
            ("app in (web,api), tier", true),
            ("app notin (api, db)", true),
            ("!app", false),
            ("app=web,stage", false),
            ("stage!=test", true),
            ("", true),
        ] {
            assert_eq!(selector(text).matches(&labels), expected, "{text}");
        }
    }

    #[test]
    fn a_field_selector_reads_the_fields() {
        let object = json!({ "metadata": { "name": "a" }, "spec": { "nodeName": "n", "replicas": 2 } });
        assert!(has_fields("metadata.name=a,spec.nodeName!=m,spec.replicas==2,status.phase=", &object));
        assert!(!has_fields("metadata.name!=a", &object) && !has_fields("spec.nodeName=m", &object));
    }
}
