//! The paths of a kind's objects.

use serde_json::{Value, json};

use super::{custom, recorded};
use crate::in_process::kinds::Kind;

/// The paths of a kind, with what can be done there; `schemas` is where references lead.
pub(super) fn of(kind: &Kind, schemas: &str) -> Vec<(String, Value)> {
    let root = if kind.group.is_empty() { "/api" } else { "/apis" };
    let root = format!("{root}/{}", kind.api_version());
    let all = format!("{root}/{}", kind.plural);
    let (collection, list) = if kind.namespaced {
        let within = format!("{root}/namespaces/{{namespace}}/{}", kind.plural);
        (within, Some((all, json!({ "get": operation(kind, schemas, "list") }))))
    } else {
        (all, None)
    };
    let item = format!("{collection}/{{name}}");
    let mut paths = vec![
        (
            collection,
            json!({
                "get": operation(kind, schemas, "list"),
                "post": operation(kind, schemas, "post"),
                "delete": operation(kind, schemas, "deletecollection"),
            }),
        ),
        (
            item.clone(),
            json!({
                "get": operation(kind, schemas, "get"),
                "put": operation(kind, schemas, "put"),
                "patch": operation(kind, schemas, "patch"),
                "delete": operation(kind, schemas, "delete"),
            }),
        ),
    ];
    paths.extend(list);
    if kind.status {
        let status = json!({
            "get": operation(kind, schemas, "get"),
            "put": operation(kind, schemas, "put"),
            "patch": operation(kind, schemas, "patch"),
        });
        paths.push((format!("{item}/status"), status));
    }
    paths
}

fn operation(kind: &Kind, schemas: &str, action: &str) -> Value {
    let mut operation = json!({
        "responses": { "200": { "description": "OK" }, "401": { "description": "Unauthorized" } },
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {
            "group": kind.group, "version": kind.version, "kind": kind.kind,
        },
    });
    let of_writes = ["dryRun", "fieldManager", "fieldValidation"];
    let parameters: &[&str] = match action {
        "post" | "put" => &of_writes,
        "patch" => &["dryRun", "fieldManager", "fieldValidation", "force"],
        "delete" | "deletecollection" => &["dryRun"],
        _ => &[],
    };
    if !parameters.is_empty() {
        operation["parameters"] = parameters.iter().map(|name| parameter(name, schemas)).collect();
    }
    let is_v2 = schemas == super::v2::DEFINITIONS;
    let (forms, schema): (&[&str], String) = match action {
        "patch" if kind.is_custom() => {
            (&PATCHES[..3], "io.k8s.apimachinery.pkg.apis.meta.v1.Patch".to_owned())
        }
        "patch" => (&PATCHES, "io.k8s.apimachinery.pkg.apis.meta.v1.Patch".to_owned()),
        "post" | "put" => {
            let name = if kind.is_custom() { Some(custom::name_of(kind)) } else { recorded::name_of(kind) };
            (&["*/*"], name.unwrap_or_default())
        }
        _ => return operation,
    };
    let schema = json!({ "$ref": format!("{schemas}{schema}") });
    if is_v2 {
        operation["consumes"] = json!(forms);
        let body = json!({ "name": "body", "in": "body", "required": true, "schema": schema });
        operation["parameters"].as_array_mut().into_iter().for_each(|all| all.push(body.clone()));
    } else {
        let content: serde_json::Map<_, _> =
            forms.iter().map(|form| ((*form).to_owned(), json!({ "schema": schema }))).collect();
        operation["requestBody"] = json!({ "content": content, "required": true });
    }
    operation
}

/// The forms of patches; custom kinds don't have the last one.
const PATCHES: [&str; 4] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

fn parameter(name: &str, schemas: &str) -> Value {
    let form = if name == "force" { "boolean" } else { "string" };
    if schemas == super::v2::DEFINITIONS {
        return json!({ "name": name, "in": "query", "type": form, "uniqueItems": true });
    }
    json!({ "name": name, "in": "query", "schema": { "type": form, "uniqueItems": true } })
}
