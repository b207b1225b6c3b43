//! Definitions of custom kinds: what they serve, and their end.
//!
//! ```text
//!  POST, PUT, PATCH ─▶ stored ─▶ kinds served, conditions set
//!  DELETE ─▶ marked ─▶ objects deleted ─▶ all gone? ─▶ kinds withdrawn, definition removed
//! ```
//!
//! The real server's controllers for this are part of the API server itself, and so they always work here, too: after
//! the request that gives them something to do, before the next one.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use jiff::Timestamp;
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::{
    api::ApiServer,
    crd,
    discovery::Discovery,
    failure::{Cause, Failure},
    fields::{Endpoint, Scale, Schema},
    kinds::{Behaviour, Kind},
    store::{Path, Resource, Store},
    write::{How, delete_own, is_deleting, metadata::time, remove, write_own},
};

/// The group of definitions.
pub(super) const GROUP: &str = "apiextensions.k8s.io";
/// Their kind.
pub(super) const KIND: &str = "CustomResourceDefinition";
/// The field manager of their status.
const MANAGER: &str = "kube-apiserver";
/// Keeps a definition until its objects are gone.
const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Where definitions are stored.
pub(super) fn definitions() -> Resource {
    Resource::new(GROUP, "customresourcedefinitions")
}

/// The status that a new definition starts with.
pub(super) fn complete_definition(definition: &mut Value) {
    let storage = versions(definition).find(|version| version["storage"] == true);
    let stored: Vec<Value> = storage.map(|version| version["name"].clone()).into_iter().collect();
    definition["status"] = json!({ "conditions": null, "acceptedNames": { "plural": "", "kind": "" }, "storedVersions": stored });
}

/// A changed definition, in whose storage version something may be stored from now on.
pub(super) fn note_storage(definition: &mut Value) {
    let storage = versions(definition).find(|version| version["storage"] == true);
    let storage = storage.map(|version| version["name"].clone()).unwrap_or_default();
    if let Some(list) = definition["status"]["storedVersions"].as_array_mut()
        && !list.contains(&storage)
    {
        list.push(storage);
    }
}

/// A definition whose deletion starts.
pub(super) fn mark_definition(definition: &mut Value, now: Timestamp) {
    definition["metadata"]["finalizers"] = json!([FINALIZER]);
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    set_condition(definition, "Terminating", ("True", "InstanceDeletionPending", message), now);
}

fn set_condition(definition: &mut Value, kind: &str, condition: (&str, &str, &str), now: Timestamp) {
    let (status, reason, message) = condition;
    let conditions = &mut definition["status"]["conditions"];
    if conditions.is_null() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    let mut new = json!({
        "type": kind,
        "status": status,
        "lastTransitionTime": time(now),
        "reason": reason,
        "message": message,
    });
    match conditions.iter_mut().find(|condition| condition["type"] == kind) {
        Some(known) => {
            if known["status"] == status {
                new["lastTransitionTime"] = known["lastTransitionTime"].clone();
            }
            *known = new;
        }
        None => conditions.push(new),
    }
}

fn versions(definition: &Value) -> impl Iterator<Item = &Value> {
    definition["spec"]["versions"].as_array().into_iter().flatten()
}

fn text<'o>(object: &'o Value, pointer: &str) -> &'o str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn resource(definition: &Value) -> Resource {
    Resource {
        group: text(definition, "/spec/group").to_owned(),
        plural: text(definition, "/spec/names/plural").to_owned(),
    }
}

/// What is wrong with a definition; `old` is what it was before an update.
pub(super) fn wrong_definition(
    discovery: &Discovery,
    warnings: &mut Vec<String>,
    definition: &Value,
    old: Option<&Value>,
) -> Result<Vec<Cause>, Failure> {
    let mut causes = Vec::new();
    let Resource { group, plural } = resource(definition);
    let name = text(definition, "/metadata/name");
    if old.is_none() && name != format!("{plural}.{group}") {
        let message = format!("Invalid value: {name:?}: must be spec.names.plural+\".\"+spec.group");
        causes.push(("FieldValueInvalid".to_owned(), "metadata.name".to_owned(), message));
    }
    causes.extend(crd::check(definition, old));
    if !causes.is_empty() {
        return Ok(causes);
    }
    let unchecked = crd::unchecked(definition);
    if let (Some(part), false) = (unchecked.first(), discovery.is_lenient()) {
        return Err(Failure::not_modelled(part));
    }
    let kind = text(definition, "/spec/names/kind");
    let taken = discovery.iter().any(|other| {
        other.group == group && other.plural != plural && (other.kind == kind || other.singular == plural)
    });
    if taken || discovery.has_builtin_group(&group) {
        return Err(Failure::not_modelled(format_args!(
            "a definition of names that another kind has ({kind} in {group})"
        )));
    }
    warnings.extend(crd::warnings(definition, old));
    if !unchecked.is_empty() {
        warnings.push(format!("the in-process server does not do this: {}", unchecked.join(", ")));
    }
    Ok(causes)
}

