//! Ownership of fields: the managers of an object, and how a write changes them.
//!
//! ```text
//!  apply:   live ─merge─▶ ─prune─▶ new      conflicts: the others' fields ∩ (added ∪ modified)
//!  update:  live ────────────────▶ new      the changed fields are the writer's
//! ```
//!
//! # Guarantees
//! - A manager without fields is removed, and a field that an object loses has no owner.
//! - An object that has no managers gets none by an update; its first apply records the existing fields as
//!   `before-first-apply`.

use std::{collections::BTreeMap, sync::LazyLock};

use jiff::Timestamp;
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::{
    canonical::{equal, in_seconds},
    schema::{TypeId, Types},
    set::Set,
    typed::{
        compare::{Comparison, compare},
        merge::merge,
        remove::remove,
        to_set::to_set,
        with_named_parents,
    },
};

/// More entries of updates than this are merged, the oldest first.
const MAX_UPDATERS: usize = 10;

/// A manager, as its entry names it. Apply comes before Update, as in the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Manager {
    pub(super) operation: Operation,
    pub(super) name: String,
    /// Empty for an apply: a manager applies in only one version at a time.
    pub(super) api_version: String,
    pub(super) subresource: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Apply,
    Update,
}

/// What a manager owns.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    pub(super) fields: Set,
    pub(super) api_version: String,
    pub(super) time: Option<String>,
}

/// The managers of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Managers(pub(super) BTreeMap<Manager, Owned>);

/// A kind's types, and the circumstances of one write.
pub(super) struct Context<'a> {
    pub(super) types: &'a Types,
    pub(super) root: TypeId,
    pub(super) api_version: &'a str,
    pub(super) subresource: &'a str,
    /// The fields that the endpoint doesn't write.
    pub(super) reset: &'a Set,
    pub(super) time: Timestamp,
}

/// The conflicts of an apply: the manager and the path of each.
pub(super) type Conflicts = Vec<(String, String)>;

impl Manager {
    /// The key by which the real server distinguishes and sorts managers: their entry as JSON.
    fn identifier(&self) -> String {
        let mut text = format!("{{\"manager\":{:?},\"operation\":\"{:?}\"", self.name, self.operation);
        for (field, value) in [("apiVersion", &self.api_version), ("subresource", &self.subresource)] {
            if !value.is_empty() {
                text = format!("{text},{field:?}:{value:?}");
            }
        }
        text + "}"
    }

    /// Its name in conflicts.
    fn describe(&self) -> String {
        let mut text = format!("{:?}", self.name);
        if !self.subresource.is_empty() {
            text = format!("{text} with subresource {:?}", self.subresource);
        }
        if self.operation == Operation::Update {
            text = format!("{text} using {}", self.api_version);
        }
        text
    }
}

