//! PUT, and other changes of existing objects.

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::{
    Options, Target, body,
    create::{create_object, put, wrong},
    delete::remove,
    endpoint, finalizers, is_deleting, meta,
    metadata::{self, OF_PATCH, tell_doubled_owners},
    strict::check_fields,
};
use crate::in_process::{
    admission::{add_to_change, admit_change},
    api::{ApiServer, Reply},
    definitions::{GROUP, KIND, note_storage},
    failure::Failure,
    fields::{self, Endpoint},
    kinds::Kind,
    read::{self, show},
    request::Request,
    store::Path,
    values,
};

/// PUT of an object or its status.
pub(in crate::in_process) fn replace(
    api: &mut ApiServer,
    request: &Request,
    kind: &Arc<Kind>,
    path: &Path,
) -> Result<Reply, Failure> {
    let options = Options::new(request, "UpdateOptions")?;
    let mut object = body(request, kind)?;
    check_fields(&mut api.warnings, kind, options, &object, Some(&request.body))?;
    metadata::check_name(&object, path.name())?;
    metadata::place(&mut object, path.namespace())?;
    let target = Target { kind, path, endpoint: endpoint(request), manager: request.manager(), options };
    tell_doubled_owners(&mut api.warnings, &mut object, "");
    let live = match read::live(&api.store, kind, path) {
        Ok(live) => Some(live),
        Err(_) if kind.behaviour.put_creates && target.endpoint == Endpoint::Main => None,
        Err(absent) => return Err(absent),
    };
    check_uid(kind, path, &object, live.as_deref(), options.dry_run)?;
    let Some(live) = live else {
        let object = create_object(api, &target, object)?;
        return show(request, kind, &object).map(|shown| Reply::Json(StatusCode::CREATED, shown));
    };
    let versioned = kind.is_custom() || matches!(kind.plural.as_str(), "leases" | "poddisruptionbudgets");
    if versioned && meta(&object, "resourceVersion").is_empty() {
        let message = "Invalid value: 0: must be specified for an update".to_owned();
        let cause = ("FieldValueInvalid".to_owned(), "metadata.resourceVersion".to_owned(), message);
        return Err(Failure::invalid_resource(kind, path.name(), &[cause]));
    }
    let object = update_object(api, &target, &live, object)?;
    show(request, kind, &object).map(Reply::ok)
}

/// Changes an object to the complete state that a request contains.
pub(super) fn update_object(
    api: &mut ApiServer,
    target: &Target<'_>,
    live: &Arc<Value>,
    object: Value,
) -> Result<Arc<Value>, Failure> {
    check_version(target, live, &object)?;
    let object = fields::change(&target.fields(api.now)?, Some(live), object);
    finish_update(api, target, live, object.map_err(Failure::of_fields)?)
}