fn schema_of(definition: &Value, version: &Value) -> Schema {
    let kind = GroupVersionKind::gvk(
        text(definition, "/spec/group"),
        text(version, "/name"),
        text(definition, "/spec/names/kind"),
    );
    Schema::custom(kind, &version["subresources"], &version["schema"]["openAPIV3Schema"])
}

/// Does what a changed definition requires.
pub(super) fn sync_definition(api: &mut ApiServer, path: &Path) {
    let Some(definition) = api.store.get(&definitions(), path).cloned() else {
        let (plural, group) = path.name().split_once('.').unwrap_or((path.name(), ""));
        api.discovery.withdraw(&Resource::new(group, plural));
        return;
    };
    serve(&mut api.discovery, &definition);
    if is_deleting(&definition) {
        return end_definition(api, path, &definition);
    }
    let mut changed = Value::clone(&definition);
    changed["status"]["acceptedNames"] = definition["spec"]["names"].clone();
    let now = api.now;
    set_condition(&mut changed, "NamesAccepted", ("True", "NoConflicts", "no conflicts found"), now);
    let message = "the initial names have been accepted";
    set_condition(&mut changed, "Established", ("True", "InitialNamesAccepted", message), now);
    if let Some((status, reason, message)) = crd::approval(&definition) {
        let condition = (status, reason, message.as_str());
        set_condition(&mut changed, "KubernetesAPIApprovalPolicyConformant", condition, now);
    }
    if let Some(kind) = api.discovery.of_resource(&definitions()).cloned() {
        write_own(api, &kind, path, Endpoint::Status, MANAGER, changed).ok();
    }
}

/// Serves the versions of a definition, unless exactly those are served already.
fn serve(discovery: &mut Discovery, definition: &Arc<Value>) {
    let Resource { group, plural } = resource(definition);
    let storage = versions(definition).find(|version| version["storage"] == true);
    let storage = storage.map(|version| text(version, "/name").to_owned()).unwrap_or_default();
    let generation = definition["metadata"]["generation"].as_i64().unwrap_or_default();
    let known = discovery.of_resource(&Resource::new(&group, &plural));
    if known.is_some_and(|known| known.definition == generation) {
        return;
    }
    discovery.withdraw(&Resource::new(&group, &plural));
    let names = &definition["spec"]["names"];
    let schemas = versions(definition);
    let schemas: Arc<BTreeMap<String, Schema>> = Arc::new(
        schemas.map(|version| (text(version, "/name").to_owned(), schema_of(definition, version))).collect(),
    );
    for version in versions(definition).filter(|version| version["served"] == true) {
        let name = text(version, "/name").to_owned();
        let schema = schemas.get(&name).cloned();
        let selectable = version["selectableFields"].as_array().into_iter().flatten();
        let short_names = names["shortNames"].as_array().into_iter().flatten();
        discovery.serve(Kind {
            group: group.clone(),
            plural: plural.clone(),
            singular: text(names, "/singular").to_owned(),
            kind: text(names, "/kind").to_owned(),
            list_kind: text(names, "/listKind").to_owned(),
            short_names: short_names.filter_map(Value::as_str).map(str::to_owned).collect(),
            namespaced: text(definition, "/spec/scope") == "Namespaced",
            status: !version["subresources"]["status"].is_null(),
            scale: Scale::of(&version["subresources"]),
            selectable: selectable
                .map(|field| text(field, "/jsonPath").trim_start_matches('.').to_owned())
                .collect(),
            behaviour: Behaviour { custom: true, ..Behaviour::default() },
            // What was stored by an earlier form of the definition is read by this one, and so is what was written in
            // another version, without the defaults of the storage's.
            rereads: generation > 1 || schemas.len() > 1,
            version: name,
            storage_version: storage.clone(),
            definition: generation,
            schema: OnceLock::from(schema),
            versions: Arc::clone(&schemas),
        });
    }
}

/// Deletes the objects of a definition that is being deleted, and then itself.
fn end_definition(api: &mut ApiServer, path: &Path, definition: &Arc<Value>) {
    let resource = resource(definition);
    let kind = api.discovery.of_resource(&resource).cloned();
    if let Some(kind) = &kind {
        let objects: Vec<Path> = api.store.list(&resource, None).map(|(path, _)| path.clone()).collect();
        for object in &objects {
            delete_own(api, kind, object, How::Background).ok();
        }
    }
    if api.store.list(&resource, None).next().is_some() {
        return;
    }
    api.discovery.withdraw(&resource);
    if let Some(kind) = api.discovery.of_resource(&definitions()).cloned() {
        remove(api, &kind, path);
    }
}

/// The definition of a custom kind, if it has one.
pub(super) fn definition<'s>(store: &'s Store, kind: &Kind) -> Option<&'s Value> {
    let definition = store.get(&definitions(), &definition_of(&kind.resource()));
    definition.filter(|_| kind.is_custom()).map(|definition| &**definition)
}

/// Where the definition is that a custom object belongs to.
pub(super) fn definition_of(resource: &Resource) -> Path {
    Path::new(None, &format!("{}.{}", resource.plural, resource.group))
}