impl Managers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the entries of an object. `None` if the API server could not read them either.
    pub(super) fn decode(entries: &Value) -> Option<Self> {
        let mut managers = Self::default();
        for entry in entries.as_array().into_iter().flatten() {
            let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
            let operation = match text("operation").as_str() {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return None,
            };
            let api_version = text("apiVersion");
            if api_version.is_empty() || text("fieldsType") != "FieldsV1" {
                return None;
            }
            let applied = operation == Operation::Apply;
            let manager = Manager {
                operation,
                name: text("manager"),
                api_version: if applied { String::new() } else { api_version.clone() },
                subresource: text("subresource"),
            };
            let fields = Set::decode(entry.get("fieldsV1").unwrap_or(&Value::Null));
            let time = entry.get("time").and_then(Value::as_str).map(str::to_owned);
            managers.0.insert(manager, Owned { fields, api_version, time });
        }
        Some(managers)
    }

    /// The entries, in the API server's order; `None` if there are none.
    pub(super) fn encode(&self) -> Option<Value> {
        let mut entries: Vec<_> = self.0.iter().collect();
        entries.sort_by_key(|(manager, owned)| {
            let time = owned.time.clone().unwrap_or_default();
            (manager.operation, time, &manager.name, &owned.api_version, &manager.subresource)
        });
        let encode = |(manager, owned): (&Manager, &Owned)| {
            let operation = if manager.operation == Operation::Apply { "Apply" } else { "Update" };
            let mut entry = json!({
                "operation": operation,
                "apiVersion": owned.api_version,
                "fieldsType": "FieldsV1",
                "fieldsV1": owned.fields.encode(),
            });
            let mut put = |field: &str, value: Option<&str>| {
                if let Some(value) = value.filter(|value| !value.is_empty()) {
                    entry[field] = Value::String(value.to_owned());
                }
            };
            put("manager", Some(&manager.name));
            put("subresource", Some(&manager.subresource));
            put("time", owned.time.as_deref());
            entry
        };
        (!entries.is_empty()).then(|| Value::Array(entries.into_iter().map(encode).collect()))
    }

    /// Forgets who has written an Event in the other group's form, as the real server does with each write: it can't
    /// translate their fields.
    pub(super) fn forget_other_forms(&mut self, kind: &GroupVersionKind) {
        if kind.kind == "Event" {
            let version = kind.api_version();
            self.0.retain(|_, owned| owned.api_version == version);
        }
    }

    fn all_fields(&self) -> Set {
        let mut all = Set::default();
        self.0.values().for_each(|owned| all.add(&owned.fields));
        all
    }

    /// Removes what changes from all managers but one; without force only if it has no owner, or may be taken.
    fn give_up(
        &mut self,
        change: &Comparison,
        but: Option<&Manager>,
        force: bool,
        allowed: Option<&Set>,
    ) -> Result<(), Conflicts> {
        let taken = change.modified.union(&change.added);
        let mut others: Vec<_> = self.0.iter().filter(|(manager, _)| Some(*manager) != but).collect();
        others.sort_by_cached_key(|(manager, _)| manager.identifier());
        let conflicts: Conflicts = others
            .into_iter()
            .flat_map(|(manager, owned)| {
                let mut taken = owned.fields.intersection(&taken);
                allowed.iter().for_each(|allowed| taken.subtract(allowed));
                let paths = taken.paths();
                paths.into_iter().map(|path| (manager.describe(), path))
            })
            .collect();
        if !force && !conflicts.is_empty() {
            return Err(conflicts);
        }
        let lost = taken.union(&change.removed);
        for (manager, owned) in &mut self.0 {
            if Some(manager) != but {
                owned.fields.subtract(&lost);
            }
        }
        self.0.retain(|_, owned| !owned.fields.is_empty());
        Ok(())
    }

    /// An update by `name`, which has changed `live` to `new`.
    pub(super) fn update(&mut self, context: &Context<'_>, live: &Value, new: &Value, name: &str) {
        let change = compare(context.types, context.root, live, new).without(context.reset);
        // Nobody keeps what changes, the writer's earlier entry included; so this can't conflict.
        let _ = self.give_up(&change, None, true, None);
        let fields = change.modified.union(&change.added).without(context.reset).difference(&STRIPPED);
        if !fields.is_empty() {
            let manager = Manager {
                operation: Operation::Update,
                name: name.to_owned(),
                api_version: context.api_version.to_owned(),
                subresource: context.subresource.to_owned(),
            };
            let earlier = self.0.get(&manager).map_or_else(Set::default, |owned| owned.fields.clone());
            let owned = Owned {
                fields: fields.union(&earlier),
                api_version: context.api_version.to_owned(),
                time: Some(in_seconds(context.time)),
            };
            self.0.insert(manager, owned);
        }
        self.merge_oldest();
    }

    fn merge_oldest(&mut self) {
        let mut updaters: Vec<_> = self
            .0
            .iter()
            .filter(|(manager, _)| manager.operation == Operation::Update)
            .map(|(manager, owned)| (owned.time.clone().unwrap_or_default(), manager.clone()))
            .collect();
        updaters.sort();
        let mut left = updaters.len();
        let mut first: BTreeMap<String, Manager> = BTreeMap::new();
        for (_, manager) in updaters {
            if left <= MAX_UPDATERS {
                return;
            }
            let Some(first) = first.get(&manager.api_version) else {
                first.insert(manager.api_version.clone(), manager);
                continue;
            };
            let bucket = Manager {
                operation: Operation::Update,
                name: "ancient-changes".to_owned(),
                api_version: manager.api_version.clone(),
                subresource: String::new(),
            };
            if !self.0.contains_key(&bucket)
                && let Some(oldest) = self.0.remove(first)
            {
                self.0.insert(bucket.clone(), oldest);
            }
            if let Some(merged) = self.0.remove(&manager)
                && let Some(into) = self.0.get_mut(&bucket)
            {
                into.fields.add(&merged.fields);
                into.time = merged.time;
                left -= 1;
            }
        }
    }

    /// An apply by `name`: the object that `live` becomes.
    pub(super) fn apply(
        &mut self,
        context: &Context<'_>,
        live: &Value,
        applied: &Value,
        name: &str,
        force: bool,
        allowed: Option<&Set>,
    ) -> Result<Value, Conflicts> {
        let manager = Manager {
            operation: Operation::Apply,
            name: name.to_owned(),
            api_version: String::new(),
            subresource: context.subresource.to_owned(),
        };
        let merged = merge(context.types, context.root, Some(live), Some(applied)).unwrap_or_default();
        let last = self.0.remove(&manager);
        let owned = Owned {
            fields: to_set(context.types, context.root, applied).without(context.reset),
            api_version: context.api_version.to_owned(),
            time: last.as_ref().and_then(|last| last.time.clone()),
        };
        self.0.insert(manager.clone(), owned);
        let new = match &last {
            Some(last) if !last.fields.is_empty() => self.prune(context, &merged, &last.fields),
            _ => merged,
        };
        let change = compare(context.types, context.root, live, &new).without(context.reset);
        self.give_up(&change, Some(&manager), force, allowed)?;
        if let Some(owned) = self.0.get_mut(&manager) {
            owned.fields.subtract(&STRIPPED);
            if !equal(live, &new) {
                owned.time = Some(in_seconds(context.time));
            }
        }
        self.0.retain(|_, owned| !owned.fields.is_empty());
        Ok(new)
    }

    /// Removes what was applied last time, is not applied now, and has no other owner.
    fn prune(&self, context: &Context<'_>, merged: &Value, last: &Set) -> Value {
        let (types, root) = (context.types, context.root);
        let whole = |set: &Set| with_named_parents(types, Some(root), set);
        let present = whole(&to_set(types, root, merged));
        let last = whole(last);
        let pruned = remove(types, root, merged, &last);
        let mut kept = whole(&to_set(types, root, &pruned));
        kept.add(&whole(&self.all_fields()));
        let pruned = remove(types, root, merged, &present.difference(&kept));
        // What nobody had applied stays, though its neighbours go.
        let kept = whole(&to_set(types, root, &pruned));
        remove(types, root, merged, &present.difference(&kept).intersection(&last))
    }
}

/// The fields that are in no manager's set: the server's, and the object's name.
static STRIPPED: LazyLock<Set> = LazyLock::new(|| {
    Set::of(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});
