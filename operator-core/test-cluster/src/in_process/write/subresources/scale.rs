//! The scale of a workload or a custom object: its replicas, as an object of its own.

use std::sync::{Arc, LazyLock};

use http::Method;
use serde_json::{Value, json};

use super::{selector, virtual_kind};
use crate::in_process::{
    api::{ApiServer, Reply},
    failure::Failure,
    fields::{self, Endpoint, scale as owners, scale_integer, scale_names, scale_text},
    kinds::Kind,
    read::{self, show},
    request::Request,
    store::Path,
    write::{
        Options, Target, body, json_patch, metadata, patch,
        strict::check_fields,
        update::{check_uid, check_version, finish_update},
        yaml,
    },
};

static SCALE: LazyLock<Arc<Kind>> = LazyLock::new(|| virtual_kind("autoscaling", "v1", "scales", "Scale"));

pub(super) fn scale(
    api: &mut ApiServer,
    request: &Request,
    kind: &Arc<Kind>,
    path: &Path,
) -> Result<Reply, Failure> {
    let shown = match request.method {
        Method::GET => existing(kind, &*read::live(&api.store, kind, path)?)?,
        Method::PUT => replace_scale(api, request, kind, path)?,
        Method::PATCH => patch_scale(api, request, kind, path)?,
        _ => return Err(Failure::method()),
    };
    show(request, &SCALE, &shown).map(Reply::ok)
}

fn replace_scale(
    api: &mut ApiServer,
    request: &Request,
    kind: &Arc<Kind>,
    path: &Path,
) -> Result<Value, Failure> {
    let options = Options::new(request, "UpdateOptions")?;
    let mut body = body(request, &SCALE)?;
    metadata::check_name(&body, path.name())?;
    metadata::place(&mut body, path.namespace())?;
    let live = read::live(&api.store, kind, path)?;
    check_uid(kind, path, &body, Some(&live), options.dry_run)?;
    let target = of_scale(path, request.manager(), options);
    check_fields(&mut api.warnings, &SCALE, options, &body, Some(&request.body))?;
    let scale = fields::change(&target.fields(api.now)?, Some(&with_owners(kind, &live)?), body);
    let scale = scale.map_err(Failure::of_fields)?;
    store_scale(api, kind, path, target, &live, &scale)
}

fn patch_scale(
    api: &mut ApiServer,
    request: &Request,
    kind: &Arc<Kind>,
    path: &Path,
) -> Result<Value, Failure> {
    let applies = request.content_type == "application/apply-patch+yaml";
    let change = match request.content_type.as_str() {
        "application/json-patch+json" => json_patch::apply,
        // Nothing in a scale is merged by anything but its name.
        _ if applies => patch::merge,
        "application/merge-patch+json" | "application/strategic-merge-patch+json" => patch::merge,
        _ => {
            return Err(
                Failure::new(415, "UnsupportedMediaType", "415: Unsupported Media Type").with(json!({}))
            );
        }
    };
    let options = Options::new(request, "PatchOptions")?;
    let live = read::live(&api.store, kind, path)?;
    let scale = with_owners(kind, &live)?;
    if applies {
        let Some(manager) = request.query.get("fieldManager") else {
            let message = "Required value: is required for apply patch";
            return Err(Failure::option("PatchOptions", "fieldManager", "FieldValueRequired", message));
        };
        let applied = yaml(&request.body)
            .map_err(|error| Failure::bad_request(format!("error decoding YAML: {error}")))?;
        let target = of_scale(path, manager.to_owned(), options);
        let force = request.query.is_true("force");
        let new = fields::apply(&target.fields(api.now)?, Some(&scale), &applied, force);
        let new = new.map_err(Failure::of_fields)?;
        return store_scale(api, kind, path, target, &live, &new);
    }
    let mut body = change(&scale, &request.body)?;
    metadata::check_name(&body, path.name())?;
    metadata::place(&mut body, path.namespace())?;
    let target = of_scale(path, request.manager(), options);
    let new = fields::change(&target.fields(api.now)?, Some(&scale), body);
    let new = new.map_err(|refusal| Failure::of_fields(refusal).of_patch())?;
    store_scale(api, kind, path, target, &live, &new)
}

