//! A place in an object: what is desired there, what is live, and who has written it.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Map, Value};

use super::{
    Theirs,
    fold::has_itself,
    items::{Key, KeyFields},
    merged::{Merged, merged},
};
use crate::operations::matcher::{is_applied_by, owned_fields, present};

type Fields = Map<String, Value>;

/// The managed set of one entry of the live object.
pub(super) struct Set<'a> {
    manager: &'a str,
    /// Whether it is the set of our applies: fields that are only in it are removed automatically once they are no
    /// longer applied.
    is_applied: bool,
    /// Whether our field manager has written it, by any kind of write.
    is_ours: bool,
    fields: Cow<'a, Fields>,
}

/// The sets of all managers, for an apply by `manager`.
pub(super) fn sets<'a>(managed: &'a [ManagedFieldsEntry], manager: &str) -> Vec<Set<'a>> {
    let set = |entry: &'a ManagedFieldsEntry| {
        let written_by = entry.manager.as_deref().unwrap_or_default();
        let is_applied = is_applied_by(entry, manager, None);
        Some(Set {
            manager: written_by,
            is_applied,
            is_ours: written_by == manager,
            fields: owned_fields(entry)?,
        })
    };
    managed.iter().filter_map(set).collect()
}

/// A place on the path that a cause cites.
#[derive(Clone)]
pub(super) struct Place<'a> {
    pub(super) desired: Option<&'a Value>,
    pub(super) live: Option<&'a Value>,
    /// Its position in the live object, as a JSON pointer and in readable form. Meaningless if it isn't live.
    pub(super) pointer: String,
    path: String,
    /// What each set contains below this place.
    sets: Vec<(&'a Set<'a>, &'a Fields)>,
}

/// A list with keys in which we apply items.
pub(super) struct List<'a> {
    pub(super) place: Place<'a>,
    fields: KeyFields,
    pub(super) desired: &'a [Value],
    pub(super) live: &'a [Value],
    /// The items as the server has counted them.
    pub(super) merged: Vec<Merged>,
}

impl<'a> Place<'a> {
    pub(super) fn root(desired: &'a Value, live: &'a Value, sets: &'a [Set<'a>]) -> Self {
        let sets = sets.iter().map(|set| (set, &*set.fields)).collect();
        Self { desired: Some(desired), live: Some(live), pointer: String::new(), path: String::new(), sets }
    }

    /// The field of that name.
    pub(super) fn field(&self, name: &str) -> Self {
        let key = format!("f:{name}");
        let dot = if self.path.is_empty() { "" } else { "." };
        Self {
            desired: self.desired.and_then(|desired| present(desired.get(name))),
            live: self.live.and_then(|live| present(live.get(name))),
            pointer: format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1")),
            path: if name.contains('.') {
                format!("{}[{name}]", self.path)
            } else {
                format!("{}{dot}{name}", self.path)
            },
            sets: self.below(|fields| fields.get(&key)),
        }
    }

    fn below(&self, find: impl Fn(&'a Fields) -> Option<&'a Value>) -> Vec<(&'a Set<'a>, &'a Fields)> {
        let below = self.sets.iter().filter_map(|(set, fields)| Some((*set, find(fields)?.as_object()?)));
        below.collect()
    }

    /// This place as a list with keys that has items of ours.
    pub(super) fn list(&self) -> Option<List<'a>> {
        let desired = self.desired?.as_array().filter(|items| !items.is_empty())?;
        let live = self.live?.as_array()?;
        let fields = self.sets.iter().find_map(|(_, fields)| KeyFields::of(fields))?;
        let keys =
            |items: &[Value]| items.iter().map(|item| fields.of_item(item)).collect::<Option<Vec<_>>>();
        let (desired_keys, live_keys) = (keys(desired)?, keys(live)?);
        let mut merged = merged(&live_keys, &desired_keys);
        // The apply takes away what we have applied before and don't want any more, unless somebody else has written it.
        merged.retain(|item| match item {
            Merged { desired: None, live: Some(at) } => !self.is_ours_alone(&fields, &live_keys[*at]),
            _ => true,
        });
        Some(List { place: self.clone(), fields, desired, live, merged })
    }

    fn is_ours_alone(&self, fields: &KeyFields, key: &Key) -> bool {
        // Who has written only something in it doesn't keep it.
        let keeps_it = |(_, below): &(&Set<'_>, &Fields)| has_itself(below);
        let mut owners = self.item_sets(fields, key).into_iter().filter(keeps_it).peekable();
        owners.peek().is_some() && owners.all(|(set, _)| set.is_applied)
    }

    fn item_sets(&self, fields: &KeyFields, key: &Key) -> Vec<(&'a Set<'a>, &'a Fields)> {
        let is_it = |text: &str| fields.of_set(text).as_ref() == Some(key);
        self.below(|set| set.iter().find(|(text, _)| is_it(text)).map(|(_, below)| below))
    }

    /// Whether others have written here.
    pub(super) fn is_others(&self) -> bool {
        self.sets.iter().any(|(set, _)| !set.is_ours)
    }

    /// Whether it is a granular object: single fields of it have been written.
    pub(super) fn is_granular(&self) -> bool {
        self.sets.iter().any(|(_, fields)| fields.keys().any(|key| key.starts_with("f:")))
    }

    /// This place as one that others have written.
    pub(super) fn theirs(&self) -> Theirs {
        let others = self.sets.iter().filter(|(set, _)| !set.is_ours);
        let mut managers: Vec<_> = others.map(|(set, _)| set.manager.to_owned()).collect();
        managers.sort();
        managers.dedup();
        Theirs { path: self.path.clone(), managers }
    }
}

impl<'a> List<'a> {
    /// The place of a merged item.
    pub(super) fn item(&self, item: Merged) -> Place<'a> {
        let of = |items: &'a [Value], at: Option<usize>| at.and_then(|at| items.get(at));
        let (desired, live) = (of(self.desired, item.desired), of(self.live, item.live));
        let at = item.live.unwrap_or_default();
        let key = live.or(desired).and_then(|item| self.fields.of_item(item));
        let sets = key.map(|key| self.place.item_sets(&self.fields, &key)).unwrap_or_default();
        let (pointer, path) = (format!("{}/{at}", self.place.pointer), format!("{}[{at}]", self.place.path));
        Place { desired, live, pointer, path, sets }
    }

    /// The items that others have put there, by their positions in the live list.
    pub(super) fn foreign(&self) -> impl Iterator<Item = usize> {
        self.merged.iter().filter(|item| item.desired.is_none()).filter_map(|item| item.live)
    }
}
