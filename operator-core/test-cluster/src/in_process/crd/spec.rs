//! The spec of a definition.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Found, approval, has, items, schema, text};
use crate::in_process::{
    fields::field_path,
    validate::{wrong_label_1035, wrong_subdomain},
};

pub(super) fn check(definition: &Value, old: Option<&Value>, found: &mut Found) {
    let spec = &definition["spec"];
    let group = text(spec, "group");
    if group.is_empty() {
        found.required("spec.group", "");
    } else if let wrong = wrong_subdomain(group)
        && !wrong.is_empty()
    {
        found.invalid("spec.group", &group.into(), &wrong.join(","));
    } else if !group.contains('.') {
        found.invalid("spec.group", &group.into(), "should be a domain with at least one dot");
    }
    match text(spec, "scope") {
        "" => found.required("spec.scope", ""),
        "Cluster" | "Namespaced" => {}
        other => found.unsupported("spec.scope", &other.into(), &["Cluster", "Namespaced"]),
    }
    versions(spec, found);
    conversion(&spec["conversion"], found);
    if spec["preserveUnknownFields"] == true {
        let why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        found.invalid("spec.preserveUnknownFields", &json!(true), why);
    }
    approval::check(definition, old, found);
    if let Some(old) = old {
        update(definition, old, found);
    }
}

/// A part of a version, and what the real server calls it where it is the same in all of them.
struct Part {
    field: &'static str,
    whole: &'static str,
}

/// In the order in which they are looked at.
const PARTS: [Part; 4] = [
    Part { field: "schema", whole: "validation" },
    Part { field: "subresources", whole: "subresources" },
    Part { field: "additionalPrinterColumns", whole: "additionalPrinterColumns" },
    Part { field: "selectableFields", whole: "selectableFields" },
];

fn versions(spec: &Value, found: &mut Found) {
    let versions: Vec<&Value> = items(spec, "versions").collect();
    let shown = || spec.get("versions").cloned().unwrap_or_else(|| json!([]));
    for (at, version) in versions.iter().enumerate() {
        if !has(&version["schema"], "openAPIV3Schema") {
            found.required(&format!("spec.versions[{at}].schema.openAPIV3Schema"), "");
        }
    }
    // What all versions have in common belongs to the whole.
    let same =
        |part: &Part| versions.windows(2).all(|pair| pair[0].get(part.field) == pair[1].get(part.field));
    let check = |part: &Part, version: &Value, path: &str, found: &mut Found| match part.field {
        "schema" => schema::check(version, path, found),
        "subresources" => scale(&version["subresources"], path, found),
        "additionalPrinterColumns" => columns(version, path, found),
        // They are looked at together with a schema in the same place.
        _ if same(part) != same(&PARTS[0]) => {
            if items(version, "selectableFields").next().is_some() {
                let why = if same(part) {
                    "may only be set when validations.schema is included"
                } else {
                    "may only be set when `version.schema.openAPIV3Schema` is not included"
                };
                found.invalid(path, &"".into(), why);
            }
        }
        _ => selectable(version, path, found),
    };
    let (mut storage, mut names, mut unique) = (0, BTreeSet::new(), true);
    for (at, version) in versions.iter().enumerate() {
        let path = format!("spec.versions[{at}]");
        storage += usize::from(version["storage"] == true);
        unique &= names.insert(text(version, "name"));
        if let Some(why) = wrong_label_1035(text(version, "name")) {
            found.invalid(&format!("{path}.name"), &version["name"], &why);
        }
        deprecation(version, &path, found);
        for part in PARTS.iter().filter(|part| !same(part)) {
            check(part, version, &format!("{path}.{}", part.field), found);
        }
    }
    if !unique {
        found.invalid("spec.versions", &shown(), "must contain unique version names");
    }
    if storage != 1 {
        found.invalid("spec.versions", &shown(), "must have exactly one version marked as storage version");
    }
    let Some(first) = versions.first() else { return self::names(&spec["names"], found) };
    if let Some(why) = wrong_label_1035(text(first, "name")) {
        found.invalid("spec.version", &first["name"], &why);
    }
    self::names(&spec["names"], found);
    for part in PARTS.iter().filter(|part| same(part)) {
        check(part, first, &format!("spec.{}", part.whole), found);
    }
}

fn deprecation(version: &Value, path: &str, found: &mut Found) {
    let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) else { return };
    let path = format!("{path}.deprecationWarning");
    let mut wrong = |why: &str| found.invalid(&path, &warning.into(), why);
    if version["deprecated"] != true {
        return wrong("can only be set for deprecated versions");
    }
    if warning.len() > 256 {
        wrong("must be <= 256 characters long");
    }
    if warning.is_empty() {
        wrong("must not be an empty string");
    }
}

fn names(names: &Value, found: &mut Found) {
    for field in ["plural", "singular", "kind", "listKind"] {
        let path = format!("spec.names.{field}");
        let name = text(names, field);
        if name.is_empty() {
            found.required(&path, "");
            continue;
        }
        let is_kind = field.to_lowercase().ends_with("kind");
        let checked = if is_kind { name.to_lowercase() } else { name.to_owned() };
        if let Some(why) = wrong_label_1035(&checked) {
            let mixed = if is_kind { "may have mixed case, but should otherwise match: " } else { "" };
            found.invalid(&path, &name.into(), &format!("{mixed}{why}"));
        }
    }
    if text(names, "kind") == text(names, "listKind") && !text(names, "kind").is_empty() {
        found.invalid("spec.names.listKind", &names["listKind"], "kind and listKind may not be the same");
    }
    for field in ["shortNames", "categories"] {
        for (at, name) in items(names, field).enumerate() {
            if let Some(why) = wrong_label_1035(name.as_str().unwrap_or_default()) {
                found.invalid(&format!("spec.names.{field}[{at}]"), name, &why);
            }
        }
    }
}

