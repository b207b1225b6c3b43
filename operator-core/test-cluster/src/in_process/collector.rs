//! Garbage collection: what happens to the objects that an object owns.
//!
//! | the owner is | its dependents |
//! |---|---|
//! | gone, or was never there under that uid | are deleted, unless another owner is there |
//! | being deleted in the foreground | are deleted first; those that block it hold it back |
//! | being deleted as an orphan's parent | lose their reference to it |
//!
//! The real collector keeps a graph of all objects, and looks at one only if something in the graph says so: an object
//! that gets an owner which already waits for its dependents isn't looked at then, for example. What it looks at it judges
//! by what is stored.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    api::ApiServer,
    controllers::MANAGER,
    discovery::Discovery,
    fields::Endpoint,
    store::{Path, Resource, Store},
    write::{How, delete_own, finalizers, is_deleting, write_own},
};

/// Where an object is stored.
type Place = (Resource, Path);

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// The target of an owner reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// An object that stays.
    Solid,
    /// Nothing.
    Absent,
    /// An object that waits for its dependents to be deleted first.
    Waiting,
}

/// What the real collector's graph knows of objects besides what is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// Those that have waited for their dependents. It doesn't forget this when one doesn't wait any more.
    waited: BTreeSet<String>,
}

impl Graph {
    /// What has to be looked at because an object is now this one, which was `before`, if it was there.
    pub(in crate::in_process) fn changed(
        &mut self,
        api: &ApiServer,
        (resource, path): (&Resource, &Path),
        object: &Value,
        before: Option<&Value>,
    ) -> Vec<Place> {
        let of_same = |before: &&Value| before["metadata"]["uid"] == object["metadata"]["uid"];
        let before = before.filter(of_same).unwrap_or(&Value::Null);
        let (old, new) = (references(before), references(object));
        let mut places = Vec::new();
        let is_new = |reference: &Value| old.iter().all(|known| known["uid"] != reference["uid"]);
        let is_absent =
            |reference: &Value| owner(&api.store, &api.discovery, path, reference) == Owner::Absent;
        // One that can't be followed is tried again and again.
        let tries = |reference: &Value| place(&api.discovery, path, reference).is_none();
        if new.iter().any(|reference| is_new(reference) && is_absent(reference))
            || (old != new && old.iter().any(tries))
        {
            places.push((resource.clone(), path.clone()));
        }
        // An owner that this one doesn't block any more.
        for reference in old.iter().filter(|reference| blocks(reference)) {
            if !new.iter().any(|other| other["uid"] == reference["uid"] && blocks(other)) {
                places.extend(place(&api.discovery, path, reference));
            }
        }
        let begins = |finalizer: &str| ends_with(object, finalizer) && !ends_with(before, finalizer);
        if begins(ORPHAN) {
            places.push((resource.clone(), path.clone()));
        } else if begins(FOREGROUND) {
            self.waited.extend(object["metadata"]["uid"].as_str().map(str::to_owned));
            // It may be one of its own dependents.
            let is_other = |(of, at): &Place| (of, at) != (resource, path);
            places.extend(dependents_of(&api.store, object).filter(is_other));
            places.push((resource.clone(), path.clone()));
        }
        places
    }

    /// What has to be looked at because an object is gone.
    pub(in crate::in_process) fn ended(
        &mut self,
        api: &ApiServer,
        path: &Path,
        object: &Value,
    ) -> Vec<Place> {
        self.waited.remove(object["metadata"]["uid"].as_str().unwrap_or_default());
        let owners = references(object).iter().filter_map(|reference| place(&api.discovery, path, reference));
        let owners = owners.filter(|owner| self.has_waited(&api.store, owner));
        dependents_of(&api.store, object).chain(owners).collect()
    }

    /// Performs what the deletion of an object, or of its owners, requires; returns what has to be looked at then.
    pub(in crate::in_process) fn collect(
        &self,
        api: &mut ApiServer,
        resource: &Resource,
        path: &Path,
        object: &Value,
    ) -> Vec<Place> {
        if ends_with(object, ORPHAN) {
            orphan(api, resource, path, object);
        } else if ends_with(object, FOREGROUND) {
            return self.end_after_dependents(api, resource, path, object);
        }
        let references = references(object);
        // One reference that can't be followed keeps the real collector from doing anything.
        if is_deleting(object)
            || references.is_empty()
            || references.iter().any(|reference| place(&api.discovery, path, reference).is_none())
        {
            return Vec::new();
        }
        let owners: Vec<Owner> =
            references.iter().map(|reference| owner(&api.store, &api.discovery, path, reference)).collect();
        if owners.contains(&Owner::Solid) {
            let kept = references.iter().zip(&owners).filter(|(_, owner)| **owner == Owner::Solid);
            let kept: Vec<Value> = kept.map(|(reference, _)| reference.clone()).collect();
            if kept.len() < references.len() {
                set_references(api, resource, path, object, kept);
            }
            return Vec::new();
        }
        let dependents: Vec<Place> = dependents_of(&api.store, object).collect();
        if !owners.contains(&Owner::Waiting) || dependents.is_empty() {
            delete_stored(api, resource, path, How::Background);
            return Vec::new();
        }
        let circles = dependents.iter().any(|dependent| self.has_waited(&api.store, dependent));
        if circles && references.iter().any(blocks) {
            // Two that wait for each other would do so for ever. The real collector's deletion fails then, because of its own
            // change, and is tried again.
            let mut unblocked = references.to_vec();
            for reference in unblocked.iter_mut().filter(|reference| blocks(reference)) {
                reference["blockOwnerDeletion"] = false.into();
            }
            set_references(api, resource, path, object, unblocked);
            return vec![(resource.clone(), path.clone())];
        }
        delete_stored(api, resource, path, How::Foreground);
        Vec::new()
    }

