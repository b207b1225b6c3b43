//! Compares what is desired with the fields that a manager owns, and with the values that they have. Pure.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Map, Value, value::RawValue};

use super::values::{Path, integer, is_nothing, leaves_no_trace, present, same};
use crate::cache::Applied;

type Fields = Map<String, Value>;

/// The part of an object that is compared, or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Object,
    Status,
}

impl Part {
    pub(crate) const fn subresource(self) -> Option<&'static str> {
        match self {
            Self::Object => None,
            Self::Status => Some("status"),
        }
    }
}

/// The maximum number of paths in [`Match::Differs`]: enough to see what happens, and a bound on the work.
pub(super) const MAX_PATHS: usize = 8;

/// Where the set of owned fields is stored, and so the path of a difference that is in the set and not in a field.
const MANAGED_FIELDS: &str = "metadata.managedFields";

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Match {
    /// Writing would change nothing.
    Equal,
    /// Writing would change something. The paths (`spec.template.spec.containers[0].image`) show where, at most eight
    /// of them and never with a value, so they may be logged even if the object is a Secret.
    ///
    /// Items of lists are named by their position in the desired object, or in the actual one if they are not wanted
    /// any more.
    Differs(Vec<String>),
    /// The object has no entry of an apply by this manager to this subresource: it was never applied, or it was written
    /// by other means. Applying creates the entry.
    NeverApplied,
}

impl Match {
    /// Whether writing can be left out.
    #[must_use]
    pub const fn is_equal(&self) -> bool {
        matches!(self, Self::Equal)
    }

    /// The number of differences that were found: at most [`MAX_PATHS`].
    pub(crate) const fn differences(&self) -> usize {
        match self {
            Self::Equal => 0,
            Self::Differs(paths) => paths.len(),
            Self::NeverApplied => 1,
        }
    }

    /// Where something differs, if it does.
    pub(crate) fn into_paths(self) -> Option<Vec<String>> {
        match self {
            Self::Equal => None,
            Self::Differs(paths) => Some(paths),
            Self::NeverApplied => Some(vec![MANAGED_FIELDS.to_owned()]),
        }
    }
}

/// Whether a server-side apply of `desired` by `manager` would change `actual`.
///
/// `managed` are the managed fields of `actual`; entries of other managers may have been dropped from it, and
/// `fieldsV1` may be text, as it is in the caches of this library. With `subresource` `Some("status")` only `status` is
/// compared, otherwise everything except `status`.
///
/// A set of another API version than the one of `desired` is a difference, because its fields may have other names.
/// Applying moves the entry to the new version.
///
/// There are no errors: what can't be interpreted is a [`Match::Differs`], because applying again corrects it. That
/// includes two entries for one manager and subresource, which the API server does not produce.
///
/// JOSDK: `SSABasedGenericKubernetesResourceMatcher`, which does not distinguish subresources and fails on malformed
/// sets.
pub fn matches_owned_fields(
    desired: &Value,
    actual: &Value,
    managed: &[ManagedFieldsEntry],
    manager: &str,
    subresource: Option<&str>,
) -> Match {
    walked(desired, applied(managed, manager, subresource), |walk, owned| match subresource {
        Some("status") => walk.status(desired, actual, owned),
        _ => walk.object(desired, Some(actual), owned),
    })
}

/// Whether `manager`, which has applied `desired` to the main resource, still owns exactly its fields. The values are
/// not looked at.
pub fn still_owned(desired: &Value, managed: &[ManagedFieldsEntry], manager: &str) -> Match {
    matches_applied(desired, None, applied(managed, manager, None))
}

/// Whether an apply of `desired` to the main resource would change something, after these. `actual` is the text of the
/// object, if values count.
pub(super) fn matches_applied<'o>(
    desired: &Value,
    actual: Option<&str>,
    applied: impl Iterator<Item = Applied<'o>>,
) -> Match {
    walked(desired, applied, |walk, owned| {
        let actual = actual.map(|text| part_of(text, Some(owned)));
        walk.object(desired, actual.as_ref(), owned);
    })
}

