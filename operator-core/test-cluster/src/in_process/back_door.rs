//! Objects and kinds that get into the server without a request, as they are.

use std::sync::{Arc, OnceLock};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{
    core::GroupVersionKind,
    discovery::{ApiResource, Scope},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    InProcessServer,
    fields::{self, Schema},
    kinds::{Behaviour, Kind, Kinds, events},
    state::State,
    store::{Path, Resource, Store},
};
use crate::error::Error;

impl InProcessServer {
    /// Serves a custom kind without its definition: with a status subresource, and objects of any content. Nothing
    /// changes if the kind is served already.
    ///
    /// A definition of the kind that is created later takes its place.
    pub fn serve(&self, kind: &ApiResource, scope: &Scope) {
        self.shared.with(|state| serve(&mut state.kinds, kind, *scope == Scope::Namespaced));
    }

    /// Stores an object as it is: it isn't validated, admitted or completed, it may have a status, managed fields and
    /// a time of deletion, and no controller looks at it. It replaces an object of the same name. Watches see it.
    ///
    /// A missing uid or `resourceVersion` is added. Later changes get greater versions than the object has. Returns the
    /// object as it is stored.
    ///
    /// # Errors
    /// If the object can't be written as JSON, its kind isn't served, or its name or namespace is missing.
    pub fn store(&self, object: &impl Serialize) -> Result<Arc<Value>, Error> {
        let what = || "an object for the in-process server".to_owned();
        let mut object =
            serde_json::to_value(object).map_err(|source| Error::Json { what: what(), source })?;
        self.shared.with(|state| {
            if text(&object["metadata"]["uid"]).is_empty() {
                object["metadata"]["uid"] = state.counters.uid().into();
            }
            store(&mut state.store, &state.kinds, object)
        })
    }

    /// The same for an object that `manager` has just applied: what only a server sets is added where it is missing,
    /// which is its time of creation, its generation and managed fields.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn store_as(&self, manager: &str, object: &impl Serialize) -> Result<Arc<Value>, Error> {
        let what = || "an object for the in-process server".to_owned();
        let mut object =
            serde_json::to_value(object).map_err(|source| Error::Json { what: what(), source })?;
        self.shared.with(|state| complete(state, manager, &mut object));
        self.store(&object)
    }

    /// Takes an object out of the store, whatever its finalizers, and returns it; `None` if there is none. Watches see it
    /// go.
    pub fn take(&self, group: &str, plural: &str, namespace: Option<&str>, name: &str) -> Option<Arc<Value>> {
        let resource = Resource { group: group.to_owned(), plural: plural.to_owned() };
        self.shared.with(|state| state.store.remove(&resource, &Path::new(namespace, name)))
    }

    /// Stops serving all versions of a kind.
    pub fn withdraw(&self, kind: &ApiResource) {
        let resource = Resource { group: kind.group.clone(), plural: kind.plural.clone() };
        self.shared.with(|state| state.kinds.withdraw(&resource));
    }
}

fn complete(state: &State, manager: &str, object: &mut Value) {
    let kind = state.kinds.of_object(text(&object["apiVersion"]), text(&object["kind"]));
    let Some(schema) = kind.and_then(|kind| kind.schema().ok()) else { return };
    let meta = &object["metadata"];
    let (is_old, is_counted, is_noted) = (
        meta["creationTimestamp"].is_string(),
        meta["generation"].is_number(),
        meta["managedFields"].is_array(),
    );
    if !is_noted {
        let write = fields::Write { schema, endpoint: fields::Endpoint::Main, manager, time: state.now };
        object["metadata"]["managedFields"] = fields::applied_as_it_is(&write, object);
    }
    if !is_old {
        object["metadata"]["creationTimestamp"] = json!(Time(state.now));
    }
    if !is_counted && schema.starts_generation() {
        object["metadata"]["generation"] = 1.into();
    }
}

fn serve(kinds: &mut Kinds, of: &ApiResource, namespaced: bool) {
    let kind = Kind::named(&of.group, &of.version, &of.plural, &of.kind);
    if kinds.of_object(&kind.api_version(), &kind.kind).is_some() {
        return;
    }
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let names = GroupVersionKind::gvk(&of.group, &of.version, &of.kind);
    let schema = Schema::custom(names, &json!({ "status": {} }), &anything);
    kinds.serve(Kind {
        namespaced,
        status: true,
        behaviour: Behaviour { custom: true, ..Behaviour::default() },
        schema: OnceLock::from(Some(schema)),
        ..kind
    });
}

fn store(store: &mut Store, kinds: &Kinds, object: Value) -> Result<Arc<Value>, Error> {
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let (name, namespace) = (text(&object["metadata"]["name"]), text(&object["metadata"]["namespace"]));
    let refused =
        |why: &'static str| Error::NotStored { what: format!("{api_version} {kind} {name:?}"), why };
    let Some(kind) = kinds.of_object(api_version, kind) else {
        return Err(refused("its kind isn't served"));
    };
    if name.is_empty() {
        return Err(refused("it has no name"));
    }
    if kind.namespaced == namespace.is_empty() {
        return Err(refused(match kind.namespaced {
            true => "it has no namespace",
            false => "it has a namespace, and objects of its kind have none",
        }));
    }
    let path = Path::new(Some(namespace), name);
    let object = if kind.is_new_event() { events::to_core(&object) } else { kind.stored(object) };
    Ok(store.put_as_it_is(&kind.resource(), &path, object))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
