//! Drift that an apply can't undo: others have changed an object in such a way that the server refuses our apply as
//! invalid (422). Pure.
//!
//! A list with keys is merged item by item. A user who changes the port of our Service from 80 to 81 creates an item of
//! their own: an apply of 80 adds ours beside it, and two ports with the same name are refused forever. The same holds
//! for a second kind of source in a volume, a value beside our `valueFrom`, or another handler beside that of our
//! probe.
//!
//! ```text
//! causes of the 422 ─▶ paths ─┬─▶ the innermost list on each that is ours and in which others have written ─▶ replaced by ours
//!                             └─▶ no such list, but a field beside ours ─▶ removed, and ours beside it are set
//! ```
//!
//! After the patch we own the places twice: by the patch, as an `Update`, and by the apply that follows. [`folded`]
//! moves what the patch has added into the `Apply`, so that a later apply that no longer wants it removes it.
//!
//! # Guarantees
//! - A list is replaced only if a cause cites it, or something in it, and others have written there. The patch contains all of
//!   ours: the server refuses it if what others have written wasn't the reason.
//!
//! # Assumptions
//! - Items of an outer list, such as containers, are told apart by their `name`. Of other lists the outer one is replaced.

use std::{collections::BTreeSet, fmt};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::core::Status;
use serde_json::{Map, Value, json};

use crate::operations::matcher::{is_applied_by, owned_fields};

type Fields = Map<String, Value>;

/// What others have written into an object so that our apply is refused.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Drift {
    /// The operations of a JSON patch of the live object after which an apply should succeed; none if they can't be
    /// determined.
    pub(super) operations: Vec<Value>,
    /// What is in the way, and who has written it: paths in the object, never a value.
    pub(super) theirs: BTreeSet<Theirs>,
}

/// A place in the live object, and the others that have written there.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Theirs {
    path: String,
    managers: BTreeSet<String>,
}

impl fmt::Display for Theirs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let managers: Vec<_> = self.managers.iter().map(String::as_str).collect();
        match managers[..] {
            [] => write!(f, "{} (no one else's)", self.path),
            _ => write!(f, "{} ({})", self.path, managers.join(", ")),
        }
    }
}

/// What blocks an apply of `desired` by `manager`, which was refused with `status`, in the `live` object, whose managed
/// fields are complete.
pub(super) fn drift(
    desired: &Value,
    live: &Value,
    managed: &[ManagedFieldsEntry],
    manager: &str,
    status: &Status,
) -> Drift {
    // What only our applies have written isn't in the way of the next one.
    let others = managed.iter().filter(|entry| !is_applied_by(entry, manager, None));
    let sets: Vec<_> =
        others.filter_map(|entry| Some((entry.manager.as_deref()?, owned_fields(entry)?))).collect();
    let root = || DriftPlace {
        desired: Some(desired),
        live: Some(live),
        pointer: String::new(),
        path: String::new(),
        sets: sets.iter().map(|(by, fields)| (*by, &**fields)).collect(),
    };
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let mut drift = Drift::default();
    let mut lists: Vec<DriftPlace<'_>> = Vec::new();
    for path in causes.filter_map(|cause| steps(&cause.field)) {
        let cited = root().lists(&path);
        if cited.is_empty() {
            root().beside(&path, manager, &mut drift);
        }
        lists.extend(cited);
    }
    for list in &lists {
        drift.theirs.insert(list.theirs(manager));
        // What is replaced as a whole isn't replaced in parts.
        if !lists.iter().any(|outer| list.pointer.starts_with(&format!("{}/", outer.pointer))) {
            drift.add(json!({ "op": "replace", "path": list.pointer, "value": list.desired }));
        }
    }
    drift
}

impl Drift {
    fn add(&mut self, operation: Value) {
        if !self.operations.contains(&operation) {
            self.operations.push(operation);
        }
    }
}

/// A place on the path that a cause cites.
struct DriftPlace<'a> {
    desired: Option<&'a Value>,
    live: Option<&'a Value>,
    /// Its position in the live object, as a JSON pointer and in readable form.
    pointer: String,
    path: String,
    /// What each manager has written at and below this place, except for our applies.
    sets: Vec<(&'a str, &'a Fields)>,
}

