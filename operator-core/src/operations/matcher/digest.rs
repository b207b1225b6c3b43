//! Distinguishes what was applied to an object last, so that the object itself can say it. Pure.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{GenericMatcher, Match, fields::Scope};
use crate::resource::digits;

/// The number of digits of a digest.
const DIGITS: usize = 32;

/// The digest of the body of an apply, in each version of the library the same: without what the server decides, and
/// without the annotation `mark`, which contains the digest. With `hides_values` it says nothing about the values of a
/// Secret: somebody who sees the digest could guess them.
pub(crate) fn digest(body: &Value, mark: &str, hides_values: bool) -> String {
    let mut hash = Sha256::new();
    fields(&mut hash, body, &|name| name != "status", &mut |hash, name, value| match name {
        "metadata" => {
            let counts = |name: &str| !Scope::Metadata.ignores(name);
            fields(hash, value, &counts, &mut |hash, name, value| match name {
                "annotations" => {
                    fields(hash, value, &|name| name != mark, &mut |hash, _, value| add(hash, value))
                }
                _ => add(hash, value),
            });
        }
        "data" | "stringData" if hides_values => fields(hash, value, &|_| true, &mut |_, _, _| ()),
        _ => add(hash, value),
    });
    digits(hash.finalize(), DIGITS)
}

/// Whether an object has the values of which its digest says nothing.
pub(crate) fn same_values(body: &Value, actual: &Value) -> Match {
    let mut values = body.clone();
    if let Some(fields) = values.as_object_mut() {
        fields.retain(|name, _| matches!(&**name, "apiVersion" | "kind" | "data" | "stringData"));
    }
    GenericMatcher::new().matches(&values, actual)
}

/// Adds a value: each part with its kind and length, so that no two values run together.
fn add(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Object(_) => fields(hash, value, &|_| true, &mut |hash, _, value| add(hash, value)),
        Value::Array(items) => {
            part(hash, b'[', items.len(), "");
            items.iter().for_each(|item| add(hash, item));
        }
        Value::String(text) => part(hash, b'"', text.len(), text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let text = value.to_string();
            part(hash, b'#', text.len(), &text);
        }
    }
}

/// Adds the fields that count, in the order of their names, whatever the order of maps in this build.
fn fields(
    hash: &mut Sha256,
    value: &Value,
    counts: &dyn Fn(&str) -> bool,
    add_field: &mut dyn FnMut(&mut Sha256, &str, &Value),
) {
    let Some(fields) = value.as_object() else { return add(hash, value) };
    let mut fields: Vec<_> = fields.iter().filter(|(name, _)| counts(name)).collect();
    fields.sort_by_key(|(name, _)| *name);
    part(hash, b'{', fields.len(), "");
    for (name, value) in fields {
        part(hash, b'"', name.len(), name);
        add_field(hash, name, value);
    }
}

fn part(hash: &mut Sha256, kind: u8, length: usize, text: &str) {
    hash.update([kind]);
    hash.update((length as u64).to_be_bytes());
    hash.update(text);
}
