//! Types of schemas.
//!
//! A field of a schema that says too little about its values has no type, and rules can't use it.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::types::{Object, Type};

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
pub(in crate::in_process) fn declare(schema: &Value, is_root: bool, name: &str) -> Option<Type> {
    let text = |word: &str| schema.get(word).and_then(Value::as_str).unwrap_or_default();
    let below = |of: &Value, part: &str| {
        declare(of, flag(of, "x-kubernetes-embedded-resource"), &format!("{name}.{part}"))
    };
    if flag(schema, "x-kubernetes-int-or-string") {
        return Some(Type::Dyn);
    }
    Some(match if is_root { "object" } else { text("type") } {
        "array" => Type::list(below(schema.get("items")?, "@idx")?),
        "object" => match schema.get("additionalProperties").filter(|others| others.is_object()) {
            Some(others) => Type::map(Type::String, below(others, "@elem")?),
            None => object(schema, is_root, name),
        },
        "string" => match text("format") {
            "byte" => Type::Bytes,
            "duration" => Type::Duration,
            "date" | "date-time" => Type::Timestamp,
            _ => Type::String,
        },
        "boolean" => Type::Bool,
        "number" => Type::Double,
        "integer" => Type::Int,
        _ => return None,
    })
}

fn object(schema: &Value, is_root: bool, name: &str) -> Type {
    let meta = META.as_object().filter(|_| is_root);
    let own = schema.get("properties").and_then(Value::as_object);
    let own = own.into_iter().flatten().filter(|(name, _)| meta.is_none_or(|meta| !meta.contains_key(*name)));
    let fields = own.chain(meta.into_iter().flatten()).filter_map(|(field, property)| {
        let escaped = escape(field)?;
        let is_embedded = flag(property, "x-kubernetes-embedded-resource");
        let of = declare(property, is_embedded, &format!("{name}.{escaped}"))?;
        Some((escaped, of))
    });
    Type::Object(Arc::new(Object { name: name.to_owned(), fields: fields.collect() }))
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