/// The fields of an object that are owned, read from its text: a tree of all of them takes longer. Items of lists, and
/// what is owned as a whole, are read in full.
fn part_of(text: &str, owned: Option<&Fields>) -> Value {
    let names = owned.filter(|owned| within(owned).all(|(key, _)| key.starts_with("f:")));
    let names = names.filter(|owned| within(owned).next().is_some());
    let all = names.and_then(|_| serde_json::from_str::<BTreeMap<&str, &RawValue>>(text).ok());
    let (Some(names), Some(all)) = (names, all) else {
        return serde_json::from_str(text).unwrap_or_default();
    };
    let parts = within(names).filter_map(|(key, below)| {
        let (name, part) = all.get_key_value(key.strip_prefix("f:")?)?;
        Some((*name, part_of(part.get(), below.as_object())))
    });
    parts.collect()
}

pub(super) fn applied<'o>(
    managed: &'o [ManagedFieldsEntry],
    manager: &str,
    subresource: Option<&str>,
) -> impl Iterator<Item = Applied<'o>> {
    let entries = managed.iter().filter(move |entry| is_applied_by(entry, manager, subresource));
    entries.map(|entry| {
        let (api_version, fields) = (entry.api_version.as_deref(), owned_fields(entry));
        Applied { api_version, fields, owners: None }
    })
}

fn walked<'o>(
    desired: &Value,
    mut applied: impl Iterator<Item = Applied<'o>>,
    walk: impl FnOnce(&mut Walk<'_>, &Fields),
) -> Match {
    let Some(Applied { api_version, fields, owners }) = applied.next() else { return Match::NeverApplied };
    let Some(owned) = fields.filter(|_| applied.next().is_none()) else {
        return Match::Differs(vec![MANAGED_FIELDS.to_owned()]);
    };
    if let (Some(wanted), Some(recorded)) = (desired.get("apiVersion").and_then(Value::as_str), api_version)
        && wanted != recorded
    {
        return Match::Differs(vec!["apiVersion".to_owned()]);
    }
    let mut walked = Walk { paths: Vec::new(), owners: owners.as_ref() };
    walk(&mut walked, &owned);
    walked.into_match()
}

/// The set of owned fields that an entry records, as a tree or as text.
pub(crate) fn owned_fields(entry: &ManagedFieldsEntry) -> Option<Cow<'_, Fields>> {
    match (entry.fields_type.as_deref(), &entry.fields_v1.as_ref()?.0) {
        (None | Some("FieldsV1"), Value::Object(fields)) => Some(Cow::Borrowed(fields)),
        (None | Some("FieldsV1"), Value::String(text)) => serde_json::from_str(text).ok().map(Cow::Owned),
        _ => None,
    }
}

/// Whether an entry records an apply by this manager to this subresource. The main resource is an absent or an empty
/// name; a finalizer and a status applied by one manager are two entries.
pub(crate) fn is_applied_by(entry: &ManagedFieldsEntry, manager: &str, subresource: Option<&str>) -> bool {
    entry.manager.as_deref() == Some(manager)
        && entry.operation.as_deref() == Some("Apply")
        && entry.subresource.as_deref().unwrap_or_default() == subresource.unwrap_or_default()
}

/// The fields of `metadata` that no manager owns, or that identify the object and are no content.
const IGNORED_METADATA: [&str; 9] = [
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The fields of an object that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The top level of an object without its kind; `metadata` and `status` are walked separately.
    Top,
    /// `metadata` without [`IGNORED_METADATA`].
    Metadata,
    /// All of them.
    Inner,
}

impl Scope {
    pub(super) fn ignores(self, name: &str) -> bool {
        match self {
            Self::Top => matches!(name, "apiVersion" | "kind" | "metadata" | "status"),
            Self::Metadata => IGNORED_METADATA.contains(&name),
            Self::Inner => false,
        }
    }
}

/// The content of the actual object in one place.
#[derive(Clone, Copy)]
enum ActualValue<'a> {
    /// It doesn't matter; what counts is whose it is.
    Any,
    Value(Option<&'a Value>),
}

