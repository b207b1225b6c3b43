//! Walks desired object, actual object and owned fields side by side. Lists are in `lists`.

use std::iter::Peekable;

use serde_json::{Map, Value};

use super::MAX_PATHS;
use super::path::Path;
use super::value::{is_nothing, leaves_no_trace, present, same};

pub(super) type Object = Map<String, Value>;

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

/// A walk through one object, and the differences that it has found.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) paths: Vec<String>,
    /// Whether values don't matter: the actual object is the desired one.
    pub(super) ownership_only: bool,
}

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

impl Walk {
    /// The paths of the differences, at most [`MAX_PATHS`].
    pub(super) fn into_paths(self) -> Vec<String> {
        self.paths
    }

    /// Compares everything except `status`.
    pub(super) fn object(&mut self, desired: &Value, actual: &Value, owned: &Object) {
        let path = Path::Field(&Path::Root, "metadata");
        let (wanted, found) = (present(desired.get("metadata")), present(actual.get("metadata")));
        match owned.get("f:metadata") {
            None => self.fields(&path, wanted, found, &Object::new(), Scope::Metadata),
            Some(Value::Object(owned)) => self.fields(&path, wanted, found, owned, Scope::Metadata),
            Some(_) => self.differs(&path),
        }
        self.fields(&Path::Root, Some(desired), Some(actual), owned, Scope::Top);
    }

    /// Compares `status` alone.
    pub(super) fn status(&mut self, desired: &Value, actual: &Value, owned: &Object) {
        let path = Path::Field(&Path::Root, "status");
        let wanted = present(desired.get("status"));
        match owned.get("f:status") {
            Some(below) => self.node(&path, wanted, present(actual.get("status")), below),
            None if wanted.is_none_or(leaves_no_trace) => {}
            None => self.differs(&path),
        }
    }

    /// Records a difference. A path is recorded once, however many reasons there are.
    pub(super) fn differs(&mut self, path: &Path<'_>) {
        if self.is_full() {
            return;
        }
        let path = path.to_string();
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }

    /// Whether there is no room for more differences, so that walking on is useless.
    pub(super) fn is_full(&self) -> bool {
        self.paths.len() >= MAX_PATHS
    }

    /// Compares what the managed set `owned` contains for one place. All keys of a place are of one kind, so the first
    /// one decides; the walk over that kind finds any stray key.
    pub(super) fn node(
        &mut self,
        path: &Path<'_>,
        desired: Option<&Value>,
        actual: Option<&Value>,
        owned: &Value,
    ) {
        let Some(owned) = owned.as_object() else { return self.differs(path) };
        if owned.is_empty() {
            return self.value(path, desired, actual);
        }
        // The place itself, which is owned together with what is in it.
        let Some(first) = owned.keys().find(|key| *key != ".") else {
            return self.value(path, desired, actual);
        };
        match first.get(..2) {
            Some("f:") => self.fields(path, desired, actual, owned, Scope::Inner),
            Some("k:") => self.keyed_items(path, desired, actual, owned),
            Some("v:") => self.set(path, desired, actual, owned),
            Some("i:") => self.positions(path, desired, actual, owned),
            _ => self.differs(path),
        }
    }

    /// Compares a value that is owned as a whole: a scalar, or an atomic list or map.
    ///
    /// This is the place for sanitizers. No other place compares two values, so a tolerated difference (equal
    /// quantities, an empty environment variable, a default inside an atomic value) has to be checked here, once the
    /// plain comparison has failed.
    pub(super) fn value(&mut self, path: &Path<'_>, desired: Option<&Value>, actual: Option<&Value>) {
        let equal = match (desired, actual) {
            // Nothing is left that an apply could remove.
            (None, None) => !self.ownership_only,
            (None, Some(_)) => false,
            // It is owned, so it was sent before, and the server has dropped it.
            (Some(desired), None) => is_nothing(desired),
            (Some(desired), Some(actual)) => same(desired, actual),
        };
        if !equal {
            self.differs(path);
        }
    }

    /// Compares the owned fields of a mergeable object.
    fn fields(
        &mut self,
        path: &Path<'_>,
        desired: Option<&Value>,
        actual: Option<&Value>,
        owned: &Object,
        scope: Scope,
    ) {
        let (Some(desired), Some(actual)) = (object_or_absent(desired), object_or_absent(actual)) else {
            return self.differs(path);
        };
        let (mut desired_fields, mut actual_fields) = (Cursor::new(desired), Cursor::new(actual));
        let mut wanted_and_owned = 0;
        for (key, below) in owned.iter().filter(|(key, _)| *key != ".") {
            let Some(name) = key.strip_prefix("f:") else { return self.differs(path) };
            if scope.ignores(name) {
                continue;
            }
            let wanted = present(desired_fields.get(name));
            let found = present(actual_fields.get(name));
            wanted_and_owned += usize::from(wanted.is_some());
            let path = Path::Field(path, name);
            match below {
                // Every kind has these two, and they are mergeable in all of them: owning `{}` is owning an empty
                // object among the labels of others, not all labels as a whole.
                Value::Object(below)
                    if scope == Scope::Metadata && matches!(name, "labels" | "annotations") =>
                {
                    self.fields(&path, wanted, found, below, Scope::Inner);
                }
                _ => self.node(&path, wanted, found, below),
            }
            if self.is_full() {
                return;
            }
        }
        // Counting first spares looking up every field, which needs its key in the managed set as a string.
        if let Some(desired) = desired
            && desired.len() > wanted_and_owned
        {
            self.not_owned(path, desired, owned, scope);
        }
    }

    /// Records the desired fields that are not owned.
    fn not_owned(&mut self, path: &Path<'_>, desired: &Object, owned: &Object, scope: Scope) {
        let mut key = String::from("f:");
        for (name, wanted) in desired.iter().filter(|(name, _)| !scope.ignores(name)) {
            key.truncate("f:".len());
            key.push_str(name);
            let says_nothing = match scope {
                // Empty labels, annotations, owner references and finalizers have no meaning to miss.
                Scope::Metadata => is_nothing(wanted),
                Scope::Top | Scope::Inner => leaves_no_trace(wanted),
            };
            if !says_nothing && !owned.contains_key(&key) {
                self.differs(&Path::Field(path, name));
            }
        }
    }
}

/// The fields of an object, `Some(None)` of an absent one; `None` if it is something else.
fn object_or_absent(value: Option<&Value>) -> Option<Option<&Object>> {
    value.map_or(Some(None), |value| value.as_object().map(Some))
}

/// Looks up the fields of an object in the order of another one.
///
/// Both are sorted unless someone enables `serde_json`'s `preserve_order`, so usually the next field is the one that is
/// requested, and only the others need a look-up from the top.
#[derive(Debug)]
struct Cursor<'a> {
    fields: Option<&'a Object>,
    rest: Option<Peekable<serde_json::map::Iter<'a>>>,
}

impl<'a> Cursor<'a> {
    fn new(fields: Option<&'a Object>) -> Self {
        Self { fields, rest: fields.map(|fields| fields.iter().peekable()) }
    }

    fn get(&mut self, name: &str) -> Option<&'a Value> {
        let rest = self.rest.as_mut()?;
        while let Some((next, value)) = rest.peek() {
            // The usual answer, which most often needs only the lengths to be compared.
            if *next == name {
                let value = *value;
                rest.next();
                return Some(value);
            }
            if next.as_str() > name {
                break;
            }
            rest.next();
        }
        self.fields?.get(name)
    }
}