/// Gives the replicas and their owners back to the workload.
fn store_scale(
    api: &mut ApiServer,
    kind: &Arc<Kind>,
    path: &Path,
    target: Target<'_>,
    live: &Arc<Value>,
    scale: &Value,
) -> Result<Value, Failure> {
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or_default();
    if let Some(of) = kind.scale.as_ref().filter(|_| replicas == UNSET) {
        let message = format!("the spec replicas field {:?} cannot be empty", of.spec);
        return Err(Failure::bad_request(message));
    }
    // Those of a custom object are checked with it.
    if replicas < 0 && kind.scale.is_none() {
        let message = format!("Invalid value: {replicas}: must be greater than or equal to 0");
        let cause = ("FieldValueInvalid".to_owned(), "spec.replicas".to_owned(), message);
        return Err(Failure::invalid(&SCALE, path.name(), &[cause]));
    }
    let target = Target { kind, ..target };
    check_version(&target, live, scale)?;
    let mut object = Value::clone(live);
    let names = replicas_of(kind);
    let mut at = &mut object;
    for name in &names {
        at = &mut at[*name];
    }
    *at = replicas.into();
    owners::give(&mut object, &kind.api_version(), &names, &scale["metadata"]["managedFields"]);
    let object = finish_update(api, &target, live, object)?;
    scale_of(kind, &object).map(|(scale, _)| scale)
}

fn of_scale<'w>(path: &'w Path, manager: String, options: Options) -> Target<'w> {
    Target { kind: &SCALE, path, endpoint: Endpoint::Other("scale"), manager, options }
}

/// The replicas in a scale of an object that has none.
const UNSET: i64 = -2_147_483_648;

/// Where an object has its replicas.
fn replicas_of(kind: &Kind) -> Vec<&str> {
    kind.scale.as_ref().map_or_else(|| vec!["spec", "replicas"], |of| scale_names(&of.spec))
}

/// The scale of an object, and whether it has replicas at all.
fn scale_of(kind: &Kind, object: &Value) -> Result<(Value, bool), Failure> {
    let (spec, status, selector) = match &kind.scale {
        None => (
            object["spec"]["replicas"].as_i64(),
            object["status"]["replicas"].as_i64(),
            selector::as_text(&object["spec"]["selector"]),
        ),
        Some(of) => {
            let wrong = Failure::internal;
            let selector = of.selector.as_ref().map(|path| scale_text(object, path)).transpose();
            (
                scale_integer(object, &of.spec).map_err(wrong)?,
                scale_integer(object, &of.status).map_err(wrong)?,
                selector.map_err(wrong)?.flatten().unwrap_or_default(),
            )
        }
    };
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": {},
        "status": { "replicas": status.unwrap_or_default() },
    });
    if let Some(replicas) = spec.filter(|replicas| *replicas != 0) {
        scale["spec"]["replicas"] = replicas.into();
    }
    if !selector.is_empty() {
        scale["status"]["selector"] = selector.into();
    }
    Ok((scale, spec.is_some() || kind.scale.is_none()))
}

/// The scale of an object that has replicas.
fn existing(kind: &Kind, object: &Value) -> Result<Value, Failure> {
    match (scale_of(kind, object)?, &kind.scale) {
        ((_, false), Some(of)) => {
            let why = format!("the spec replicas field {:?} does not exist", of.spec);
            let failure = Failure::new(500, "InternalError", format!("Internal error occurred: {why}"));
            Err(failure.with(json!({ "causes": [{ "message": why }] })))
        }
        ((scale, _), _) => Ok(scale),
    }
}

/// The same with those who own the replicas.
fn with_owners(kind: &Kind, object: &Value) -> Result<Value, Failure> {
    let (mut scale, has_replicas) = scale_of(kind, object)?;
    if !has_replicas {
        scale["spec"]["replicas"] = UNSET.into();
    }
    let entries = &object["metadata"]["managedFields"];
    if let Some(entries) = owners::take(entries, &kind.api_version(), &replicas_of(kind)) {
        scale["metadata"]["managedFields"] = entries;
    }
    Ok(scale)
}