impl<'a> ActualValue<'a> {
    /// That of a field. `None` if this isn't an object.
    fn fields(self) -> Option<impl Fn(&str) -> Self> {
        let fields = match self {
            Self::Value(Some(value)) => Some(value.as_object()?),
            Self::Value(None) | Self::Any => None,
        };
        Some(move |name: &str| match self {
            Self::Any => Self::Any,
            Self::Value(_) => Self::Value(present(fields.and_then(|fields| fields.get(name)))),
        })
    }

    /// Those of a list; `Some(None)` if they don't matter, and `None` if this isn't a list.
    fn items(self) -> Option<Option<&'a [Value]>> {
        match self {
            Self::Any => Some(None),
            Self::Value(value) => items(value).map(Some),
        }
    }
}

/// A walk through the desired object, the owned fields and the actual object, and the differences that it has found.
#[derive(Debug)]
pub(super) struct Walk<'o> {
    paths: Vec<String>,
    /// The owned owner references, if the set doesn't contain them.
    owners: Option<&'o Value>,
}

impl Walk<'_> {
    pub(super) fn into_match(self) -> Match {
        if self.paths.is_empty() { Match::Equal } else { Match::Differs(self.paths) }
    }

    /// Compares everything except `status`; without `actual` only whether exactly what is desired is owned.
    pub(super) fn object(&mut self, desired: &Value, actual: Option<&Value>, owned: &Fields) {
        let found =
            |value: Option<_>| actual.map_or(ActualValue::Any, |_| ActualValue::Value(present(value)));
        let path = Path::Field(&Path::Root, "metadata");
        let nothing = Fields::new();
        match owned.get("f:metadata").map_or(Some(&nothing), Value::as_object) {
            Some(owned) => {
                let metadata = actual.and_then(|actual| actual.get("metadata"));
                let wanted = present(desired.get("metadata"));
                self.fields(&path, wanted, found(metadata), owned, Scope::Metadata);
            }
            None => self.differs(&path),
        }
        self.fields(&Path::Root, Some(desired), found(actual), owned, Scope::Top);
    }

    /// Compares `status` alone.
    pub(super) fn status(&mut self, desired: &Value, actual: &Value, owned: &Fields) {
        let path = Path::Field(&Path::Root, "status");
        let wanted = present(desired.get("status"));
        match owned.get("f:status") {
            Some(below) => self.node(&path, wanted, ActualValue::Value(present(actual.get("status"))), below),
            None if wanted.is_none_or(leaves_no_trace) => {}
            None => self.differs(&path),
        }
    }

    /// Records a difference. A path is recorded once, however many reasons there are.
    fn differs(&mut self, path: &Path<'_>) {
        if self.is_full() {
            return;
        }
        let path = path.to_string();
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }

    /// Whether there is no room for more differences, so that walking on is useless.
    fn is_full(&self) -> bool {
        self.paths.len() >= MAX_PATHS
    }

    /// Compares what the managed set `owned` contains for one place. All keys of a place are of one kind, so the first
    /// one decides; the walk over that kind finds any stray key.
    fn node(&mut self, path: &Path<'_>, wanted: Option<&Value>, found: ActualValue<'_>, owned: &Value) {
        let Some(owned) = owned.as_object() else { return self.differs(path) };
        match within(owned).next().map(|(key, _)| key.get(..2)) {
            None => self.value(path, wanted, found),
            Some(Some("f:")) => self.fields(path, wanted, found, owned, Scope::Inner),
            Some(Some("k:")) => self.items(path, wanted, found, owned),
            Some(Some("v:")) => self.set(path, wanted, found, owned),
            Some(_) => self.differs(path),
        }
    }

    /// Compares a value that is owned as a whole: a scalar, or an atomic list or map.
    fn value(&mut self, path: &Path<'_>, wanted: Option<&Value>, found: ActualValue<'_>) {
        let is_equal = match (wanted, found) {
            (wanted, ActualValue::Any) => wanted.is_some(),
            // Nothing is left that an apply could remove.
            (None, ActualValue::Value(found)) => found.is_none(),
            // It is owned, so it was sent before, and the server has dropped it.
            (Some(wanted), ActualValue::Value(None)) => is_nothing(wanted),
            (Some(wanted), ActualValue::Value(Some(found))) => same(wanted, found),
        };
        if !is_equal {
            self.differs(path);
        }
    }

    /// Compares the owned fields of a mergeable object.
    fn fields(
        &mut self,
        path: &Path<'_>,
        wanted: Option<&Value>,
        found: ActualValue<'_>,
        owned: &Fields,
        scope: Scope,
    ) {
        let nothing = Fields::new();
        let (Some(wanted), Some(found)) = (wanted.map_or(Some(&nothing), Value::as_object), found.fields())
        else {
            return self.differs(path);
        };
        let mut met = 0;
        for (key, below) in within(owned) {
            let Some(name) = key.strip_prefix("f:") else { return self.differs(path) };
            if scope.ignores(name) {
                continue;
            }
            let (path, wanted, found) = (Path::Field(path, name), present(wanted.get(name)), found(name));
            met += usize::from(wanted.is_some());
            match below {
                // Every kind has these two, and they are mergeable in all of them: owning `{}` is owning an empty
                // object among the labels of others, not all labels as a whole.
                Value::Object(below)
                    if scope == Scope::Metadata && matches!(name, "labels" | "annotations") =>
                {
                    self.fields(&path, wanted, found, below, Scope::Inner);
                }
                _ => {
                    let owners =
                        self.owners.filter(|_| scope == Scope::Metadata && name == "ownerReferences");
                    self.node(&path, wanted, found, owners.unwrap_or(below));
                }
            }
            if self.is_full() {
                return;
            }
        }
        let counted = wanted.iter().filter(|(name, wanted)| !scope.ignores(name) && !wanted.is_null());
        // Usually each of them is owned, and none has to be looked up.
        if counted.clone().count() == met {
            return;
        }
        let mut key = String::from("f:");
        for (name, wanted) in counted {
            key.truncate("f:".len());
            key.push_str(name);
            let says_nothing = || match scope {
                // Empty labels, annotations, owner references and finalizers have no meaning to miss.
                Scope::Metadata => is_nothing(wanted),
                Scope::Top | Scope::Inner => leaves_no_trace(wanted),
            };
            if !owned.contains_key(&key) && !says_nothing() {
                self.differs(&Path::Field(path, name));
            }
        }
    }

    /// Compares the owned items of a list that is merged by key. Each key has to identify exactly one item, and each
    /// desired item has to be identified.
    fn items(&mut self, path: &Path<'_>, wanted: Option<&Value>, found: ActualValue<'_>, owned: &Fields) {
        let keys: Option<Vec<_>> = within(owned).map(|(key, below)| Some((item_key(key)?, below))).collect();
        let (Some(wanted), Some(found), Some(keys)) = (items(wanted), found.items(), keys) else {
            return self.differs(path);
        };
        // All keys of a list have the same fields, so the first one tells by what to look the items up.
        let Some(field) = keys.first().and_then(|(key, _)| key.keys().next()) else { return };
        let (wanted_by_key, found_by_key) =
            (ByField::new(wanted, field), found.map(|found| ByField::new(found, field)));
        let mut is_owned = vec![false; wanted.len()];
        for (key, below) in &keys {
            let at = wanted_by_key.only(key, &|name, value, item| match present(item.get(name)) {
                Some(wanted) => same(value, wanted),
                // A key field with a default (the protocol of a port) may be left out. It is in the key all the same,
                // but it was not applied and so is not owned.
                None => item.is_object() && below.get(format!("f:{name}")).is_none(),
            });
            let found = found_by_key.as_ref().map(|found| {
                found.only(key, &|name, value, item| item.get(name).is_some_and(|found| same(value, found)))
            });
            if let Only::One(at, _) = at {
                is_owned[at] = true;
            }
            match (at, found) {
                (Only::One(at, wanted), None) => {
                    self.node(&Path::Item(path, at), Some(wanted), ActualValue::Any, below);
                }
                (Only::One(at, wanted), Some(Only::One(_, found))) => {
                    self.node(&Path::Item(path, at), Some(wanted), ActualValue::Value(Some(found)), below);
                }
                (Only::One(at, _), Some(_)) | (Only::None, Some(Only::One(at, _))) => {
                    self.differs(&Path::Item(path, at));
                }
                (Only::None | Only::Several, _) => self.differs(path),
            }
            if self.is_full() {
                return;
            }
        }
        for (at, _) in is_owned.iter().enumerate().filter(|(_, is_owned)| !**is_owned) {
            self.differs(&Path::Item(path, at));
        }
    }

    /// Compares the owned values of a list that is a set. The path is the list's, because the values must not be shown.
    fn set(&mut self, path: &Path<'_>, wanted: Option<&Value>, found: ActualValue<'_>, owned: &Fields) {
        let value = |key: &String| {
            let value: Value = serde_json::from_str(key.strip_prefix("v:")?).ok()?;
            Some(Cow::Owned(plain(&value).into_owned()))
        };
        let owned: Option<HashSet<Cow<'_, Value>>> = within(owned).map(|(key, _)| value(key)).collect();
        let (Some(wanted), Some(found), Some(owned)) = (items(wanted), found.items(), owned) else {
            return self.differs(path);
        };
        let wanted: HashSet<_> = wanted.iter().map(plain).collect();
        let is_found_once = |found: &[Value]| {
            let mut times = HashMap::new();
            found.iter().for_each(|value| *times.entry(plain(value)).or_insert(0) += 1);
            owned.iter().all(|value| times.get(value) == Some(&1))
        };
        if wanted != owned || !found.is_none_or(is_found_once) {
            self.differs(path);
        }
    }
}

