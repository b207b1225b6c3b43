//! Every field of an object, each with a valid object around it.

use integration_tests::prelude::*;

use super::{
    samples::{self, Companion},
    types::{Type, Types},
};

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Field(String),
    First,
}

/// A field, and an object in which it can be set.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: Vec<Step>,
    pub(super) of: Type,
    pub(super) object: Value,
    /// Only one of its values is tried: the same type is walked elsewhere with all of them.
    pub(super) is_again: bool,
}

impl Place {
    /// The path as people write it.
    pub(super) fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step {
                Step::Field(field) if name.is_empty() => name.push_str(field),
                Step::Field(field) => {
                    name.push('.');
                    name.push_str(field);
                }
                Step::First => name.push_str("[]"),
            }
        }
        name
    }

    /// What is there in the object now.
    pub(super) fn value(&self) -> &Value {
        let mut at = &self.object;
        for step in &self.path {
            at = match step {
                Step::Field(field) => &at[field],
                Step::First => &at[0],
            };
        }
        at
    }

    /// The object with another value there; without the field for `None`.
    pub(super) fn with(&self, value: Option<Value>) -> Value {
        let mut object = self.object.clone();
        set(&mut object, &self.path, value);
        object
    }
}

/// Sets a value at a path, whose parents are made where they are absent.
pub(super) fn set(object: &mut Value, path: &[Step], value: Option<Value>) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = object;
    for step in parents {
        at = match step {
            Step::Field(field) => &mut at[field],
            Step::First => {
                if at.as_array().is_none_or(Vec::is_empty) {
                    *at = json!([null]);
                }
                &mut at[0]
            }
        };
    }
    match (last, value) {
        (Step::Field(field), Some(value)) => at[field] = value,
        (Step::Field(field), None) => drop(at.as_object_mut().and_then(|fields| fields.remove(field))),
        (Step::First, Some(value)) => match at.as_array_mut() {
            Some(items) if !items.is_empty() => items[0] = value,
            _ => *at = json!([value]),
        },
        (Step::First, None) => *at = json!([]),
    }
}

/// All places below a part of an object.
pub(super) fn walk(types: &Types, object: &Value, part: &[&str], of: &str) -> Vec<Place> {
    let mut places = Vec::new();
    let path: Vec<_> = part.iter().map(|field| Step::Field((*field).to_owned())).collect();
    let root = Place { path, of: Type::Struct(of.to_owned()), object: object.clone(), is_again: false };
    below(types, &root, of, &mut places);
    places
}

/// Goes through the fields of a struct.
fn below(types: &Types, parent: &Place, name: &str, places: &mut Vec<Place>) {
    for (field, known) in types.fields(name) {
        let is_root = parent.path.is_empty();
        if is_root && ["apiVersion", "kind", "status"].contains(&field.as_str()) {
            continue;
        }
        let mut place = parent.clone();
        make_room(&mut place, name, field);
        place.path.push(Step::Field(field.clone()));
        place.of = known.of.clone();
        let is_template =
            name != "core.v1.Pod" && known.of == Type::Struct("core.v1.PodTemplateSpec".to_owned());
        place.is_again |= is_template || samples::AGAIN.contains(&(name, field.as_str()));
        places.push(place.clone());
        if !samples::LEAVES.contains(&(name, field.as_str())) {
            inside(types, place, field, places);
        }
    }
}

/// Removes what excludes a field, and adds what it needs.
fn make_room(place: &mut Place, name: &str, field: &str) {
    for (sibling, companion) in samples::companions(name, field) {
        let mut path = place.path.clone();
        path.push(Step::Field(sibling));
        let value = match companion {
            Companion::Gone => None,
            Companion::Is(value) => Some(value),
        };
        set(&mut place.object, &path, value);
    }
}

/// Goes into what a field holds.
fn inside(types: &Types, mut place: Place, field: &str, places: &mut Vec<Place>) {
    let absent = match place.value() {
        Value::Array(items) => items.is_empty(),
        other => other.is_null(),
    };
    if absent {
        place.object = place.with(Some(types.sample(&place.of, field)));
    }
    match place.of.clone() {
        Type::Struct(name) => below(types, &place, &name, places),
        Type::List(item) => {
            place.path.push(Step::First);
            place.of = *item;
            match place.of.clone() {
                Type::Struct(name) => {
                    places.push(place.clone());
                    below(types, &place, &name, places);
                }
                _ => places.push(place),
            }
        }
        _ => {}
    }
}
