//! The part of the walk that goes through lists.

use serde_json::Value;

use super::index::{Found, Index, digest, find};
use super::item_key::{Candidate, ItemKey};
use super::path::Path;
use super::value::same;
use super::walk::{Object, Walk};

impl Walk {
    /// Compares the owned items of a list that is merged by key. Each key has to identify exactly one item, and each
    /// desired item has to be identified.
    pub(super) fn keyed_items<'a>(
        &mut self,
        path: &Path<'_>,
        desired: Option<&Value>,
        actual: Option<&Value>,
        owned: &'a Object,
    ) {
        let (Some(desired), Some(actual)) = (items_or_absent(desired), items_or_absent(actual)) else {
            return self.differs(path);
        };
        let parse = |key: &'a str| key.strip_prefix("k:").and_then(ItemKey::parse);
        // All keys of a list have the same fields, so the first one tells by what to look the items up.
        let Some(first) = owned.keys().find(|key| *key != ".").and_then(|key| parse(key)) else {
            return self.differs(path);
        };
        let field = first.first_field();
        let (desired_by_key, actual_by_key) = (ByKey::new(desired, field), ByKey::new(actual, field));
        let some_lack_it = desired_by_key.index.candidates(digest(None)).next().is_some();

        let mut is_owned = vec![false; desired.len()];
        for (key, below) in owned.iter().filter(|(key, _)| *key != ".") {
            let Some(key) = parse(key) else { return self.differs(path) };
            // The server writes them in one order; a set with other fields, or in another order, is malformed.
            if key.first_field() != field {
                return self.differs(path);
            }
            let digest_of_key = key.first_digest();
            let candidates = desired_by_key.index.candidates(digest_of_key);
            let is_it = |position| key.names_desired(&desired_by_key.candidate(position), below);
            let wanted = if some_lack_it {
                // A desired item may leave out a key field that has a default, and then has the digest of nothing.
                find(candidates.chain(desired_by_key.index.candidates(digest(None))), is_it)
            } else {
                find(candidates, is_it)
            };
            let found = if self.ownership_only { wanted } else { find(actual_by_key.index.candidates(digest_of_key), |position| {
                key.names(&actual_by_key.candidate(position))
            }) };
            if let Found::Once(position) = wanted {
                is_owned[position] = true;
            }
            match (wanted, found) {
                (Found::Once(at), Found::Once(actual_at)) => {
                    self.node(&Path::Item(path, at), Some(&desired[at]), Some(&actual[actual_at]), below);
                }
                (Found::Once(at), _) | (Found::Never, Found::Once(at)) => self.differs(&Path::Item(path, at)),
                (Found::Never | Found::Often, _) => self.differs(path),
            }
            if self.is_full() {
                return;
            }
        }
        for (position, _) in is_owned.iter().enumerate().filter(|(_, is_owned)| !**is_owned) {
            self.differs(&Path::Item(path, position));
        }
    }

    /// Compares the owned values of a list that is a set. The path is the list's, because the values must not be shown.
    pub(super) fn set(
        &mut self,
        path: &Path<'_>,
        desired: Option<&Value>,
        actual: Option<&Value>,
        owned: &Object,
    ) {
        let (Some(desired), Some(actual)) = (items_or_absent(desired), items_or_absent(actual)) else {
            return self.differs(path);
        };
        let mut values: Vec<Value> = Vec::with_capacity(owned.len());
        for key in owned.keys().filter(|key| *key != ".") {
            let Some(value) = key.strip_prefix("v:").and_then(|text| serde_json::from_str(text).ok()) else {
                return self.differs(path);
            };
            values.push(value);
        }
        let index_of = |items: &[Value]| Index::new(items.iter().map(|item| digest(Some(item))));
        let (desired_index, actual_index, owned_index) =
            (index_of(desired), index_of(actual), index_of(&values));
        let all_there = values.iter().all(|value| {
            let digest = digest(Some(value));
            let found = find(actual_index.candidates(digest), |position| same(value, &actual[position]));
            desired_index.candidates(digest).any(|position| same(&desired[position], value))
                && matches!(found, Found::Once(_))
        });
        let all_owned = desired.iter().all(|item| {
            owned_index.candidates(digest(Some(item))).any(|position| same(item, &values[position]))
        });
        if !(all_there && all_owned) {
            self.differs(path);
        }
    }

    /// Compares the owned items of a list that are named by position. The API server has this notation, but doesn't use
    /// it for any list today.
    pub(super) fn positions(
        &mut self,
        path: &Path<'_>,
        desired: Option<&Value>,
        actual: Option<&Value>,
        owned: &Object,
    ) {
        let (Some(desired), Some(actual)) = (items_or_absent(desired), items_or_absent(actual)) else {
            return self.differs(path);
        };
        let mut is_owned = vec![false; desired.len()];
        for (key, below) in owned.iter().filter(|(key, _)| *key != ".") {
            let Some(index) = key.strip_prefix("i:").and_then(|text| text.parse::<usize>().ok()) else {
                return self.differs(path);
            };
            if let Some(is_owned) = is_owned.get_mut(index) {
                *is_owned = true;
            }
            let path = Path::Item(path, index);
            match actual.get(index) {
                Some(found) => self.node(&path, desired.get(index), Some(found), below),
                None => self.differs(&path),
            }
            if self.is_full() {
                return;
            }
        }
        for (index, _) in is_owned.iter().enumerate().filter(|(_, is_owned)| !**is_owned) {
            self.differs(&Path::Item(path, index));
        }
    }
}

/// The items of a list by the value of one key field.
struct ByKey<'a> {
    items: &'a [Value],
    values: Vec<Option<&'a Value>>,
    index: Index,
}

impl<'a> ByKey<'a> {
    fn new(items: &'a [Value], field: &str) -> Self {
        let values: Vec<_> = items.iter().map(|item| item.get(field)).collect();
        let index = Index::new(values.iter().map(|value| digest(*value)));
        Self { items, values, index }
    }

    fn candidate(&self, position: usize) -> Candidate<'a> {
        Candidate { item: &self.items[position], first: self.values[position] }
    }
}

/// The items of a list, none of an absent one; `None` if it is something else.
fn items_or_absent(value: Option<&Value>) -> Option<&[Value]> {
    value.map_or(Some(&[]), |value| value.as_array().map(Vec::as_slice))
}