/// What is owned within a place, without the place itself.
fn within(owned: &Fields) -> impl Iterator<Item = (&String, &Value)> {
    owned.iter().filter(|(key, _)| *key != ".")
}

/// The items of a list, none of an absent one; `None` if it is something else.
fn items(value: Option<&Value>) -> Option<&[Value]> {
    value.map_or(Some(&[]), |value| value.as_array().map(Vec::as_slice))
}

/// The key of an item in a managed set: `k:{"containerPort":80,"protocol":"TCP"}`. `None` if it isn't an object of
/// scalars, or an empty one, which would name every item.
fn item_key(key: &str) -> Option<Fields> {
    let fields: Fields = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
    let is_scalar = |value: &Value| !value.is_object() && !value.is_array();
    (!fields.is_empty() && fields.values().all(is_scalar)).then_some(fields)
}

/// A value in which equal numbers are the same.
fn plain(value: &Value) -> Cow<'_, Value> {
    let integer = value.as_number().filter(|number| number.is_f64()).and_then(integer);
    match integer.and_then(|integer| i64::try_from(integer).ok()) {
        Some(integer) => Cow::Owned(integer.into()),
        None => Cow::Borrowed(value),
    }
}

/// The items of a list by the value of one field, without which they would have to be compared each with each.
struct ByField<'a> {
    field: &'a str,
    items: &'a [Value],
    positions: HashMap<Option<Cow<'a, Value>>, Vec<usize>>,
}

