//! Objects and kinds that get into the server without a request, as they are.

use std::sync::{Arc, OnceLock};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{
    core::GroupVersionKind,
    discovery::{ApiResource, Scope},
};
use serde_json::{Value, json};

use super::{
    api::ApiServer,
    discovery::Discovery,
    fields::{self, Schema},
    kinds::{Behaviour, Kind, events},
    store::Path,
};
use crate::error::Error;

/// Serves a custom kind without its definition.
pub(super) fn serve(discovery: &mut Discovery, of: &ApiResource, scope: &Scope) {
    let kind = Kind::named(&of.group, &of.version, &of.plural, &of.kind);
    if discovery.of_object(&kind.api_version(), &kind.kind).is_some() {
        return;
    }
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let names = GroupVersionKind::gvk(&of.group, &of.version, &of.kind);
    let schema = Schema::custom(names, &json!({ "status": {} }), &anything);
    discovery.serve(Kind {
        namespaced: *scope == Scope::Namespaced,
        status: true,
        behaviour: Behaviour { custom: true, ..Behaviour::default() },
        schema: OnceLock::from(Some(schema)),
        ..kind
    });
}

/// Stores an object, completed with a uid and a version at most.
pub(super) fn store(api: &mut ApiServer, mut object: Value) -> Result<Arc<Value>, Error> {
    let (kind, path) = place(&api.discovery, &object)?;
    if text(&object["metadata"]["uid"]).is_empty() {
        object["metadata"]["uid"] = api.counters.uid().into();
    }
    let object = if kind.is_new_event() { events::to_core(&object) } else { kind.stored(object) };
    Ok(api.store.put_as_it_is(&kind.resource(), &path, object))
}

/// Adds what only a server sets to an object that `manager` has just applied.
pub(super) fn complete(api: &ApiServer, manager: &str, object: &mut Value) {
    let kind = api.discovery.of_object(text(&object["apiVersion"]), text(&object["kind"]));
    let Some(schema) = kind.and_then(|kind| kind.schema().ok()) else { return };
    let meta = &object["metadata"];
    let (is_old, is_counted, is_noted) = (
        meta["creationTimestamp"].is_string(),
        meta["generation"].is_number(),
        meta["managedFields"].is_array(),
    );
    if !is_noted {
        let write = fields::Write { schema, endpoint: fields::Endpoint::Main, manager, time: api.now };
        object["metadata"]["managedFields"] = fields::applied_as_it_is(&write, object);
    }
    if let Some(filled) = schema.filled(object) {
        *object = filled;
    }
    if !is_old {
        object["metadata"]["creationTimestamp"] = json!(Time(api.now));
    }
    if !is_counted && schema.starts_generation() {
        object["metadata"]["generation"] = 1.into();
    }
}

/// Where an object is to be stored, and as what.
fn place<'k>(discovery: &'k Discovery, object: &Value) -> Result<(&'k Kind, Path), Error> {
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let (name, namespace) = (text(&object["metadata"]["name"]), text(&object["metadata"]["namespace"]));
    let refused = |why| Error::NotStored { what: format!("{api_version} {kind} {name:?}"), why };
    let known = discovery.of_object(api_version, kind);
    let known = known.ok_or_else(|| refused("its kind isn't served"))?;
    match (name, known.namespaced, namespace) {
        ("", ..) => Err(refused("it has no name")),
        (_, true, "") => Err(refused("it has no namespace")),
        (_, false, namespace) if !namespace.is_empty() => {
            Err(refused("it has a namespace, and objects of its kind have none"))
        }
        _ => Ok((known, Path::new(Some(namespace), name))),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
