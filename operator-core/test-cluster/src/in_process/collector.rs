//! Garbage collection: what happens to the objects that an object owns.
//!
//! | the owner is | its dependents |
//! |---|---|
//! | gone, or was never there under that uid | are deleted, unless another owner is there |
//! | being deleted in the foreground | are deleted first; those that block it hold it back |
//! | being deleted as an orphan's parent | lose their reference to it |

use serde_json::Value;

use super::{
    api::ApiServer,
    controllers::MANAGER,
    discovery::Discovery,
    fields::Endpoint,
    store::{Path, Resource, Store},
    write::{How, delete_own, finalizers, is_deleting, write_own},
};

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

/// Performs what the deletion of an object, or of its owners, requires.
pub(super) fn collect(api: &mut ApiServer, resource: &Resource, path: &Path, object: &Value) {
    if is_deleting(object) {
        let finalizers = finalizers(object);
        if finalizers.contains(&"orphan") {
            orphan(api, resource, path, object);
        } else if finalizers.contains(&"foregroundDeletion") {
            delete_dependents_first(api, resource, path, object);
        }
        return;
    }
    let references = references(object);
    // One that can't be followed keeps the real collector from doing anything.
    if references.is_empty()
        || references.iter().any(|reference| place(&api.discovery, path, reference).is_none())
    {
        return;
    }
    let owners: Vec<Owner> =
        references.iter().map(|reference| owner(&api.store, &api.discovery, path, reference)).collect();
    if owners.iter().all(|owner| *owner != Owner::Solid) {
        return delete_stored(api, resource, path, How::Background);
    }
    if owners.iter().any(|owner| *owner != Owner::Solid) {
        let is_solid = |reference: &Value| owner(&api.store, &api.discovery, path, reference) == Owner::Solid;
        let kept: Vec<Value> = references.iter().filter(|reference| is_solid(reference)).cloned().collect();
        set_references(api, resource, path, object, kept);
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
    drop_finalizer(api, resource, path, object, "orphan");
}

/// Deletes the dependents, and removes the finalizer when none is left that blocks.
fn delete_dependents_first(api: &mut ApiServer, resource: &Resource, path: &Path, object: &Value) {
    let uid = object["metadata"]["uid"].clone();
    for (resource, path) in dependents_of(&api.store, object).collect::<Vec<_>>() {
        let Some(dependent) = api.store.get(&resource, &path).cloned() else { continue };
        let has_other = references(&dependent).iter().any(|reference| {
            reference["uid"] != uid && owner(&api.store, &api.discovery, &path, reference) == Owner::Solid
        });
        if has_other {
            let kept = references(&dependent).iter().filter(|reference| reference["uid"] != uid);
            let kept: Vec<Value> = kept.cloned().collect();
            set_references(api, &resource, &path, &dependent, kept);
        } else if !is_deleting(&dependent) {
            let has_own = dependents_of(&api.store, &dependent).next().is_some();
            let how = if has_own { How::Foreground } else { How::Background };
            delete_stored(api, &resource, &path, how);
        }
    }
    let blocks = |(resource, path): (Resource, Path)| {
        let dependent = api.store.get(&resource, &path);
        dependent.is_some_and(|dependent| {
            let mut references = references(dependent).iter();
            references.any(|reference| reference["uid"] == uid && reference["blockOwnerDeletion"] == true)
        })
    };
    if !dependents_of(&api.store, object).any(blocks) {
        drop_finalizer(api, resource, path, object, "foregroundDeletion");
    }
}

/// The objects that name `owner` as one of their owners.
pub(super) fn dependents_of(store: &Store, owner: &Value) -> impl Iterator<Item = (Resource, Path)> {
    let uid = owner["metadata"]["uid"].as_str().unwrap_or_default();
    let dependents: Vec<_> =
        store.owned_by(uid).map(|(resource, path)| (resource.clone(), path.clone())).collect();
    dependents.into_iter()
}

/// Where the owners of an object are stored.
pub(super) fn owners_of(
    discovery: &Discovery,
    path: &Path,
    object: &Value,
) -> impl Iterator<Item = (Resource, Path)> {
    let owners: Vec<_> =
        references(object).iter().filter_map(|reference| place(discovery, path, reference)).collect();
    owners.into_iter()
}

/// The target of a reference of the object at `path`. One that can't be followed counts as solid, because the real
/// collector leaves such objects alone.
fn owner(store: &Store, discovery: &Discovery, path: &Path, reference: &Value) -> Owner {
    let Some((resource, owner)) = place(discovery, path, reference) else { return Owner::Solid };
    match store.get(&resource, &owner) {
        Some(owner) if owner["metadata"]["uid"] == reference["uid"] => {
            let waits = is_deleting(owner) && finalizers(owner).contains(&"foregroundDeletion");
            if waits { Owner::Waiting } else { Owner::Solid }
        }
        _ => Owner::Absent,
    }
}

fn place(discovery: &Discovery, path: &Path, reference: &Value) -> Option<(Resource, Path)> {
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
