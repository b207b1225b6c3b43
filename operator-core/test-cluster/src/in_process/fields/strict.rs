//! Field validation: fields that a kind doesn't have, and fields that a body has twice. Pure.
//!
//! # Guarantees
//! - They are named in the order of the body, as the real server names them; those of custom kinds first the unknown ones of
//!   the metadata, then of the rest, then of the metadata of embedded objects.
//! - A body without such fields costs a walk, and no memory.

use serde_json::Value;

use super::{
    Origin, Schema,
    recorded::{Go, RECORDED},
};
use crate::in_process::go::json::{self, Build};

impl Schema {
    /// What is wrong with the fields of a body, as in a warning. `raw` is its text if that is JSON.
    pub(in crate::in_process) fn wrong_fields(&self, body: &Value, raw: Option<&[u8]>) -> Vec<String> {
        let doubled = raw.is_some_and(|raw| json::read(raw).is_ok_and(|Count(count)| count != keys_of(body)));
        let tree = || raw.and_then(|raw| json::read(raw).ok()).unwrap_or_else(|| Tree::of(body));
        let mut found = Found::default();
        match &self.0.origin {
            Origin::Builtin { go, .. } => {
                if doubled || has_unknown(go, body) {
                    found.typed(Some(go), &tree(), "");
                }
            }
            Origin::Custom(definition) => {
                if doubled {
                    found.typed(None, &tree(), "");
                }
                let metadata = RECORDED.metadata().map(|(go, _)| go);
                if let (Some(go), Some(metadata)) = (metadata, body.get("metadata")) {
                    found.typed(Some(&go), &Tree::of(metadata), "metadata");
                }
                let mut gone = Vec::new();
                self::gone(body, &self.pruned(body.clone()), "", &mut gone);
                gone.sort();
                found.0.extend(gone.iter().map(|path| format!("unknown field {path:?}")));
                let mut embedded = Found::default();
                definition.each_embedded(body, |metadata, path| {
                    if let Some((go, _)) = RECORDED.metadata() {
                        embedded.typed(Some(&go), &Tree::of(metadata), path);
                    }
                });
                embedded.0.sort();
                found.0.extend(embedded.0);
            }
        }
        found.0
    }
}

/// The fields that a text of JSON has twice, as in a warning.
pub(in crate::in_process) fn doubled(raw: &[u8]) -> Vec<String> {
    let mut found = Found::default();
    if let Ok(tree) = json::read::<Tree>(raw) {
        found.typed(None, &tree, "");
    }
    found.0
}

/// The fields of a patch's operations that operations don't have, or that they have twice, as in a warning.
pub(in crate::in_process) fn wrong_operations(raw: &[u8]) -> Vec<String> {
    const FIELDS: [&str; 4] = ["op", "path", "from", "value"];
    let mut found = Found::default();
    let Ok(Tree::Array(operations)) = json::read::<Tree>(raw) else { return found.0 };
    for (at, operation) in operations.iter().enumerate() {
        let Tree::Object(fields) = operation else { continue };
        for (number, (name, value)) in fields.iter().enumerate() {
            let path = format!("[{at}].{name}");
            if !FIELDS.contains(&name.as_str()) {
                found.0.push(format!("unknown field {path:?}"));
                continue;
            }
            if fields[..number].iter().any(|(earlier, _)| earlier == name) {
                found.0.push(format!("duplicate field {path:?}"));
            }
            found.typed(None, value, &path);
        }
    }
    found.0.iter().map(|wrong| format!("json patch {wrong}")).collect()
}

/// The paths of what is in `body` and not in `read`, except for metadata, which has types of its own.
fn gone(body: &Value, read: &Value, path: &str, unknown: &mut Vec<String>) {
    match (body, read) {
        (Value::Object(body), Value::Object(read)) => {
            for (name, value) in body.iter().filter(|(name, _)| !path.is_empty() || *name != "metadata") {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match read.get(name) {
                    Some(read) => gone(value, read, &path, unknown),
                    None => unknown.push(path),
                }
            }
        }
        (Value::Array(body), Value::Array(read)) => {
            for (at, (body, read)) in body.iter().zip(read).enumerate() {
                gone(body, read, &format!("{path}[{at}]"), unknown);
            }
        }
        _ => {}
    }
}

/// Whether a value has a field that its type doesn't have.
fn has_unknown(go: &Go, value: &Value) -> bool {
    match (go, value) {
        (Go::Pointer(to), value) => has_unknown(to, value),
        (Go::Struct(id), Value::Object(fields)) => {
            let known = RECORDED.fields(*id);
            fields
                .iter()
                .any(|(name, value)| known.get(name).is_none_or(|field| has_unknown(&field.go, value)))
        }
        (Go::List(item), Value::Array(items)) => items.iter().any(|value| has_unknown(item, value)),
        (Go::Map(of), Value::Object(entries)) => entries.values().any(|value| has_unknown(of, value)),
        _ => false,
    }
}

/// What is wrong, in the order of the body.
#[derive(Default)]
struct Found(Vec<String>);

impl Found {
    fn typed(&mut self, go: Option<&Go>, tree: &Tree, path: &str) {
        match (go, tree) {
            (Some(Go::Pointer(to)), tree) => self.typed(Some(to), tree, path),
            (go, Tree::Object(fields)) => {
                let known = match go {
                    Some(Go::Struct(id)) => Some(RECORDED.fields(*id)),
                    _ => None,
                };
                for (at, (name, value)) in fields.iter().enumerate() {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    let of = match (known, go) {
                        (Some(known), _) => match known.get(name) {
                            Some(field) => Some(&field.go),
                            None => {
                                self.0.push(format!("unknown field {path:?}"));
                                continue;
                            }
                        },
                        (None, Some(Go::Map(of))) => Some(&**of),
                        _ => None,
                    };
                    if fields[..at].iter().any(|(earlier, _)| earlier == name) {
                        self.0.push(format!("duplicate field {path:?}"));
                    }
                    self.typed(of, value, &path);
                }
            }
            (go, Tree::Array(items)) => {
                let of = match go {
                    Some(Go::List(item)) => Some(&**item),
                    _ => None,
                };
                for (at, item) in items.iter().enumerate() {
                    self.typed(of, item, &format!("{path}[{at}]"));
                }
            }
            (_, Tree::Leaf) => {}
        }
    }
}

/// How many fields a value has, with those below them.
fn keys_of(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.len() + fields.values().map(keys_of).sum::<usize>(),
        Value::Array(items) => items.iter().map(keys_of).sum(),
        _ => 0,
    }
}

/// How many fields a text has.
struct Count(usize);

impl Build for Count {
    fn scalar(_: Value) -> Self {
        Self(0)
    }

    fn list(items: Vec<Self>) -> Self {
        Self(items.into_iter().map(|item| item.0).sum())
    }

    fn object(fields: Vec<(String, Self)>) -> Self {
        Self(fields.len() + fields.into_iter().map(|(_, value)| value.0).sum::<usize>())
    }
}

/// A value with its fields in order, and with those that it has twice.
enum Tree {
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
    Leaf,
}

impl Tree {
    fn of(value: &Value) -> Self {
        match value {
            Value::Object(fields) => {
                Self::Object(fields.iter().map(|(name, value)| (name.clone(), Self::of(value))).collect())
            }
            Value::Array(items) => Self::Array(items.iter().map(Self::of).collect()),
            _ => Self::Leaf,
        }
    }
}

impl Build for Tree {
    fn scalar(_: Value) -> Self {
        Self::Leaf
    }

    fn list(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn object(fields: Vec<(String, Self)>) -> Self {
        Self::Object(fields)
    }
}
