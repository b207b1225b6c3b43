//! What fields kinds have, for `kubectl explain` and for clients that validate: `/openapi/v2` and `/openapi/v3`.
//!
//! ```text
//!  recorded (Kubernetes' kinds) ─┐
//!                                ├─▶ schemas of a group's version ─▶ a document of v3; all of them ─▶ the one of v2
//!  definitions (custom kinds) ───┘
//! ```
//!
//! # Guarantees
//! - Schemas are those of the recorded server. Of the paths, a document has those of the objects, with what clients look
//!   for: the kind, the parameters of writes, the forms of patches.
//! - The recording is unpacked when it is first asked for.

mod custom;
mod paths;
mod recorded;
#[cfg(test)]
mod tests;
mod v2;

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::{Map, Value, json};

use super::{
    api::Reply, definitions::definition, discovery::Discovery, failure::Failure, kinds::Kind, store::Store,
};

/// Where references lead.
const SCHEMAS: &str = "#/components/schemas/";

/// Answers a request for a path below `/openapi`.
pub(super) fn openapi(store: &Store, discovery: &Discovery, path: &str) -> Result<Reply, Failure> {
    match path.split_once('/').unwrap_or((path, "")) {
        ("v2", "") => Ok(Reply::value(&openapi_v2(store, discovery))),
        ("v3", "") => Ok(Reply::value(&openapi_index(store, discovery))),
        ("v3", document) => match openapi_v3(store, discovery, document) {
            Some(document) => Ok(Reply::value(&document)),
            None => Err(Failure::Page),
        },
        _ => Err(Failure::Page),
    }
}

/// The documents, by their path. Clients keep a document for as long as it has the same hash.
fn openapi_index(store: &Store, discovery: &Discovery) -> Value {
    let mut hashes = BTreeMap::<String, DefaultHasher>::new();
    for kind in discovery.iter() {
        let hash = hashes.entry(document_of(kind)).or_default();
        (&kind.plural, kind.definition).hash(hash);
        if let Some(definition) = definition(store, kind) {
            definition["metadata"]["uid"].as_str().hash(hash);
        }
    }
    let paths = hashes.into_iter().map(|(path, hash)| {
        let address = format!("/openapi/v3/{path}?hash={:016X}", hash.finish());
        (path, json!({ "serverRelativeURL": address }))
    });
    json!({ "paths": paths.collect::<Map<_, _>>() })
}

fn openapi_v3(store: &Store, discovery: &Discovery, document: &str) -> Option<Value> {
    let kinds: Vec<&Kind> =
        discovery.iter().filter(|kind| document_of(kind) == document).map(|kind| &**kind).collect();
    let is_custom = kinds.first()?.is_custom();
    let info = if is_custom {
        json!({ "title": "Kubernetes CRD Swagger", "version": "v0.1.0" })
    } else {
        json!({ "title": "Kubernetes", "version": "1.36" })
    };
    let paths = kinds.iter().flat_map(|kind| paths::of(kind, SCHEMAS)).collect::<Map<_, _>>();
    let schemas = schemas(store, &kinds);
    Some(json!({ "openapi": "3.0.0", "info": info, "paths": paths, "components": { "schemas": schemas } }))
}

fn openapi_v2(store: &Store, discovery: &Discovery) -> Value {
    let kinds: Vec<&Kind> = discovery.iter().map(|kind| &**kind).collect();
    let paths = kinds.iter().flat_map(|kind| paths::of(kind, v2::DEFINITIONS)).collect::<Map<_, _>>();
    v2::document(&paths, schemas(store, &kinds))
}

/// The schemas of some kinds, and all that they refer to.
fn schemas(store: &Store, kinds: &[&Kind]) -> Map<String, Value> {
    let mut found = Map::new();
    let mut wanted = BTreeSet::new();
    for kind in kinds {
        match definition(store, kind) {
            Some(definition) if kind.is_custom() => {
                for (name, schema) in custom::schemas(kind, definition) {
                    references(&schema, &mut wanted);
                    found.insert(name, schema);
                }
            }
            _ => {
                let name = recorded::name_of(kind);
                wanted.extend(name.iter().map(|name| format!("{name}List")));
                wanted.extend(name);
            }
        }
    }
    wanted.insert("io.k8s.apimachinery.pkg.apis.meta.v1.Patch".to_owned());
    while let Some(name) = wanted.pop_first() {
        if let Some(schema) = recorded::schema(&name).filter(|_| !found.contains_key(&name)) {
            references(schema, &mut wanted);
            found.insert(name, schema.clone());
        }
    }
    found
}

/// The path of the document with a kind.
fn document_of(kind: &Kind) -> String {
    let folder = if kind.group.is_empty() { "api" } else { "apis" };
    format!("{folder}/{}", kind.api_version())
}

/// The names of the schemas that a schema refers to.
fn references(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(SCHEMAS));
            found.extend(name.map(str::to_owned));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