fn conversion(conversion: &Value, found: &mut Found) {
    match text(conversion, "strategy") {
        "" | "None" if conversion.is_null() || text(conversion, "strategy") == "None" => {
            if has(conversion, "webhook") {
                let why = "should not be set when strategy is not set to Webhook";
                if has(&conversion["webhook"], "clientConfig") {
                    found.forbidden("spec.conversion.webhookClientConfig", why);
                }
                if has(&conversion["webhook"], "conversionReviewVersions") {
                    found.forbidden("spec.conversion.conversionReviewVersions", why);
                }
            }
        }
        "" => found.required("spec.conversion.strategy", ""),
        "Webhook" => {}
        other => found.unsupported("spec.conversion.strategy", &other.into(), &["None", "Webhook"]),
    }
}

fn json_path(path: &str, field: &str, found: &mut Found) -> bool {
    let right = path.starts_with('.');
    if !right {
        found.invalid(field, &path.into(), "must be a simple json path starting with .");
    }
    right
}

fn scale(subresources: &Value, path: &str, found: &mut Found) {
    let Some(scale) = subresources.get("scale").filter(|scale| !scale.is_null()) else { return };
    for (field, below) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let at = format!("{path}.scale.{field}");
        let replicas = text(scale, field);
        if replicas.is_empty() {
            found.required(&at, "");
        } else if json_path(replicas, &at, found) && !replicas.starts_with(below) {
            let below = below.trim_end_matches('.');
            found.invalid(&at, &replicas.into(), &format!("should be a json path under {below}"));
        }
    }
    let selector = text(scale, "labelSelectorPath");
    let at = format!("{path}.scale.labelSelectorPath");
    if !selector.is_empty()
        && json_path(selector, &at, found)
        && ![".spec.", ".status."].iter().any(|below| selector.starts_with(below))
    {
        found.invalid(&at, &selector.into(), "should be a json path under either .spec or .status");
    }
}

fn columns(version: &Value, path: &str, found: &mut Found) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    for (at, column) in items(version, "additionalPrinterColumns").enumerate() {
        let path = format!("{path}[{at}]");
        if text(column, "name").is_empty() {
            found.required(&format!("{path}.name"), "");
        }
        let types = format!("must be one of {}", TYPES.join(","));
        match text(column, "type") {
            "" => found.required(&format!("{path}.type"), &types),
            known if TYPES.contains(&known) => {}
            other => found.invalid(&format!("{path}.type"), &other.into(), &types),
        }
        let format = text(column, "format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            let formats = format!("must be one of {}", FORMATS.join(","));
            found.invalid(&format!("{path}.format"), &format.into(), &formats);
        }
        let json = text(column, "jsonPath");
        if json.is_empty() {
            found.required(&format!("{path}.JSONPath"), "");
        } else {
            json_path(json, &format!("{path}.JSONPath"), found);
        }
    }
}

fn selectable(version: &Value, path: &str, found: &mut Found) {
    let schema = &version["schema"]["openAPIV3Schema"];
    let mut once = BTreeSet::new();
    for (at, field) in items(version, "selectableFields").enumerate() {
        let place = format!("{path}[{at}].jsonPath");
        let json = text(field, "jsonPath");
        if json.is_empty() {
            found.required(&place, "");
            continue;
        }
        let resolved = if json.contains('[') {
            Err("array notation is not allowed".to_owned())
        } else {
            field_path(schema, json)
        };
        let (shown, of) = match resolved {
            Ok(resolved) => resolved,
            Err(why) => {
                found.invalid(&place, &json.into(), &format!("is an invalid path: {why}"));
                continue;
            }
        };
        if shown.split('.').next() == Some("metadata") {
            found.invalid(&place, &json.into(), "must not point to fields in metadata");
        }
        if !matches!(text(of, "type"), "string" | "boolean" | "integer") {
            let why = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                       formats are allowed.";
            found.invalid(&place, &json.into(), why);
        }
        if !once.insert(shown) {
            found.add("Duplicate", &place, format!("Duplicate value: {}", Value::from(json)));
        }
    }
    if once.len() > 8 {
        found.add("TooMany", path, format!("Too many: {}: must have at most 8 items", once.len()));
    }
}

/// Whether the names of a definition were accepted, and it is served.
fn has_established(definition: &Value) -> bool {
    let conditions = definition.pointer("/status/conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Established" && condition["status"] == "True")
}

/// What can't be changed, and what was stored.
fn update(definition: &Value, old: &Value, found: &mut Found) {
    let mut same = |pointer: &str, field: &str| {
        let (new, old) = (definition.pointer(pointer), old.pointer(pointer));
        if new != old {
            found.invalid(field, new.unwrap_or(&Value::Null), "field is immutable");
        }
    };
    if has_established(old) {
        same("/spec/scope", "spec.scope");
        same("/spec/names/kind", "spec.names.kind");
    }
    same("/spec/group", "spec.group");
    same("/spec/names/plural", "spec.names.plural");
    let status = &definition["status"];
    for (at, stored) in items(status, "storedVersions").enumerate() {
        if !items(&definition["spec"], "versions").any(|version| version["name"] == *stored) {
            let name = stored.as_str().unwrap_or_default();
            let why = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
                 until a storage migration ensures no data remains persisted in {name} and removes {name} from \
                 status.storedVersions"
            );
            found.invalid(&format!("status.storedVersions[{at}]"), stored, &why);
        }
    }
}