impl<'a> DriftPlace<'a> {
    fn field(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        let path = match name.contains('.') {
            true => format!("{}[{name}]", self.path),
            false => format!("{}{dot}{name}", self.path),
        };
        let of = |value: Option<&'a Value>| value?.get(name).filter(|value| !value.is_null());
        Self {
            desired: of(self.desired),
            live: of(self.live),
            pointer: format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1")),
            path,
            sets: self.written(&format!("f:{name}")),
        }
    }

    /// The items of ours that are live, as far as their names show that.
    fn items(&self) -> Vec<Self> {
        let items = |list: Option<&'a Value>| list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let item = |ours: &'a Value| {
            let name = ours.get("name").filter(|name| name.is_string())?;
            let at = items(self.live).iter().position(|live| live.get("name") == Some(name))?;
            Some(Self {
                desired: Some(ours),
                live: items(self.live).get(at),
                pointer: format!("{}/{at}", self.pointer),
                path: format!("{}[{at}]", self.path),
                sets: self.written(&format!("k:{}", json!({ "name": name }))),
            })
        };
        items(self.desired).iter().filter_map(item).collect()
    }

    fn written(&self, key: &str) -> Vec<(&'a str, &'a Fields)> {
        self.sets.iter().filter_map(|(by, fields)| Some((*by, fields.get(key)?.as_object()?))).collect()
    }

    /// The innermost lists on the path in which something is ours and others have written.
    fn lists(self, path: &[PathStep]) -> Vec<Self> {
        let inner = match path.split_first() {
            Some((PathStep::Field(name), rest)) => self.field(name).lists(rest),
            Some((PathStep::Item, rest)) => {
                self.items().into_iter().flat_map(|item| item.lists(rest)).collect()
            }
            None => Vec::new(),
        };
        let has_items =
            |list: Option<&Value>| list.and_then(Value::as_array).is_some_and(|items| !items.is_empty());
        match inner.is_empty() && has_items(self.desired) && has_items(self.live) && !self.sets.is_empty() {
            true => vec![self],
            false => inner,
        }
    }

    /// Names what is cited, if it is in no list of ours. A field beside what we apply is removed.
    fn beside(self, path: &[PathStep], manager: &str, to: &mut Drift) {
        let Some((PathStep::Field(name), rest)) = path.split_first() else { return };
        let field = self.field(name);
        if matches!(rest.first(), Some(PathStep::Field(_))) {
            return field.beside(rest, manager, to);
        }
        let theirs = field.theirs(manager);
        let ours = self.desired.and_then(Value::as_object).filter(|ours| !ours.is_empty());
        match ours.filter(|_| rest.is_empty() && field.desired.is_none() && field.live.is_some()) {
            None if theirs.managers.is_empty() => return,
            None => {}
            Some(ours) => {
                to.add(json!({ "op": "remove", "path": field.pointer }));
                for (name, wanted) in
                    ours.iter().filter(|(_, wanted)| !wanted.is_object() && !wanted.is_array())
                {
                    let field = self.field(name);
                    if field.live != Some(wanted) {
                        to.add(json!({ "op": "add", "path": field.pointer, "value": wanted }));
                    }
                }
            }
        }
        to.theirs.insert(theirs);
    }

    fn theirs(&self, manager: &str) -> Theirs {
        let others = self.sets.iter().map(|(by, _)| *by).filter(|by| *by != manager);
        Theirs { path: self.path.clone(), managers: others.map(str::to_owned).collect() }
    }
}

/// One step of a path. The number of an item says little: the server counts them as it merges the two lists.
enum PathStep {
    Field(String),
    Item,
}

/// The steps of `spec.ports[1].name`. A name in brackets that isn't a number is a field: `metadata.labels[a.io/b]`.
fn steps(field: &str) -> Option<Vec<PathStep>> {
    let mut steps = Vec::new();
    let mut rest = field;
    while !rest.is_empty() {
        let (step, after) = if let Some(inner) = rest.strip_prefix('[') {
            let (inside, after) = inner.split_once(']')?;
            let is_number = inside.parse::<usize>().is_ok();
            (if is_number { PathStep::Item } else { PathStep::Field(inside.to_owned()) }, after)
        } else {
            let (name, after) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            if name.is_empty() {
                return None;
            }
            (PathStep::Field(name.to_owned()), after)
        };
        steps.push(step);
        rest = after.strip_prefix('.').unwrap_or(after);
    }
    (!steps.is_empty()).then_some(steps)
}

