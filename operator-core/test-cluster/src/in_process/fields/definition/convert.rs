//! What a schema says about merging.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    super::{
        recorded::RECORDED,
        schema::{Atom, DEDUCED, Field, Fields, Form, List, Relation, TypeId, Types, UNTYPED},
    },
    flag,
};

/// The types of a custom kind, and which of them is the kind's own.
pub(super) fn convert(schema: &Value) -> (Types, TypeId) {
    let mut convert = Convert { types: Types::upon(&RECORDED.types) };
    let root = convert.node(schema, false);
    let mut atom = convert.types.atom(root).clone();
    if let Some(map) = &mut atom.map {
        convert.meta_fields(map);
    }
    let root = convert.types.add(atom);
    (convert.types, root)
}

struct Convert {
    types: Types,
}

impl Convert {
    fn node(&mut self, schema: &Value, preserve: bool) -> TypeId {
        let preserve = preserve || flag(schema, "x-kubernetes-preserve-unknown-fields");
        let atom = match schema.get("type").and_then(Value::as_str) {
            Some("object") => Atom { map: Some(self.object(schema, preserve)), ..Atom::default() },
            Some("array") => Atom { list: Some(self.list(schema, preserve)), ..Atom::default() },
            Some("integer" | "number") => scalar(Form::Number),
            Some("boolean") => scalar(Form::Bool),
            Some("string") => {
                let format = schema.get("format").and_then(Value::as_str).unwrap_or("");
                scalar(if matches!(format, "" | "byte") { Form::Text } else { Form::Any })
            }
            _ => Atom {
                scalar: Some(Form::Any),
                list: Some(self.list(schema, preserve)),
                map: Some(self.object(schema, preserve)),
            },
        };
        self.types.add(atom)
    }

    fn object(&mut self, schema: &Value, preserve: bool) -> Fields {
        let properties = schema.get("properties").and_then(Value::as_object);
        let named: BTreeMap<_, _> = properties
            .into_iter()
            .flatten()
            .map(|(name, property)| {
                let default = property.get("default").cloned();
                (name.clone(), Field { of: self.node(property, preserve), default })
            })
            .collect();
        let others = match schema.get("additionalProperties") {
            None => (preserve || named.is_empty()).then_some(DEDUCED),
            Some(Value::Bool(allowed)) => allowed.then_some(DEDUCED),
            Some(values) => Some(self.node(values, preserve)),
        };
        let atomic = schema.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic");
        let mut fields = Fields { named, others, atomic };
        if flag(schema, "x-kubernetes-embedded-resource") {
            self.meta_fields(&mut fields);
        }
        fields
    }

    fn list(&mut self, schema: &Value, preserve: bool) -> List {
        let relation = match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => Relation::Set,
            Some("map") => {
                let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
                let keys = keys.into_iter().flatten().filter_map(|key| key.as_str().map(str::to_owned));
                Relation::Keys(keys.collect())
            }
            _ => Relation::Atomic,
        };
        let item = schema.get("items").map_or(UNTYPED, |items| self.node(items, preserve));
        List { relation, item }
    }

    /// The fields that every object has, whatever the schema says about them.
    fn meta_fields(&mut self, fields: &mut Fields) {
        for name in ["apiVersion", "kind"] {
            let of = self.types.add(scalar(Form::Text));
            fields.named.insert(name.to_owned(), Field { of, default: None });
        }
        if let Some((_, of)) = RECORDED.metadata() {
            fields.named.insert("metadata".to_owned(), Field { of, default: None });
        }
    }
}

fn scalar(form: Form) -> Atom {
    Atom { scalar: Some(form), ..Atom::default() }
}
