//! The store: all objects, one counter of versions, and what happened since the last compaction.
//!
//! ```text
//!   put, remove ──▶ objects (by resource, then by path)
//!        │
//!        └────────▶ log: (version, before, after) … ◀── read from a version: watches
//!                    └── undone from its end: lists of the past
//! ```
//!
//! Pure: it doesn't know what waits for an event.
//!
//! # Guarantees
//! - Each change gets the next version, whatever the resource; a version is given out once.
//! - Lists are in the order of the paths, as in etcd.
//! - A version before the compaction is refused, never answered incompletely.

mod owned;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use serde_json::Value;

use owned::Owned;

/// A group and a plural: all versions of a kind share their objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Resource {
    /// Empty for the core group.
    pub(super) group: String,
    /// As in URLs.
    pub(super) plural: String,
}

/// Namespace and name of an object as one path, because that is how etcd sorts them: `a-b/x` comes before `a/x`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path(String);

impl Path {
    /// The path of an object; without a namespace that is its name after a slash.
    pub(super) fn new(namespace: Option<&str>, name: &str) -> Self {
        Self(format!("{}/{name}", namespace.unwrap_or_default()))
    }

    /// The path as text, for continue tokens.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// A path from its text.
    pub(super) fn from_text(text: String) -> Self {
        Self(text)
    }

    /// `None` if the object is cluster-scoped.
    pub(super) fn namespace(&self) -> Option<&str> {
        self.0.split_once('/').map(|(namespace, _)| namespace).filter(|namespace| !namespace.is_empty())
    }

    /// The object's name.
    pub(super) fn name(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(_, name)| name)
    }
}

/// A change of one object.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// The version that the change got.
    pub(super) version: u64,
    /// The resource of the object.
    pub(super) resource: Resource,
    /// The object.
    pub(super) path: Path,
    /// The object before; `None` if it was created.
    pub(super) before: Option<Arc<Value>>,
    /// The object after; `None` if it was deleted.
    pub(super) after: Option<Arc<Value>>,
}

/// The requested version lies before the compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expired {
    /// The oldest version that can still be requested.
    pub(super) oldest: u64,
}

/// The length of the log at which its older half is forgotten.
const LONGEST_LOG: usize = 100_000;

/// The objects and their history.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    version: u64,
    compacted: u64,
    objects: BTreeMap<Resource, BTreeMap<Path, Arc<Value>>>,
    /// The objects that name a uid as one of their owners.
    owned: Owned,
    log: VecDeque<Event>,
}

impl Store {
    /// The version of the newest change.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// One object.
    pub(super) fn get(&self, resource: &Resource, path: &Path) -> Option<&Arc<Value>> {
        self.objects.get(resource)?.get(path)
    }

    /// All objects of a resource, or those of one namespace.
    pub(super) fn list<'s>(
        &'s self,
        resource: &Resource,
        namespace: Option<&'s str>,
    ) -> impl Iterator<Item = (&'s Path, &'s Arc<Value>)> + use<'s> {
        let start = Path(namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default());
        let all = self.objects.get(resource).map(|objects| objects.range(start..));
        let is_in = move |path: &Path| namespace.is_none_or(|namespace| path.namespace() == Some(namespace));
        all.into_iter().flatten().take_while(move |(path, _)| is_in(path))
    }

    /// The objects that name `uid` as one of their owners.
    pub(super) fn owned_by(&self, uid: &str) -> impl Iterator<Item = (&Resource, &Path)> {
        self.owned.of(uid)
    }

    /// All resources that ever had an object.
    pub(super) fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.objects.keys()
    }

    /// Whether the objects of a resource are as they were at `version`, as far as that is known.
    pub(super) fn is_unchanged_since(&self, resource: &Resource, version: u64) -> bool {
        let mut later = self.log.iter().rev().take_while(|event| event.version > version);
        version >= self.compacted && later.all(|event| event.resource != *resource)
    }

    /// The objects of a resource as they were at `version`.
    pub(super) fn list_at(
        &self,
        resource: &Resource,
        version: u64,
    ) -> Result<BTreeMap<Path, Arc<Value>>, Expired> {
        if version < self.compacted {
            return Err(Expired { oldest: self.compacted });
        }
        let mut objects = self.objects.get(resource).cloned().unwrap_or_default();
        let later = self.log.iter().rev().take_while(|event| event.version > version);
        for event in later.filter(|event| event.resource == *resource) {
            match &event.before {
                Some(before) => objects.insert(event.path.clone(), Arc::clone(before)),
                None => objects.remove(&event.path),
            };
        }
        Ok(objects)
    }

    /// Gives an empty store its first objects, all at once: they have the first version.
    pub(super) fn start_with(&mut self, objects: &[(Resource, BTreeMap<Path, Arc<Value>>)]) {
        self.version = 1;
        self.compacted = 1;
        self.objects.extend(objects.iter().cloned());
    }

    /// Stores an object, which gets the next version.
    pub(super) fn put(&mut self, resource: &Resource, path: &Path, mut object: Value) -> Arc<Value> {
        self.version += 1;
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        self.insert(resource, path, object)
    }

    /// Stores an object with the version that it has, if it has one. Later changes get greater ones.
    pub(super) fn put_as_it_is(&mut self, resource: &Resource, path: &Path, object: Value) -> Arc<Value> {
        let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        if version.is_empty() {
            return self.put(resource, path, object);
        }
        let given: u64 = version.parse().unwrap_or_default();
        self.version = given.max(self.version + 1);
        self.insert(resource, path, object)
    }

    fn insert(&mut self, resource: &Resource, path: &Path, object: Value) -> Arc<Value> {
        let object = Arc::new(object);
        let of_resource = self.objects.entry(resource.clone()).or_default();
        let before = of_resource.insert(path.clone(), Arc::clone(&object));
        self.owned.changed(resource, path, before.as_deref(), Some(&object));
        self.record(resource, path, before, Some(Arc::clone(&object)));
        object
    }

    /// Removes an object; returns its last state.
    pub(super) fn remove(&mut self, resource: &Resource, path: &Path) -> Option<Arc<Value>> {
        let before = self.objects.get_mut(resource)?.remove(path)?;
        self.version += 1;
        self.owned.changed(resource, path, Some(&before), None);
        self.record(resource, path, Some(Arc::clone(&before)), None);
        Some(before)
    }

    /// What happened after `version`, oldest first.
    pub(super) fn after(&self, version: u64) -> Result<impl Iterator<Item = &Event>, Expired> {
        if version < self.compacted {
            return Err(Expired { oldest: self.compacted });
        }
        let start = self.log.partition_point(|event| event.version <= version);
        Ok(self.log.range(start..))
    }

    /// Forgets what happened before now.
    pub(super) fn compact(&mut self) {
        self.compacted = self.version;
        // Its room goes, too: how much that is depends on the longest time between two compactions.
        self.log = VecDeque::new();
    }

    fn record(
        &mut self,
        resource: &Resource,
        path: &Path,
        before: Option<Arc<Value>>,
        after: Option<Arc<Value>>,
    ) {
        let (resource, path) = (resource.clone(), path.clone());
        self.log.push_back(Event { version: self.version, resource, path, before, after });
        if self.log.len() > LONGEST_LOG {
            self.log.drain(..LONGEST_LOG / 2);
            self.compacted = self.log.front().map_or(self.version, |event| event.version - 1);
        }
    }
}
