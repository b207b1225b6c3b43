//! The recorded types of Kubernetes, as far as the fuzz of fields needs them.

use integration_tests::prelude::*;
use serde::Deserialize;
use serde_json::Map;

use super::samples;

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Number,
    Bool,
    Time,
    MicroTime,
    Quantity,
    IntOrText,
    Bytes,
    Any,
    Struct(String),
    List(Box<Type>),
    Map(Box<Type>),
}

/// A field of a type, and whether an object may leave it out.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) of: Type,
    pub(super) optional: bool,
}

#[derive(Deserialize)]
struct File {
    kinds: BTreeMap<String, String>,
    types: BTreeMap<String, BTreeMap<String, String>>,
}

/// All recorded types.
pub(super) struct Types {
    kinds: BTreeMap<String, String>,
    fields: BTreeMap<String, BTreeMap<String, Field>>,
}

const RECORDED: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../operator-core/test-cluster/src/in_process/fields/recorded/types.json"
));

impl Types {
    pub(super) fn recorded() -> anyhow::Result<Self> {
        let file: File = serde_json::from_str(RECORDED)?;
        let fields = |fields: BTreeMap<String, String>| {
            let named = fields.into_iter().filter(|(name, _)| name != "!");
            named
                .map(|(name, text)| {
                    let (expression, flags) = text.split_once(' ').unwrap_or((&text, ""));
                    let optional = flags.split(' ').any(|flag| flag == "o");
                    (name, Field { of: parsed(expression), optional })
                })
                .collect()
        };
        let types = file.types.into_iter().map(|(name, text)| (name, fields(text))).collect();
        Ok(Self { kinds: file.kinds, fields: types })
    }

    /// The type of a kind.
    pub(super) fn kind(&self, api_version: &str, kind: &str) -> &str {
        self.kinds.get(&format!("{api_version} {kind}")).expect("a recorded kind")
    }

    pub(super) fn fields(&self, name: &str) -> &BTreeMap<String, Field> {
        self.fields.get(name).expect("a recorded type")
    }

    /// A valid value, as far as that is known: what is written down for its type, or else its required fields.
    pub(super) fn sample(&self, of: &Type, field: &str) -> Value {
        match of {
            Type::Text => samples::text(field).into(),
            Type::Number => json!(1),
            Type::Bool => json!(true),
            Type::Time => json!("2024-01-01T00:00:00Z"),
            Type::MicroTime => json!("2024-01-01T00:00:00.000000Z"),
            Type::Quantity => json!("1"),
            Type::IntOrText => json!(1),
            Type::Bytes => json!("YQ=="),
            Type::Any => json!({}),
            Type::List(item) => json!([self.sample(item, field)]),
            Type::Map(value) => json!({ "a": self.sample(value, field) }),
            Type::Struct(name) => samples::of(name).unwrap_or_else(|| self.required(name)),
        }
    }

    fn required(&self, name: &str) -> Value {
        let fields = self.fields(name).iter().filter(|(_, field)| !field.optional);
        let made: Map<_, _> =
            fields.map(|(name, field)| (name.clone(), self.sample(&field.of, name))).collect();
        Value::Object(made)
    }
}

fn parsed(text: &str) -> Type {
    if let Some(rest) = text.strip_prefix('*') {
        return parsed(rest);
    }
    let inner = |text: &str, end: char| Box::new(parsed(text.split_once(end).map_or("", |(_, rest)| rest)));
    match text.chars().next() {
        Some('[') => Type::List(inner(text, ']')),
        Some('{') => Type::Map(inner(text, '}')),
        Some('@') => Type::Struct(text[1..].to_owned()),
        Some('s') => Type::Text,
        Some('n') => Type::Number,
        Some('b') => Type::Bool,
        Some('T') => Type::Time,
        Some('M') => Type::MicroTime,
        Some('Q') => Type::Quantity,
        Some('I') => Type::IntOrText,
        Some('B') => Type::Bytes,
        _ => Type::Any,
    }
}
