//! Values and their types, walked together.
//!
//! | walk | gives |
//! |---|---|
//! | [`validate`](validate::validate) | what of a value its type doesn't allow |
//! | [`to_set`](to_set::to_set) | the fields that a value has |
//! | [`merge`](merge::merge) | two values in one, the second wins |
//! | [`compare`](compare::compare) | the fields that differ |
//! | [`remove`](remove::remove) | a value without some of its fields |
//!
//! An empty object or list counts as a leaf if both sides are empty, which keeps the difference between empty and null.

pub(super) mod compare;
pub(super) mod merge;
pub(super) mod remove;
pub(super) mod to_set;
pub(super) mod validate;

use serde_json::{Map, Value};

use super::{
    schema::{TypeId, Types},
    set::{Element, Set},
};

/// The items of a list; for anything else, including null, there are none.
fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The fields of an object, if there are any.
fn entries(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object).filter(|map| !map.is_empty())
}

/// A set with the named fields on the path to each member.
///
/// Removing needs them: an object whose last field is removed is itself removed, if it is a named field.
pub(super) fn with_named_parents(types: &Types, of: Option<TypeId>, set: &Set) -> Set {
    let atom = of.map(|of| types.atom(of));
    let map = atom.and_then(|atom| atom.map.as_ref());
    let mut all = Set::default();
    for (element, member, below) in set.nodes() {
        if below.is_empty() {
            all.put(element.clone(), member, Set::default());
            continue;
        }
        let (named, of) = match element {
            Element::Field(name) => match map {
                Some(map) => (map.named.contains_key(name), Types::of_field(map, name)),
                None => (false, None),
            },
            Element::Key(_) => (false, atom.and_then(|atom| atom.list.as_ref()).map(|list| list.item)),
            Element::Item(_) | Element::Index(_) => (false, None),
        };
        all.put(element.clone(), member || named, with_named_parents(types, of, below));
    }
    all
}
