//! POST, and everything else that creates objects.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Options, Target, body, is_deleting, meta,
    metadata::{self, OF_PATCH, tell_doubled_owners},
    strict::check_fields,
};
use crate::in_process::{
    admission::admit_values,
    api::{ApiServer, Reply},
    definitions::{GROUP, KIND, complete_definition, definition_of, definitions, wrong_definition},
    discovery::Discovery,
    failure::{Cause, Failure},
    fields::{self, Endpoint},
    kinds::{Kind, events},
    namespaces::namespaces,
    read::{in_version, show},
    request::Request,
    sizes,
    store::{Path, Store},
    values,
};

/// POST to a collection.
pub(in crate::in_process) fn create(
    api: &mut ApiServer,
    request: &Request,
    kind: &Arc<Kind>,
    namespace: Option<&str>,
) -> Result<Reply, Failure> {
    let options = Options::new(request, "CreateOptions")?;
    let mut object = body(request, kind)?;
    check_fields(&mut api.warnings, kind, options, &object, Some(&request.body))?;
    if !object["metadata"].is_object() && !object["metadata"].is_null() || metadata::has_removed(&object) {
        let read = kind.schema()?.read(object.clone());
        read.map_err(Failure::of_fields)?;
    }
    // A version that is no number is none.
    if meta(&object, "resourceVersion").parse::<u64>().is_ok_and(|version| version > 0) {
        return Err(Failure::internal("resourceVersion should not be set on objects to be created"));
    }
    metadata::place(&mut object, namespace)?;
    if meta(&object, "name").is_empty() && !meta(&object, "generateName").is_empty() {
        let name = format!("{}{}", meta(&object, "generateName"), api.counters.suffix());
        object["metadata"]["name"] = name.into();
    }
    // The only kind whose objects need no name.
    if meta(&object, "name").is_empty() && kind.kind == "LimitRange" {
        object["metadata"]["name"] = api.counters.uid().into();
    }
    tell_doubled_owners(&mut api.warnings, &mut object, "");
    let path = Path::new(namespace, meta(&object, "name"));
    let target = Target { kind, path: &path, endpoint: Endpoint::Main, manager: request.manager(), options };
    let object = create_object(api, &target, object)?;
    show(request, kind, &object).map(|shown| Reply::Json(StatusCode::CREATED, shown))
}

/// Creates an object from a whole body.
pub(super) fn create_object(
    api: &mut ApiServer,
    target: &Target<'_>,
    mut object: Value,
) -> Result<Arc<Value>, Failure> {
    // Where nobody counts generations, one is kept as it came, and so looked at.
    let generation = object["metadata"]["generation"].as_i64().unwrap_or_default();
    if generation < 0 && !target.kind.is_custom() && !target.kind.schema()?.starts_generation() {
        let message = format!("Invalid value: {generation}: must be greater than or equal to 0");
        let cause = ("FieldValueInvalid".to_owned(), "metadata.generation".to_owned(), message);
        return Err(Failure::invalid(target.kind, target.name(), &[cause]));
    }
    metadata::clear_for_creation(&mut object);
    let object = fields::change(&target.fields(api.now)?, None, object);
    finish_creation(api, target, object.map_err(Failure::of_fields)?)
}

/// Stores a new object that has its managed fields already.
pub(super) fn finish_creation(
    api: &mut ApiServer,
    target: &Target<'_>,
    mut object: Value,
) -> Result<Arc<Value>, Failure> {
    let (kind, path) = (target.kind, target.path);
    if target.options.warns {
        tell_doubled_owners(&mut api.warnings, &mut object, OF_PATCH);
    }
    admit_of_definition(&api.store, kind, path)?;
    admit_into_namespace(&api.store, &api.discovery, kind, path)?;
    api.rights.may_grant(&api.store, kind, path, None, &object)?;
    api.admission.admit(&api.store, &mut api.counters, kind, path, &mut object)?;
    metadata::clear_for_creation(&mut object);
    object["metadata"]["name"] = path.name().into();
    if let Some(namespace) = path.namespace() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object["metadata"]["uid"] = api.counters.next_uid().into();
    let schema = kind.schema()?;
    let mut object = schema.identified(object);
    complete(api, kind, &mut object, target.options.dry_run)?;
    let mut causes = values::metadata::of_new(kind, &object);
    causes.extend(wrong(&api.discovery, &mut api.warnings, kind, &object, None)?);
    let (mut causes, _) = schema.wrong(&object, None, Endpoint::Main, causes);
    causes.extend(values::of_new(kind, &object));
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, path.name(), &causes));
    }
    api.rights.may_create(&api.store, kind, path)?;
    if target.options.warns {
        api.warnings.extend(values::warnings::of_new(kind, &object));
    }
    admit_values(api, kind, path, &object, target.options.dry_run)?;
    if let Some(existing) = api.store.get(&kind.resource(), path) {
        return Err(Failure::exists(kind, path.name(), is_deleting(existing)));
    }
    object["metadata"]["uid"] = api.counters.uid().into();
    object["metadata"]["creationTimestamp"] = metadata::time(api.now).into();
    if schema.starts_generation() {
        object["metadata"]["generation"] = 1.into();
    }
    let object = schema.settled(object);
    if target.options.dry_run {
        return Ok(kind.as_if_stored(object));
    }
    Ok(put(api, kind, path, object))
}

