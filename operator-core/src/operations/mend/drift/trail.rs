//! The path to what a cause cites.

use serde_json::Value;

use super::{
    merged::Merged,
    place::{List, Place},
    refusal::Step,
};

/// The path to the cited place, as far as it is ours.
pub(super) struct Trail<'a> {
    /// The lists with items of ours that it leads through.
    pub(super) levels: Vec<Level<'a>>,
    pub(super) end: End<'a>,
}

/// A list on the path.
pub(super) struct Level<'a> {
    pub(super) list: List<'a>,
    /// The item of the list that the path leads through.
    pub(super) item: Merged,
    /// The number of steps of the path that lead there, including the one to the item.
    pub(super) steps: usize,
}

/// The end of the path.
pub(super) enum End<'a> {
    /// At an item of others, that of the last level.
    Foreign,
    /// At a list with items of ours as a whole, or beyond its end.
    List(List<'a>),
    /// At a place that isn't in an item of others; its last step, a field of the place before it.
    Field(Place<'a>, String),
    /// Somewhere else.
    Other(Place<'a>),
}

impl<'a> Trail<'a> {
    pub(super) fn of(root: &Place<'a>, path: &[Step]) -> Self {
        let (mut place, mut before) = (root.clone(), None);
        let mut levels: Vec<Level<'a>> = Vec::new();
        for (at, step) in path.iter().enumerate() {
            match step {
                Step::Field(name) => {
                    let next = place.field(name);
                    before = Some((std::mem::replace(&mut place, next), name.clone()));
                }
                Step::Item(index) => {
                    // Of any other list the whole is one value.
                    let Some(list) = place.list() else { return Self { levels, end: End::Other(place) } };
                    let Some(item) = list.merged.get(*index).copied() else {
                        return Self { levels, end: End::List(list) };
                    };
                    before = None;
                    place = list.item(item);
                    levels.push(Level { list, item, steps: at + 1 });
                    if item.desired.is_none() {
                        return Self { levels, end: End::Foreign };
                    }
                }
            }
        }
        let end = match (place.list(), before) {
            (Some(list), _) => End::List(list),
            (None, Some((before, name))) => End::Field(before, name),
            (None, None) => End::Other(place),
        };
        Self { levels, end }
    }
}

/// The values at the end of a path from `value`, through any items of lists.
pub(super) fn values_at<'v>(value: &'v Value, path: &[Step]) -> Vec<&'v Value> {
    let Some((step, rest)) = path.split_first() else { return vec![value] };
    match step {
        Step::Field(name) => value.get(name).map(|value| values_at(value, rest)).unwrap_or_default(),
        Step::Item(_) => {
            let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
            items.iter().flat_map(|item| values_at(item, rest)).collect()
        }
    }
}