/// The result of a search for an item.
#[derive(Clone, Copy)]
enum Only<'a> {
    None,
    One(usize, &'a Value),
    Several,
}

impl<'a> ByField<'a> {
    fn new(items: &'a [Value], field: &'a str) -> Self {
        let mut positions: HashMap<_, Vec<usize>> = HashMap::with_capacity(items.len());
        for (position, item) in items.iter().enumerate() {
            positions.entry(present(item.get(field)).map(plain)).or_default().push(position);
        }
        Self { field, items, positions }
    }

    /// The positions of the items with this value.
    fn with<'s>(&'s self, value: Option<&'s Value>) -> &'s [usize] {
        self.positions.get(&value.map(plain)).map_or(&[], Vec::as_slice)
    }

    /// The item for which `is_it` is true with each field of `key`: among those with that value, and those without.
    fn only(&self, key: &Fields, is_it: &dyn Fn(&str, &Value, &Value) -> bool) -> Only<'a> {
        // A set whose keys have other fields is malformed.
        let Some(value) = key.get(self.field) else { return Only::None };
        let candidates = self.with(present(Some(value))).iter().chain(self.with(None));
        let mut found = candidates
            .filter(|position| key.iter().all(|(name, value)| is_it(name, value, &self.items[**position])));
        match (found.next(), found.next()) {
            (None, _) => Only::None,
            (Some(position), None) => Only::One(*position, &self.items[*position]),
            (Some(_), Some(_)) => Only::Several,
        }
    }
}