/// The operations of a JSON patch of `managedFields` that fold what the `Update` entry of the manager `from` has gained
/// since `before` into the `Apply` entry of `manager`, like client-go's `csaupgrade`, which folds all of it; `None` if
/// there is nothing to fold. What was written under the name before stays as it is.
///
/// `after` is the whole `managedFields` of the object to be patched, `api_version` the one that is applied.
pub(super) fn folded(
    before: &[ManagedFieldsEntry],
    after: &[ManagedFieldsEntry],
    from: &str,
    manager: &str,
    api_version: &str,
) -> Option<Vec<Value>> {
    let is_updated = |entry: &ManagedFieldsEntry| {
        entry.manager.as_deref() == Some(from)
            && entry.operation.as_deref() == Some("Update")
            && entry.subresource.as_deref().unwrap_or_default().is_empty()
            && entry.api_version.as_deref() == Some(api_version)
    };
    let at = after.iter().position(is_updated)?;
    let updated = owned_fields(&after[at])?;
    let earlier = before.iter().find(|entry| is_updated(entry)).and_then(owned_fields).unwrap_or_default();
    let gained = without(&updated, &earlier);
    if gained.is_empty() {
        return None;
    }
    let rest = without(&updated, &gained);
    let path = |at: usize, below: &str| format!("/metadata/managedFields/{at}{below}");
    let is_applied = |entry: &ManagedFieldsEntry| {
        is_applied_by(entry, manager, None) && entry.api_version.as_deref() == Some(api_version)
    };
    let mut operations = Vec::new();
    match after.iter().position(is_applied) {
        Some(applied) => {
            let all = union(&*owned_fields(&after[applied])?, &gained);
            operations.push(json!({ "op": "replace", "path": path(applied, "/fieldsV1"), "value": all }));
        }
        None => operations.push(json!({ "op": "add", "path": "/metadata/managedFields/-", "value": {
            "manager": manager,
            "operation": "Apply",
            "apiVersion": api_version,
            "time": after[at].time,
            "fieldsType": "FieldsV1",
            "fieldsV1": gained,
        } })),
    }
    operations.push(if rest.is_empty() {
        json!({ "op": "remove", "path": path(at, "") })
    } else {
        json!({ "op": "replace", "path": path(at, "/fieldsV1"), "value": rest })
    });
    Some(operations)
}

/// Whether a set contains the place itself: there is nothing below it, or the set says so.
fn has_itself(below: &Fields) -> bool {
    below.is_empty() || below.contains_key(".")
}

/// What is in `one` and not in `other`.
fn without(one: &Fields, other: &Fields) -> Fields {
    let mut left = Fields::new();
    for (key, below) in one.iter().filter(|(key, _)| *key != ".") {
        let (below, also) = (below.as_object(), other.get(key).and_then(Value::as_object));
        let Some(below) = below else { continue };
        let rest = match also {
            None => Some(below.clone()),
            Some(also) => {
                let mut rest = without(below, also);
                let itself = has_itself(below) && !has_itself(also);
                if itself && !rest.is_empty() {
                    rest.insert(".".to_owned(), json!({}));
                }
                (itself || !rest.is_empty()).then_some(rest)
            }
        };
        left.extend(rest.map(|rest| (key.clone(), Value::Object(rest))));
    }
    left
}

/// What is in `one` or in `other`.
pub(super) fn union(one: &Fields, other: &Fields) -> Fields {
    let mut all = one.clone();
    for (key, below) in other.iter().filter(|(key, _)| *key != ".") {
        let Some(below) = below.as_object() else { continue };
        let both = match one.get(key).and_then(Value::as_object) {
            None => below.clone(),
            Some(known) => {
                let mut both = union(known, below);
                both.remove(".");
                if !both.is_empty() && (has_itself(known) || has_itself(below)) {
                    both.insert(".".to_owned(), json!({}));
                }
                both
            }
        };
        all.insert(key.clone(), Value::Object(both));
    }
    all
}
