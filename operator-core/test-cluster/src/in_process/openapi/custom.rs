//! The schemas of a custom kind, as the real server publishes them.

use serde_json::{Value, json};

use super::SCHEMAS;
use crate::in_process::kinds::Kind;

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const CONVENTIONS: &str =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/// The name of a custom kind's schema: its group from back to front, version and kind.
pub(super) fn name_of(kind: &Kind) -> String {
    let mut group: Vec<&str> = kind.group.split('.').collect();
    group.reverse();
    format!("{}.{}.{}", group.join("."), kind.version, kind.kind)
}

/// The schemas of the kind and of its list.
pub(super) fn schemas(kind: &Kind, definition: &Value) -> [(String, Value); 2] {
    let versions = definition["spec"]["versions"].as_array();
    let version = versions.into_iter().flatten().find(|version| version["name"] == *kind.version);
    let mut schema = version.map(|version| version["schema"]["openAPIV3Schema"].clone()).unwrap_or_default();
    complete(&mut schema);
    let (name, list) = (name_of(kind), format!("{}List", name_of(kind)));
    schema["properties"]["apiVersion"] = api_version();
    schema["properties"]["kind"] = type_name();
    schema["properties"]["metadata"] = json!({
        "description": format!("Standard object's metadata. More info: {CONVENTIONS}#metadata"),
        "allOf": [{ "$ref": format!("{SCHEMAS}{META}.ObjectMeta") }],
    });
    schema["type"] = "object".into();
    let of_kind =
        |kind_name: &str| json!([{ "group": kind.group, "kind": kind_name, "version": kind.version }]);
    schema["x-kubernetes-group-version-kind"] = of_kind(&kind.kind);
    let list_schema = json!({
        "description": format!("{} is a list of {}", kind.list_kind, kind.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": api_version(),
            "items": {
                "description": format!("List of {}. More info: {CONVENTIONS}", kind.plural),
                "type": "array",
                "items": { "$ref": format!("{SCHEMAS}{name}") },
            },
            "kind": type_name(),
            "metadata": {
                "description": format!("Standard list metadata. More info: {CONVENTIONS}#types-kinds"),
                "allOf": [{ "$ref": format!("{SCHEMAS}{META}.ListMeta") }],
            },
        },
        "x-kubernetes-group-version-kind": of_kind(&kind.list_kind),
    });
    [(name, schema), (list, list_schema)]
}

/// What the server adds to a schema: the forms of what is a number or a text.
fn complete(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true))
                && !fields.contains_key("anyOf")
                && !fields.contains_key("allOf")
            {
                fields.insert("anyOf".to_owned(), json!([{ "type": "integer" }, { "type": "string" }]));
            }
            for (name, value) in fields.iter_mut() {
                if !matches!(name.as_str(), "default" | "enum" | "example") {
                    complete(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(complete),
        _ => {}
    }
}

fn api_version() -> Value {
    json!({
        "description": format!(
            "APIVersion defines the versioned schema of this representation of an object. Servers should convert \
             recognized schemas to the latest internal value, and may reject unrecognized values. More info: \
             {CONVENTIONS}#resources"
        ),
        "type": "string",
    })
}

fn type_name() -> Value {
    json!({
        "description": format!(
            "Kind is a string value representing the REST resource this object represents. Servers may infer this \
             from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: \
             {CONVENTIONS}#types-kinds"
        ),
        "type": "string",
    })
}
