//! The parts of a value that its type doesn't allow.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::{
    schema::{Form, List, Relation, Shape, TypeId, Types},
    set::Element,
    strategic::shown,
};
use crate::in_process::go::type_of;

/// Checks a value. An error is a path and a message, as the API server words them.
pub(in super::super) fn validate(types: &Types, of: TypeId, value: &Value, duplicates: bool) -> Vec<String> {
    let mut errors = Vec::new();
    walk(&Walk { types, duplicates }, of, value, "", &mut errors);
    errors
}

struct Walk<'a> {
    types: &'a Types,
    /// Whether several items of a list may have the same key.
    duplicates: bool,
}

fn walk(context: &Walk<'_>, of: TypeId, value: &Value, path: &str, errors: &mut Vec<String>) {
    let mut error = |message: String| {
        errors.push(if path.is_empty() { message } else { format!("{path}: {message}") });
    };
    match (context.types.shape(of, Some(value)), value) {
        (None, _) | (_, Value::Null) => {}
        (Some(Shape::Scalar(form)), value) => {
            if let Some(expected) = mismatch(form, value) {
                error(expected);
            }
        }
        (Some(Shape::List(list)), Value::Array(items)) => {
            list_items(context, list, items, path, errors);
        }
        (Some(Shape::List(_)), value) => error(format!("expected list, got {}", plain(value))),
        (Some(Shape::Map(fields)), Value::Object(object)) => {
            for (name, value) in object {
                let path = format!("{path}.{name}");
                let Some(of) = Types::of_field(fields, name) else {
                    errors.push(format!("{path}: field not declared in schema"));
                    return;
                };
                walk(context, of, value, &path, errors);
            }
        }
        (Some(Shape::Map(_)), value) => error(format!("expected map, got {}", plain(value))),
    }
}

fn list_items(context: &Walk<'_>, list: &List, items: &[Value], path: &str, errors: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let element = if list.relation == Relation::Atomic {
            Element::Index(index)
        } else {
            match context.types.element(list, item) {
                Ok(element) => element,
                Err(message) => {
                    errors.push(format!("{path}: element {index}: {message}"));
                    return;
                }
            }
        };
        if !seen.insert(element.clone()) && !context.duplicates {
            errors.push(format!("{path}: duplicate entries for key {element}"));
        }
        walk(context, list.item, item, &format!("{path}{element}"), errors);
    }
}

/// Why a value is no scalar of a form.
fn mismatch(form: Form, value: &Value) -> Option<String> {
    match (form, value) {
        (Form::Number, Value::Number(_)) | (Form::Text, Value::String(_)) | (Form::Bool, Value::Bool(_)) => {
            None
        }
        (Form::Any, Value::Number(_) | Value::String(_) | Value::Bool(_)) => None,
        (Form::Number, value) => Some(format!("expected numeric (int or float), got {}", type_of(value))),
        (Form::Text, value) => Some(format!("expected string, got {}", debug(value))),
        (Form::Bool, value) => Some(format!("expected boolean, got {}", plain(value))),
        (Form::Any, value) => Some(format!("expected any scalar, got {}", plain(value))),
    }
}

/// Such a value as Go prints it: `%v`.
fn plain(value: &Value) -> String {
    format!("&{{{}}}", shown(value))
}

/// Such a value in Go's notation: `%#v`.
fn debug(value: &Value) -> String {
    format!("&value.valueUnstructured{{Value:{}}}", literal(value))
}

fn literal(value: &Value) -> String {
    let all = |parts: Vec<String>| format!("{}{{{}}}", type_of(value), parts.join(", "));
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(_) | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => all(items.iter().map(literal).collect()),
        Value::Object(fields) => {
            all(fields.iter().map(|(name, value)| format!("{name:?}:{}", literal(value))).collect())
        }
    }
}