/// Stores an object in the version of the storage; returns it in that of `kind`.
pub(in crate::in_process) fn put(
    api: &mut ApiServer,
    kind: &Kind,
    path: &Path,
    mut object: Value,
) -> Arc<Value> {
    if kind.is_new_event() {
        object = events::to_core(&object);
    } else {
        object = kind.stored(object);
    }
    let resource = kind.resource();
    let before = api.store.get(&resource, path).cloned();
    let stored = api.store.put(&resource, path, object);
    api.changed.look_at(resource, path.clone(), before);
    if kind.is_new_event() || kind.version != kind.storage_version {
        return in_version(kind, &stored);
    }
    stored
}

/// Whether a definition still accepts new objects.
fn admit_of_definition(store: &Store, kind: &Kind, path: &Path) -> Result<(), Failure> {
    let definition = store.get(&definitions(), &definition_of(&kind.resource()));
    if kind.is_custom() && definition.is_some_and(|definition| is_deleting(definition)) {
        let why = "create not allowed while custom resource definition is terminating";
        return Err(Failure::forbidden(kind, path.name(), why));
    }
    Ok(())
}

/// Whether a namespace accepts new objects.
fn admit_into_namespace(
    store: &Store,
    discovery: &Discovery,
    kind: &Kind,
    path: &Path,
) -> Result<(), Failure> {
    let Some(namespace) = path.namespace() else { return Ok(()) };
    match store.get(&namespaces(), &Path::new(None, namespace)) {
        None => Err(match discovery.of_resource(&namespaces()) {
            Some(kind) => Failure::not_found(kind, namespace),
            None => Failure::no_resource(),
        }),
        Some(found) if is_deleting(found) => Err(Failure::terminating(kind, path.name(), namespace)),
        Some(_) => Ok(()),
    }
}

/// The fields that the server sets in a new object, and that no manager owns.
fn complete(api: &mut ApiServer, kind: &Kind, object: &mut Value, dry_run: bool) -> Result<(), Failure> {
    match (kind.group.as_str(), kind.kind.as_str()) {
        (GROUP, KIND) => complete_definition(object),
        ("", "PersistentVolume") => {
            object["status"]["lastPhaseTransitionTime"] = metadata::time(api.now).into();
        }
        ("apiregistration.k8s.io", "APIService") if object["spec"]["service"].is_null() => {
            object["status"]["conditions"] = json!([{
                "type": "Available",
                "status": "True",
                "reason": "Local",
                "message": "Local APIServices are always available",
                "lastTransitionTime": metadata::time(api.now),
            }]);
        }
        ("", "Service") => api.addresses.allocate(&api.store, kind, object, None, dry_run)?,
        _ => {}
    }
    Ok(())
}

/// What is wrong with an object of a kind that the server itself uses, or with its size.
pub(super) fn wrong(
    discovery: &Discovery,
    warnings: &mut Vec<String>,
    kind: &Kind,
    object: &Value,
    old: Option<&Value>,
) -> Result<Vec<Cause>, Failure> {
    match (kind.group.as_str(), kind.kind.as_str()) {
        (GROUP, KIND) => wrong_definition(discovery, warnings, object, old),
        _ => Ok(sizes::data(kind, object)?.into_iter().collect()),
    }
}
