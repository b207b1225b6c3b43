//! Merges two values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    super::{
        schema::{Fields, List, Relation, Shape, TypeId, Types},
        set::Element,
    },
    entries, items,
};

/// The union of both values; where they differ, the second wins. `None` if nothing is left.
///
/// Shared items of a list are in the second's order, and those only in the first stay after their former neighbours.
pub(in super::super) fn merge(
    types: &Types,
    of: TypeId,
    one: Option<&Value>,
    two: Option<&Value>,
) -> Option<Value> {
    let leaf = || two.or(one).cloned();
    match types.shape(of, two.or(one))? {
        Shape::Scalar(_) => leaf(),
        Shape::List(list) => {
            let (left, right) = (items(one), items(two));
            if list.relation == Relation::Atomic || left.is_empty() && right.is_empty() {
                return leaf();
            }
            lists(types, list, left, right)
        }
        Shape::Map(fields) => {
            let (left, right) = (entries(one), entries(two));
            if fields.atomic || left.is_none() && right.is_none() {
                return leaf();
            }
            maps(types, fields, left, right)
        }
    }
}

fn maps(
    types: &Types,
    fields: &Fields,
    one: Option<&Map<String, Value>>,
    two: Option<&Map<String, Value>>,
) -> Option<Value> {
    let names: BTreeSet<&String> = one.into_iter().chain(two).flat_map(Map::keys).collect();
    let merged: Map<_, _> = names
        .into_iter()
        .filter_map(|name| {
            let of = Types::of_field(fields, name)?;
            let (left, right) = (one.and_then(|one| one.get(name)), two.and_then(|two| two.get(name)));
            let value = merge(types, of, left, right)?;
            Some((name.clone(), value))
        })
        .collect();
    (!merged.is_empty()).then_some(Value::Object(merged))
}

/// The items of a list by their elements; those that share one are null, because they are not merged.
type Index<'a> = BTreeMap<&'a Element, &'a Value>;

fn index<'a>(elements: &'a [Element], items: &[&'a Value]) -> Index<'a> {
    let mut index = Index::new();
    for (element, item) in elements.iter().zip(items) {
        index.entry(element).and_modify(|known| *known = &Value::Null).or_insert(item);
    }
    index
}

fn lists(types: &Types, list: &List, one: &[Value], two: &[Value]) -> Option<Value> {
    let elements = |items: &[Value]| -> Vec<Element> {
        items.iter().filter_map(|item| types.element(list, item).ok()).collect()
    };
    let (left, right) = (elements(one), elements(two));
    let (left_index, right_index) =
        (index(&left, &one.iter().collect::<Vec<_>>()), index(&right, &two.iter().collect::<Vec<_>>()));
    let item = |one: Option<&Value>, two: Option<&Value>| merge(types, list.item, one, two);
    let both = |element: &Element| item(left_index.get(element).copied(), right_index.get(element).copied());

    let mut shared = right.iter().filter(|element| left_index.contains_key(element));
    let mut next_shared = shared.next();
    let mut taken = BTreeSet::new();
    let mut merged = Vec::new();
    let (mut l, mut r) = (0, 0);
    while l < left.len() || r < right.len() {
        if let (Some(mine), Some(theirs)) = (left.get(l), right.get(r)) {
            if mine == theirs {
                taken.insert(mine);
                merged.extend(both(mine));
                (l, r) = (l + 1, r + 1);
                next_shared = shared.next();
                continue;
            }
            if right_index.contains_key(mine) && next_shared.is_some_and(|next| next != mine) {
                // Shared, but it is not its turn.
                l += 1;
                continue;
            }
        }
        if let Some(mine) = left.get(l) {
            if !right_index.contains_key(mine) {
                merged.extend(item(one.get(l), None));
                l += 1;
                continue;
            }
            if taken.contains(mine) {
                l += 1;
            }
        }
        if let Some(theirs) = right.get(r) {
            taken.insert(theirs);
            merged.extend(both(theirs));
            r += 1;
            if next_shared == Some(theirs) {
                next_shared = shared.next();
            }
        }
    }
    (!merged.is_empty()).then_some(Value::Array(merged))
}