    /// Removes the finalizer when no dependent is left that blocks; returns those that do.
    fn end_after_dependents(
        &self,
        api: &mut ApiServer,
        resource: &Resource,
        path: &Path,
        object: &Value,
    ) -> Vec<Place> {
        let uid = &object["metadata"]["uid"];
        let state = |(resource, path): &Place| api.store.get(resource, path);
        let is_held_by = |dependent: &Value| {
            references(dependent).iter().any(|reference| reference["uid"] == *uid && blocks(reference))
        };
        let mut blocking: Vec<Place> = dependents_of(&api.store, object)
            .filter(|place| state(place).is_some_and(|dependent| is_held_by(dependent)))
            .collect();
        if blocking.is_empty() {
            drop_finalizer(api, resource, path, object, FOREGROUND);
            return blocking;
        }
        blocking.retain(|place| !self.has_waited(&api.store, place));
        blocking
    }

    fn has_waited(&self, store: &Store, (resource, path): &Place) -> bool {
        let uid = store.get(resource, path).and_then(|object| object["metadata"]["uid"].as_str());
        uid.is_some_and(|uid| self.waited.contains(uid))
    }
}

/// Removes the dependents' references, then the finalizer.
fn orphan(api: &mut ApiServer, resource: &Resource, path: &Path, object: &Value) {
    for (resource, path) in dependents_of(&api.store, object).collect::<Vec<_>>() {
        let Some(dependent) = api.store.get(&resource, &path).cloned() else { continue };
        let uid = &object["metadata"]["uid"];
        let kept = references(&dependent).iter().filter(|reference| reference["uid"] != *uid);
        let kept: Vec<Value> = kept.cloned().collect();
        set_references(api, &resource, &path, &dependent, kept);
    }
    // It may be one of its own dependents.
    if let Some(object) = api.store.get(resource, path).cloned() {
        drop_finalizer(api, resource, path, &object, ORPHAN);
    }
}

/// Whether an object is being deleted, and has a finalizer of the collector.
fn ends_with(object: &Value, finalizer: &str) -> bool {
    is_deleting(object) && finalizers(object).contains(&finalizer)
}

fn blocks(reference: &Value) -> bool {
    reference["blockOwnerDeletion"] == true
}

/// The objects that name `owner` as one of their owners.
fn dependents_of(store: &Store, owner: &Value) -> impl Iterator<Item = Place> {
    let uid = owner["metadata"]["uid"].as_str().unwrap_or_default();
    let dependents: Vec<_> =
        store.owned_by(uid).map(|(resource, path)| (resource.clone(), path.clone())).collect();
    dependents.into_iter()
}

/// The target of a reference of the object at `path`. One that can't be followed counts as solid, because the real
/// collector leaves such objects alone.
fn owner(store: &Store, discovery: &Discovery, path: &Path, reference: &Value) -> Owner {
    let Some((resource, owner)) = place(discovery, path, reference) else { return Owner::Solid };
    match store.get(&resource, &owner) {
        Some(owner) if owner["metadata"]["uid"] == reference["uid"] => {
            if ends_with(owner, FOREGROUND) {
                Owner::Waiting
            } else {
                Owner::Solid
            }
        }
        _ => Owner::Absent,
    }
}

fn place(discovery: &Discovery, path: &Path, reference: &Value) -> Option<Place> {
    let kind = discovery.of_object(reference["apiVersion"].as_str()?, reference["kind"].as_str()?)?;
    let name = reference["name"].as_str()?;
    let owner = match (kind.namespaced, path.namespace()) {
        (true, Some(namespace)) => Path::new(Some(namespace), name),
        (true, None) => return None,
        (false, _) => Path::new(None, name),
    };
    Some((kind.resource(), owner))
}

fn delete_stored(api: &mut ApiServer, resource: &Resource, path: &Path, how: How) {
    if let Some(kind) = api.discovery.of_resource(resource).cloned() {
        delete_own(api, &kind, path, how).ok();
    }
}

fn set_references(api: &mut ApiServer, resource: &Resource, path: &Path, object: &Value, kept: Vec<Value>) {
    change_list(api, resource, path, object, "ownerReferences", kept);
}

fn drop_finalizer(api: &mut ApiServer, resource: &Resource, path: &Path, object: &Value, finalizer: &str) {
    let kept = finalizers(object).into_iter().filter(|name| *name != finalizer).map(Value::from);
    let kept = kept.collect();
    change_list(api, resource, path, object, "finalizers", kept);
}

fn change_list(
    api: &mut ApiServer,
    resource: &Resource,
    path: &Path,
    object: &Value,
    list: &str,
    kept: Vec<Value>,
) {
    let Some(kind) = api.discovery.of_resource(resource).cloned() else { return };
    let mut changed = object.clone();
    if let Some(metadata) = changed["metadata"].as_object_mut() {
        match kept.is_empty() {
            true => metadata.remove(list),
            false => metadata.insert(list.to_owned(), kept.into()),
        };
    }
    write_own(api, &kind, path, Endpoint::Main, MANAGER, changed).ok();
}

/// The owner references of an object.
fn references(object: &Value) -> &[Value] {
    object["metadata"]["ownerReferences"].as_array().map_or(&[], Vec::as_slice)
}
