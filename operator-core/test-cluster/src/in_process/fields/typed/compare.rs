//! The fields in which two values differ.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    super::{
        canonical::equal,
        schema::{Fields, List, Relation, Shape, TypeId, Types},
        set::{Element, Set},
    },
    entries, items,
};

/// What changes from one value to another; no field is in two of the sets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Comparison {
    pub(in super::super) removed: Set,
    pub(in super::super) modified: Set,
    pub(in super::super) added: Set,
}

impl Comparison {
    /// Without some fields and what is below them.
    pub(in super::super) fn without(self, fields: &Set) -> Self {
        Self {
            removed: self.removed.without(fields),
            modified: self.modified.without(fields),
            added: self.added.without(fields),
        }
    }
}

/// Compares two values of a type.
pub(in super::super) fn compare(types: &Types, of: TypeId, one: &Value, two: &Value) -> Comparison {
    let mut walk = Walk { types, path: Vec::new(), found: Comparison::default() };
    walk.compare(of, Some(one), Some(two));
    walk.found
}

struct Walk<'a> {
    types: &'a Types,
    path: Vec<Element>,
    found: Comparison,
}

impl Walk<'_> {
    fn compare(&mut self, of: TypeId, one: Option<&Value>, two: Option<&Value>) {
        if let (Some(left), Some(right)) = (one, two) {
            // What is equal differs in nothing, and most of two objects is.
            if equal(left, right) {
                return;
            }
            // A value that changes its form: each is looked at in its own.
            if !self.types.alike(of, left, right) {
                self.as_shaped(of, one, one, two);
            }
        }
        let leaf = self.as_shaped(of, two.or(one), one, two);
        if !leaf {
            match (one, two) {
                (None, _) => self.found.added.insert(&self.path),
                (_, None) => self.found.removed.insert(&self.path),
                _ => {}
            }
        }
    }

    /// Compares in the shape of one value; returns whether they were leaves.
    fn as_shaped(
        &mut self,
        of: TypeId,
        shape: Option<&Value>,
        one: Option<&Value>,
        two: Option<&Value>,
    ) -> bool {
        let types = self.types;
        match types.shape(of, shape) {
            None => return false,
            Some(Shape::Scalar(_)) => self.leaf(one, two),
            Some(Shape::List(list)) => {
                let (left, right) = (items(one), items(two));
                if list.relation != Relation::Atomic && !(left.is_empty() && right.is_empty()) {
                    self.lists(list, left, right);
                    return false;
                }
                self.leaf(one, two);
            }
            Some(Shape::Map(fields)) => {
                if !fields.atomic && (entries(one).is_some() || entries(two).is_some()) {
                    self.maps(fields, one, two);
                    return false;
                }
                self.leaf(one, two);
            }
        }
        true
    }

    fn leaf(&mut self, one: Option<&Value>, two: Option<&Value>) {
        match (one, two) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(one), Some(two)) if !equal(one, two) => self.found.modified.insert(&self.path),
            _ => {}
        }
    }

    fn maps(&mut self, fields: &Fields, one: Option<&Value>, two: Option<&Value>) {
        let names = |value| entries(value).into_iter().flat_map(|map| map.keys());
        let all: BTreeSet<_> = names(one).chain(names(two)).collect();
        for name in all {
            let Some(of) = Types::of_field(fields, name) else { continue };
            let side = |value| entries(value).and_then(|map| map.get(name));
            self.path.push(Element::field(name));
            self.compare(of, side(one), side(two));
            self.path.pop();
        }
    }

    fn lists(&mut self, list: &List, one: &[Value], two: &[Value]) {
        let mut all: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in one {
            if let Ok(element) = self.types.element(list, item) {
                all.entry(element).or_default().0.push(item);
            }
        }
        for item in two {
            if let Ok(element) = self.types.element(list, item) {
                all.entry(element).or_default().1.push(item);
            }
        }
        for (element, (left, right)) in all {
            self.path.push(element);
            self.same_key(list.item, &left, &right);
            self.path.pop();
        }
    }

    /// Items with the same key. Usually one on each side; several are treated as a whole.
    fn same_key(&mut self, of: TypeId, left: &[&Value], right: &[&Value]) {
        match (left, right) {
            ([] | [_], [] | [_]) => self.compare(of, left.first().copied(), right.first().copied()),
            ([_, _, ..], [_, _, ..]) => {
                let same = left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| equal(left, right));
                if !same {
                    self.found.modified.insert(&self.path);
                }
            }
            ([_, _, ..], right) => {
                if let Some(alone) = right.first() {
                    self.compare(of, None, Some(alone));
                }
                self.found.removed.insert(&self.path);
            }
            (left, _) => {
                if let Some(alone) = left.first() {
                    self.compare(of, Some(alone), None);
                }
                self.found.added.insert(&self.path);
            }
        }
    }
}