/// Stores a changed object that has its managed fields already.
pub(super) fn finish_update(
    api: &mut ApiServer,
    target: &Target<'_>,
    live: &Arc<Value>,
    mut object: Value,
) -> Result<Arc<Value>, Failure> {
    let kind = target.kind;
    if target.options.warns {
        tell_doubled_owners(&mut api.warnings, &mut object, OF_PATCH);
    }
    api.rights.may_grant(&api.store, kind, target.path, Some(live), &object)?;
    check_version(target, live, &object)?;
    add_to_change(kind, target.endpoint, &mut object);
    // Addresses are allocated before anything else is looked at.
    if kind.group.is_empty() && kind.kind == "Service" && target.endpoint == Endpoint::Main {
        api.addresses.allocate(&api.store, kind, &mut object, Some(live), target.options.dry_run)?;
    }
    let fixed = metadata::keep(live, &mut object);
    let mut causes = values::metadata::of_changed(kind, &object, &fixed);
    if target.endpoint != Endpoint::Status {
        causes.extend(wrong(&api.discovery, &mut api.warnings, kind, &object, Some(live))?);
    }
    let (mut causes, let_be) = kind.schema()?.wrong(&object, Some(live), target.endpoint, causes);
    causes.extend(values::of_changed(kind, target.endpoint, &object, live));
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, target.name(), &causes));
    }
    if target.options.warns {
        api.warnings.extend(let_be);
        let counts = || kind.schema().is_ok_and(|schema| schema.changes_generation(live, &object));
        api.warnings.extend(values::warnings::of_changed(kind, target.endpoint, &object, live, counts));
    }
    admit_change(api, kind, target.path, (live, &object), target.endpoint, target.options.dry_run)?;
    object["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    if kind.is_namespace() && target.endpoint == Endpoint::Main {
        object["spec"]["finalizers"] = live["spec"]["finalizers"].clone();
    }
    let schema = kind.schema()?;
    match live["metadata"]["generation"].as_i64() {
        Some(generation) => {
            let changed = target.endpoint != Endpoint::Status && schema.changes_generation(live, &object);
            object["metadata"]["generation"] = (generation + i64::from(changed)).into();
        }
        None => drop(object["metadata"].as_object_mut().and_then(|metadata| metadata.remove("generation"))),
    }
    // A Pod that still has time until its end isn't over because somebody writes to it.
    let is_over = live["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or_default() == 0;
    let ends = is_deleting(live) && is_over && finalizers(&object).is_empty() && !is_held(kind, &object);
    if ends {
        if !target.options.dry_run {
            remove(api, kind, target.path);
        }
        return Ok(Arc::new(object));
    }
    if kind.group == GROUP && kind.kind == KIND && target.endpoint == Endpoint::Main {
        note_storage(&mut object);
    }
    if kind.group.is_empty() && kind.kind == "PersistentVolume" && target.endpoint == Endpoint::Status {
        metadata::note_phase(api.now, live, &mut object);
    }
    if fields::is_same(live, &object) {
        let stored = api.store.get(&kind.resource(), target.path);
        if target.options.dry_run || !kind.is_outdated(live, stored) {
            return Ok(Arc::clone(live));
        }
        object = Value::clone(live);
    }
    let object = schema.settled(object);
    if target.options.dry_run {
        return Ok(kind.as_if_stored(object));
    }
    Ok(put(api, kind, target.path, object))
}

/// Whether something other than finalizers keeps an object that is being deleted.
pub(super) fn is_held(kind: &Kind, object: &Value) -> bool {
    kind.is_namespace()
        && object["spec"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
}

/// Refuses a write of another object than the live one. Where there is nothing, its uid is empty: who has known the
/// object doesn't create it anew.
pub(super) fn check_uid(
    kind: &Kind,
    path: &Path,
    object: &Value,
    live: Option<&Value>,
    dry_run: bool,
) -> Result<(), Failure> {
    let (uid, known) = (meta(object, "uid"), live.map(|live| meta(live, "uid")).unwrap_or_default());
    if uid.is_empty() || uid == known {
        return Ok(());
    }
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: \
         UID in precondition: {uid}, UID in object meta: {known}",
        key(kind, path, dry_run)
    );
    Err(Failure::conflict(kind, path.name(), &why))
}

/// Refuses a write that is based on another version than the live one.
pub(super) fn check_version(target: &Target<'_>, live: &Value, object: &Value) -> Result<(), Failure> {
    match meta(object, "resourceVersion") {
        "" => Ok(()),
        // Of Kubernetes' kinds, that is no version, too.
        "0" if !target.kind.is_custom() => Ok(()),
        version if version == meta(live, "resourceVersion") => Ok(()),
        version => Err(match version.parse::<u64>() {
            Ok(_) => Failure::outdated(target.kind, target.name()),
            Err(_) => Failure::internal(format!("strconv.ParseUint: parsing \"{version}\": invalid syntax")),
        }),
    }
}

/// The key of an object in the real server's storage, which a dry run names without what all keys begin with.
fn key(kind: &Kind, path: &Path, dry_run: bool) -> String {
    let begin = if dry_run { "" } else { "/registry" };
    // Only what the server for extensions keeps has its group in its key.
    let is_extension = kind.is_custom() || kind.group == "apiextensions.k8s.io";
    let group = if is_extension { format!("/{}", kind.group) } else { String::new() };
    let plural = match kind.plural.as_str() {
        "services" => "services/specs",
        "ingresses" if !is_extension => "ingress",
        other => other,
    };
    format!("{begin}{group}/{plural}/{}", path.as_str().trim_start_matches('/'))
}
