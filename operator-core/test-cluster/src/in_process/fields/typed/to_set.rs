//! The fields that a value has.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    super::{
        schema::{List, Relation, Shape, TypeId, Types},
        set::{Element, Set},
    },
    items,
};

/// The fields of a value: its leaves, and the items of its lists.
pub(in super::super) fn to_set(types: &Types, of: TypeId, value: &Value) -> Set {
    let mut set = Set::default();
    walk(types, of, value, &mut Vec::new(), &mut set);
    set
}

fn walk(types: &Types, of: TypeId, value: &Value, path: &mut Vec<Element>, set: &mut Set) {
    match types.shape(of, Some(value)) {
        None => {}
        Some(Shape::Scalar(_)) => set.insert(path),
        Some(Shape::List(list)) if list.relation == Relation::Atomic => set.insert(path),
        Some(Shape::List(list)) => list_items(types, list, items(Some(value)), path, set),
        Some(Shape::Map(fields)) if fields.atomic => set.insert(path),
        Some(Shape::Map(fields)) => {
            for (name, value) in value.as_object().into_iter().flatten() {
                let Some(of) = Types::of_field(fields, name) else { continue };
                path.push(Element::field(name));
                walk(types, of, value, path, set);
                let empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
                if empty || !fields.named.contains_key(name) {
                    set.insert(path);
                }
                path.pop();
            }
        }
    }
}

fn list_items(types: &Types, list: &List, items: &[Value], path: &mut Vec<Element>, set: &mut Set) {
    let elements: Vec<_> =
        items.iter().filter_map(|item| Some((types.element(list, item).ok()?, item))).collect();
    let mut count = BTreeMap::new();
    for (element, _) in &elements {
        *count.entry(element.clone()).or_insert(0) += 1;
    }
    for (element, item) in elements {
        // Of items with the same key only the key is known.
        let alone = count.get(&element) == Some(&1);
        path.push(element);
        if alone {
            walk(types, list.item, item, path, set);
        }
        set.insert(path);
        path.pop();
    }
}
