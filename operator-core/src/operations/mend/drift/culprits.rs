//! The values of others that a refusal is about.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Theirs,
    items::equal,
    place::{List, Place},
    refusal::{Cause, Reason, Step},
    trail::{End, Level, Trail, values_at},
};

/// What others have written and is in the way, as far as the causes show.
#[derive(Default)]
pub(super) struct Culprits<'a> {
    /// Single items, list by list.
    pub(super) items: Vec<Items<'a>>,
    /// Fields of others in what is ours.
    pub(super) beside: Vec<Beside<'a>>,
    /// Lists in which all items of others are suspected, because nothing was found separately.
    pub(super) lists: Vec<List<'a>>,
    /// What is cited and can't be removed.
    cited: Vec<Theirs>,
}

/// The items of others in one list that have to be removed: their positions in the live list, and which of ours, by its
/// position in the desired list, each of them blocks.
pub(super) struct Items<'a> {
    pub(super) list: List<'a>,
    pub(super) positions: BTreeMap<usize, Option<usize>>,
}

/// Something of others beside what we apply in one object.
pub(super) struct Beside<'a> {
    /// What is ours.
    pub(super) ours: Place<'a>,
    /// The field that has to be removed; all fields of others in the item if the cited item is one of ours.
    pub(super) field: Option<String>,
}

impl<'a> Culprits<'a> {
    pub(super) fn of(root: &Place<'a>, causes: &[Cause]) -> Self {
        let mut found = Self::default();
        for cause in causes {
            let Trail { mut levels, end } = Trail::of(root, &cause.path);
            match end {
                End::Foreign => {
                    let Some(level) = levels.pop() else { continue };
                    let rest = cause.path.get(level.steps..).unwrap_or_default();
                    let (at, in_the_way_of) = (level.item.live, level.equal_of_ours(rest));
                    found.items(level.list, at, in_the_way_of);
                }
                End::List(list) => found.list(list),
                End::Field(before, name) => {
                    let place = before.field(&name);
                    if !(cause.reason == Reason::Duplicate && found.duplicates(&mut levels, &cause.path)
                        || cause.reason == Reason::AmongOthers
                            && found.beside(before, name, &levels, &cause.path))
                    {
                        found.else_list(levels.pop(), cause.reason, &place);
                    }
                }
                End::Other(place) => {
                    if !(cause.reason == Reason::Duplicate && found.duplicates(&mut levels, &cause.path)) {
                        found.else_list(levels.pop(), cause.reason, &place);
                    }
                }
            }
        }
        if !(found.items.is_empty() && found.beside.is_empty()) {
            found.lists.clear();
        }
        found
    }

    /// These items of others are removed; the first of them blocks that item of ours.
    fn items(
        &mut self,
        list: List<'a>,
        at: impl IntoIterator<Item = usize>,
        mut in_the_way_of: Option<usize>,
    ) {
        let known = self.items.iter().position(|items| items.list.place.pointer == list.place.pointer);
        let known = known.unwrap_or_else(|| {
            self.items.push(Items { list, positions: BTreeMap::new() });
            self.items.len() - 1
        });
        for at in at {
            let ours = self.items[known].positions.entry(at).or_default();
            *ours = ours.or(in_the_way_of.take());
        }
    }

    fn list(&mut self, list: List<'a>) {
        let is_new = self.lists.iter().all(|known| known.place.pointer != list.place.pointer);
        if is_new && list.foreign().next().is_some() {
            self.lists.push(list);
        }
    }

    /// An item of ours is cited as a duplicate: its duplicate among others is removed, in the innermost list that has
    /// one.
    fn duplicates(&mut self, levels: &mut Vec<Level<'a>>, path: &[Step]) -> bool {
        for at in (0..levels.len()).rev() {
            let level = &levels[at];
            let found = level.equal_of_others(path.get(level.steps..).unwrap_or_default());
            if !found.is_empty() {
                let Level { list, item, .. } = levels.swap_remove(at);
                self.items(list, found, item.desired);
                return true;
            }
        }
        false
    }

    /// A field is cited that can't exist together with another one of the same object, and one of the two is ours.
    fn beside(&mut self, ours: Place<'a>, name: String, levels: &[Level<'a>], path: &[Step]) -> bool {
        let (Some(Value::Object(desired)), Some(Value::Object(live))) = (ours.desired, ours.live) else {
            return false;
        };
        let is_item = levels.last().is_some_and(|level| level.steps + 1 == path.len());
        let field = if desired.contains_key(&name) {
            let of_others = |name: &String| !desired.contains_key(name) && ours.field(name).is_others();
            if !is_item || !live.keys().any(of_others) {
                return false;
            }
            None
        } else {
            if desired.is_empty() || !live.contains_key(&name) {
                return false;
            }
            Some(name)
        };
        let is_known = |known: &Beside<'_>| known.ours.pointer == ours.pointer && known.field == field;
        if !self.beside.iter().any(is_known) {
            self.beside.push(Beside { ours, field });
        }
        true
    }

    fn else_list(&mut self, level: Option<Level<'a>>, reason: Reason, cited: &Place<'a>) {
        if cited.is_others() {
            self.cited.push(cited.theirs());
        }
        if let Some(level) = level
            && reason != Reason::ItsOwn
        {
            self.list(level.list);
        }
    }

    /// What they are, and who has written them.
    pub(super) fn theirs(&self) -> Vec<Theirs> {
        let place = |list: &List<'a>, at: usize| {
            let item = list.merged.iter().find(|item| item.live == Some(at));
            item.map(|item| list.item(*item).theirs())
        };
        let items = self
            .items
            .iter()
            .flat_map(|items| items.positions.keys().filter_map(move |at| place(&items.list, *at)));
        let lists = self.lists.iter().flat_map(|list| list.foreign().filter_map(move |at| place(list, at)));
        let beside = self.beside.iter().map(|beside| match &beside.field {
            Some(name) => beside.ours.field(name).theirs(),
            None => beside.ours.theirs(),
        });
        items.chain(lists).chain(beside).chain(self.cited.iter().cloned()).collect()
    }
}

impl Level<'_> {
    /// The item of ours that has the same value as this item of others at the end of `rest`.
    fn equal_of_ours(&self, rest: &[Step]) -> Option<usize> {
        let theirs = self.list.live.get(self.item.live?)?;
        self.list.desired.iter().position(|ours| share_a_value(ours, theirs, rest))
    }

    /// The items of others that have the same value as this item of ours at the end of `rest`.
    fn equal_of_others(&self, rest: &[Step]) -> Vec<usize> {
        let Some(ours) = self.item.desired.and_then(|at| self.list.desired.get(at)) else {
            return Vec::new();
        };
        let live =
            |at: &usize| self.list.live.get(*at).is_some_and(|theirs| share_a_value(ours, theirs, rest));
        self.list.foreign().filter(live).collect()
    }
}

fn share_a_value(one: &Value, other: &Value, path: &[Step]) -> bool {
    let others = values_at(other, path);
    values_at(one, path).into_iter().any(|one| others.iter().any(|other| equal(one, other)))
}
