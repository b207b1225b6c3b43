//! A value without some of its fields.

use serde_json::{Map, Value};

use super::super::{
    schema::{Relation, Shape, TypeId, Types},
    set::{Element, Set},
};

/// Removes fields and items. An object that loses everything becomes null, and so does an atomic value from which
/// something has to be removed.
pub(in super::super) fn remove(types: &Types, of: TypeId, value: &Value, fields: &Set) -> Value {
    match (types.shape(of, Some(value)), value) {
        (Some(Shape::List(list)), Value::Array(items)) if list.relation != Relation::Atomic => {
            let mut kept = Vec::with_capacity(items.len());
            for item in items {
                let Ok(element) = types.element(list, item) else { continue };
                if !fields.has(&element) {
                    kept.push(without(types, list.item, item, fields.below(&element)));
                }
            }
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        (Some(Shape::Map(shape)), Value::Object(object)) if !shape.atomic => {
            let mut kept = Map::new();
            for (name, value) in object {
                let element = Element::field(name);
                if fields.has(&element) {
                    continue;
                }
                let value = match Types::of_field(shape, name) {
                    Some(of) => without(types, of, value, fields.below(&element)),
                    None => value.clone(),
                };
                kept.insert(name.clone(), value);
            }
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        (Some(Shape::List(_) | Shape::Map(_)), _) => Value::Null,
        (Some(Shape::Scalar(_)) | None, _) => value.clone(),
    }
}

fn without(types: &Types, of: TypeId, value: &Value, fields: Option<&Set>) -> Value {
    match fields {
        Some(fields) => remove(types, of, value, fields),
        None => value.clone(),
    }
}
