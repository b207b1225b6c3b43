//! Types of schemas.
//!
//! A field of a schema that says too little about its values has no type, and rules can't use it.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde_json::{Value, json};

use super::types::{Declared, Object, Type};

/// The largest request.
const REQUEST: u64 = 3 * 1024 * 1024;
/// The most bytes of times and durations, with quotation marks.
const TIME: u64 = 32;
const DATE: u64 = 12;

/// The fields that rules see of each object, whatever its schema says.
pub(super) static META: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "apiVersion": {"type": "string"}, "kind": {"type": "string"},
        "metadata": {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}},
    })
});

/// A word of a schema that is true or false.
pub(super) fn flag(schema: &Value, word: &str) -> bool {
    schema.get(word).and_then(Value::as_bool).unwrap_or(false)
}

/// The type of a schema's values; `is_root` says that they are whole objects.
pub(in crate::in_process) fn declare(schema: &Value, is_root: bool, name: &str) -> Option<Declared> {
    let count =
        |word: &str| schema.get(word).and_then(Value::as_i64).map(|count| count.max(0).unsigned_abs());
    let simple =
        |of: Type, least_bytes: u64, most: u64| Some(Declared { of, most, least_bytes, element: None });
    if flag(schema, "x-kubernetes-int-or-string") {
        return simple(Type::Dyn, 1, count("maxLength").map_or(REQUEST - 2, |most| most * 4));
    }
    match if is_root { "object" } else { schema.get("type").and_then(Value::as_str).unwrap_or_default() } {
        "array" => {
            let items = schema.get("items")?;
            let of = declare(items, flag(items, "x-kubernetes-embedded-resource"), &format!("{name}.@idx"))?;
            let most = count("maxItems").unwrap_or((REQUEST - 2) / (of.least_bytes + 1));
            Some(Declared {
                of: Type::list(of.of.clone()),
                most,
                least_bytes: 2,
                element: Some(Arc::new(of)),
            })
        }
        "object" => match schema.get("additionalProperties").filter(|others| others.is_object()) {
            Some(others) => {
                let of = declare(
                    others,
                    flag(others, "x-kubernetes-embedded-resource"),
                    &format!("{name}.@elem"),
                )?;
                let most = count("maxProperties").unwrap_or((REQUEST - 2) / (of.least_bytes + 6));
                let map = Type::map(Type::String, of.of.clone());
                Some(Declared { of: map, most, least_bytes: 2, element: Some(Arc::new(of)) })
            }
            None => Some(object(schema, is_root, name)),
        },
        "string" => match schema.get("format").and_then(Value::as_str).unwrap_or_default() {
            "byte" => simple(Type::Bytes, 2, count("maxLength").unwrap_or(REQUEST - 2)),
            "duration" => simple(Type::Duration, 3, TIME),
            "date" => simple(Type::Timestamp, DATE, DATE),
            "date-time" => simple(Type::Timestamp, 21, TIME),
            _ => {
                let values = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty());
                let longest = |values: &Vec<Value>| {
                    values
                        .iter()
                        .filter_map(Value::as_str)
                        .map(|text| text.len() as u64)
                        .max()
                        .unwrap_or_default()
                };
                let most = count("maxLength").map(|most| most * 4).or_else(|| values.map(longest));
                simple(Type::String, 2, most.unwrap_or(REQUEST - 2))
            }
        },
        "boolean" => simple(Type::Bool, 4, 0),
        "number" => simple(Type::Double, 1, 0),
        "integer" => simple(Type::Int, 1, 0),
        _ => None,
    }
}

fn object(schema: &Value, is_root: bool, name: &str) -> Declared {
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let meta = META.as_object().filter(|_| is_root);
    let own = schema.get("properties").and_then(Value::as_object);
    let own = own.into_iter().flatten().filter(|(name, _)| meta.is_none_or(|meta| !meta.contains_key(*name)));
    let (mut fields, mut least_bytes) = (BTreeMap::new(), 2);
    for (field, property) in own.chain(meta.into_iter().flatten()) {
        let escaped = escape(field);
        let of = format!("{name}.{}", escaped.as_deref().unwrap_or(field));
        let Some(declared) = declare(property, flag(property, "x-kubernetes-embedded-resource"), &of) else {
            continue;
        };
        if required.contains(&field.as_str()) && property.get("default").is_none() {
            least_bytes += field.len() as u64 + declared.least_bytes + 4;
        }
        if let Some(escaped) = escaped {
            fields.insert(escaped, declared);
        }
    }
    let of = Type::Object(Arc::new(Object { name: name.to_owned(), fields }));
    Declared { of, most: 0, least_bytes, element: None }
}

const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The name of a field in rules; `None` if it has none.
pub(in crate::in_process) fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '_' if letters.peek() == Some(&'_') => {
                letters.next();
                out.push_str("__underscores__");
            }
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            letter if letter == '_' || letter.is_ascii_alphanumeric() => out.push(letter),
            _ => return None,
        }
    }
    Some(out)
}

/// The field that has a name in rules.
pub(super) fn unescape(name: &str) -> String {
    if let Some(inner) = name.strip_prefix("__").and_then(|name| name.strip_suffix("__"))
        && RESERVED.contains(&inner)
    {
        return inner.to_owned();
    }
    if !name.contains("__") {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while !rest.is_empty() {
        let signs = [("__underscores__", "__"), ("__dot__", "."), ("__dash__", "-"), ("__slash__", "/")];
        if let Some((sign, letter)) = signs.iter().find(|(sign, _)| rest.starts_with(sign)) {
            out.push_str(letter);
            rest = &rest[sign.len()..];
        } else {
            let letter = rest.chars().next().unwrap_or_default();
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_back() {
        for (name, escaped) in [
            ("namespace", "__namespace__"),
            ("a-b.c/d", "a__dash__b__dot__c__slash__d"),
            ("a__b", "a__underscores__b"),
            ("plain_1", "plain_1"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(escaped));
            assert_eq!(unescape(escaped), name);
        }
        assert_eq!((escape("1a"), escape("a b"), escape("")), (None, None, None));
    }
}
