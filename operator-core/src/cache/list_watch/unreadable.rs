//! The error message for an object that can't be decoded: which field, and what its type expects there. Never its
//! value: serde quotes it, and it may be a password. Pure.

use serde_json::Error;

/// The message if the type's own code panicked.
pub(in crate::cache) const PANICKED: &str = "the `Deserialize` of its type panicked";

/// The message for `error`, which came from decoding `text`; it contains none of the object's values.
pub(crate) fn words(text: &str, error: &Error) -> String {
    let said = error.to_string();
    let said = said.rsplit_once(" at line ").map_or(&*said, |(said, _)| said);
    if said == PANICKED {
        return said.to_owned();
    }
    let missing = said.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    let mut path = path_to(text, error);
    let what = match missing {
        Some(field) => {
            // A missing field is reported after the end of the object that should have it.
            path.push(format!(".{field}"));
            "it is missing".to_owned()
        }
        None => without_values(said),
    };
    let path = path.concat();
    match path.trim_start_matches('.') {
        "" => what,
        path => format!("{path}: {what}"),
    }
}

/// The part of serde's message that follows from the type.
fn without_values(said: &str) -> String {
    const KINDS: [&str; 6] = [
        "invalid type",
        "invalid value",
        "invalid length",
        "unknown variant",
        "unknown field",
        "duplicate field",
    ];
    let Some(kind) = KINDS.into_iter().find(|kind| said.starts_with(kind)) else {
        return "it isn't a value of its type".to_owned();
    };
    // The value comes first, and may hold any words.
    match said.rsplit_once(", expected ") {
        Some((_, expected)) => format!("{kind}, expected {expected}"),
        None => kind.to_owned(),
    }
}

/// What is open at a place in a JSON text.
enum Open {
    /// An object, and the key that was read last.
    Object(Option<String>),
    /// An array, and how many items were read.
    Array(usize),
}

/// The path from the root to where decoding stopped, as in `.spec`, `.items`, `[2]`.
fn path_to(text: &str, error: &Error) -> Vec<String> {
    let before = text.lines().take(error.line().saturating_sub(1)).map(|line| line.len() + 1).sum::<usize>();
    let end = (before + error.column()).min(text.len());
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < end {
        match bytes[at] {
            b'{' => open.push(Open::Object(None)),
            b'[' => open.push(Open::Array(0)),
            // Decoding didn't stop in a complete value, unless the complaint is about the whole value.
            b'}' | b']' => drop(open.pop()),
            b',' => match open.last_mut() {
                Some(Open::Object(key)) => *key = None,
                Some(Open::Array(items)) => *items += 1,
                None => {}
            },
            b'"' => {
                let from = at + 1;
                at = end_of_string(bytes, from);
                if let Some(Open::Object(key @ None)) = open.last_mut() {
                    *key = Some(String::from_utf8_lossy(&bytes[from..at]).into_owned());
                }
            }
            _ => {}
        }
        at += 1;
    }
    let segments = open.into_iter().filter_map(|open| match open {
        Open::Object(key) => key.map(|key| format!(".{key}")),
        Open::Array(items) => Some(format!("[{items}]")),
    });
    segments.collect()
}

/// The position of the quotation mark that ends a string.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;
    use crate::resource::arbitrary_tests::any_json;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its decoding is looked at")]
    struct Object {
        spec: Spec,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its decoding is looked at")]
    struct Spec {
        mode: Mode,
        #[serde(default)]
        items: Vec<Item>,
        #[serde(default)]
        data: BTreeMap<String, u8>,
    }

    #[derive(Debug, Deserialize)]
    enum Mode {
        Slow,
        Medium,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its decoding is looked at")]
    struct Item {
        port: u16,
    }

    fn said_of(object: &Value) -> String {
        let text = object.to_string();
        words(&text, &serde_json::from_str::<Object>(&text).expect_err("it can't be decoded"))
    }

    #[test]
    fn the_field_is_named_and_its_value_is_not() {
        for (object, expected) in [
            (
                json!({ "spec": { "mode": "hunter2" } }),
                "spec.mode: unknown variant, expected `Slow` or `Medium`",
            ),
            (
                json!({ "spec": { "mode": "a, expected hunter2" } }),
                "spec.mode: unknown variant, expected `Slow` or `Medium`",
            ),
            (json!({ "spec": "hunter2" }), "spec: invalid type, expected struct Spec"),
            (
                json!({ "spec": { "mode": "Slow", "data": { "a": 1, "b": "hunter2" } } }),
                "spec.data.b: invalid type, expected u8",
            ),
            (
                json!({ "spec": { "mode": "Slow", "items": [{ "port": 1 }, { "port": 70_000 }] } }),
                "spec.items[1].port: invalid value, expected u16",
            ),
            (
                json!({ "spec": { "items": [{ "port": { "hunter2": 1 } }] } }),
                "spec.items[0].port: invalid type, expected u16",
            ),
            (json!({ "spec": { "items": [] } }), "spec.mode: it is missing"),
            (
                json!({ "spec": { "mode": "Slow", "items": [{ "port": 1 }, {}] } }),
                "spec.items[1].port: it is missing",
            ),
            (json!({ "metadata": {} }), "spec: it is missing"),
        ] {
            assert_eq!(said_of(&object), expected, "{object}");
        }
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn there_are_words_about_anything(object in any_json()) {
            let text = object.to_string();
            if let Err(error) = serde_json::from_str::<Object>(&text) {
                prop_assert!(!words(&text, &error).is_empty());
            }
        }
    }
}
