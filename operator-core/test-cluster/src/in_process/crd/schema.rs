//! The schema of a version.

use serde_json::{Value, json};

use super::{Found, defaults, fields, flag, has, items, rules, structural, text};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Checks the schema of a version.
pub(super) fn check(version: &Value, path: &str, found: &mut Found) {
    let schema = &version["schema"]["openAPIV3Schema"];
    if !schema.is_object() {
        return;
    }
    let path = format!("{path}.openAPIV3Schema");
    let mut own = Found::default();
    if has(&version["subresources"], "status") {
        at_root(schema, &path, &mut own);
    }
    if flag(schema, "nullable") {
        own.forbidden(&format!("{path}.nullable"), "nullable cannot be true at the root");
    }
    let structure = structural::check(schema, &path);
    let mut usable = structure.is_empty();
    own.causes.extend(structure.causes);
    if usable {
        let wrong = defaults::check(schema, &path);
        usable = wrong.is_empty();
        own.causes.extend(wrong.causes);
    }
    let mut checked = Checked::default();
    node(schema, &path, &At { is_root: true, has_rules: usable, ..At::default() }, &mut checked);
    own.causes.extend(checked.schema.causes);
    own.causes.extend(checked.rules.causes);
    found.causes.extend(own.causes);
}

/// Mistakes of schemas and of rules: rules are only looked at where there are none of the first.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) schema: Found,
    pub(super) rules: Found,
}

/// What is known where a schema is.
#[derive(Clone, Default)]
pub(super) struct At {
    inside_meta: bool,
    /// Why there may be no defaults.
    defaults: Option<String>,
    /// The path from which on old values can't be found.
    pub(super) uncorrelated: Option<String>,
    pub(super) is_root: bool,
    /// Whether rules count here.
    has_rules: bool,
}

impl At {
    fn below(&self) -> Self {
        Self { is_root: false, ..self.clone() }
    }

    /// Alternatives have no rules.
    fn alternative(&self) -> Self {
        Self { has_rules: false, ..self.below() }
    }

    fn uncorrelated(mut self, path: &str) -> Self {
        self.uncorrelated.get_or_insert_with(|| path.to_owned());
        self
    }
}

/// The words that may stand at the root beside a status.
fn at_root(schema: &Value, path: &str, found: &mut Found) {
    const ALLOWED: [&str; 22] = [
        "description",
        "type",
        "format",
        "title",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "required",
        "items",
        "properties",
        "externalDocs",
        "example",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ];
    const SHOWN: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength \
                         MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties \
                         ExternalDocs Example XPreserveUnknownFields XValidations]";
    let of = text(schema, "type");
    if !of.is_empty() && of != "object" {
        let why = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        return found.invalid(&format!("{path}.type"), &of.into(), why);
    }
    let words = schema.as_object().into_iter().flatten();
    let other = words
        .filter(|(_, value)| !value.is_null() && **value != json!(false))
        .any(|(word, _)| !ALLOWED.contains(&word.as_str()));
    if other {
        let why = format!(
            "only {SHOWN} fields are allowed at the root of the schema if the status subresource is enabled"
        );
        found.invalid(path, schema, &why);
    }
}

fn node(schema: &Value, path: &str, at: &At, checked: &mut Checked) {
    if !schema.is_object() {
        return;
    }
    let before = checked.schema.causes.len();
    words(schema, path, at, &mut checked.schema);
    let others = schema.get("additionalProperties").filter(|others| others.is_object());
    if let Some(others) = others {
        if fields(schema, "properties").next().is_some() {
            let why = "additionalProperties and properties are mutual exclusive";
            checked.schema.forbidden(&format!("{path}.additionalProperties"), why);
        }
        let mut below = at.below();
        if at.inside_meta {
            below.defaults = Some("inside additionalProperties applying to object metadata".to_owned());
        }
        node(others, &format!("{path}.additionalProperties"), &below, checked);
    }
    let map_type = text(schema, "x-kubernetes-map-type");
    for (name, property) in fields(schema, "properties") {
        let mut below = at.below();
        if !matches!(map_type, "" | "granular" | "atomic") {
            below = below.uncorrelated(path);
        }
        let is_meta = matches!(name.as_str(), "metadata" | "kind" | "apiVersion");
        if is_meta && (at.is_root || flag(schema, "x-kubernetes-embedded-resource")) {
            below.inside_meta = true;
            if at.is_root {
                below.defaults = Some(format!("in top-level {name}"));
            }
        }
        node(property, &format!("{path}.properties[{name}]"), &below, checked);
    }
    if has(schema, "not") {
        node(&schema["not"], &format!("{path}.not"), &at.alternative(), checked);
    }
    for word in ["allOf", "oneOf", "anyOf"] {
        for (index, alternative) in items(schema, word).enumerate() {
            node(alternative, &format!("{path}.{word}[{index}]"), &at.alternative(), checked);
        }
    }
    if let Some(of) = schema.get("items") {
        let mut below = at.below();
        if text(schema, "x-kubernetes-list-type") != "map" {
            below = below.uncorrelated(path);
        }
        node(of, &format!("{path}.items"), &below, checked);
    }
    lists(schema, path, &mut checked.schema);
    rules::words(schema, path, &mut checked.schema);
    if at.has_rules && checked.schema.causes.len() == before {
        rules::check(schema, path, at, &mut checked.rules);
    }
}

fn words(schema: &Value, path: &str, at: &At, found: &mut Found) {
    let of = text(schema, "type");
    if !of.is_empty() && !TYPES.contains(&of) {
        found.unsupported(&format!("{path}.type"), &of.into(), &TYPES);
    }
    if let (true, Some(why)) = (has(schema, "default"), &at.defaults) {
        found.forbidden(&format!("{path}.default"), &format!("must not be set {why}"));
    }
    for word in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] {
        if has(schema, word) {
            found.forbidden(&format!("{path}.{word}"), &format!("{word} is not supported"));
        }
    }
    if of == "null" {
        let why = "type cannot be set to null, use nullable as an alternative";
        found.forbidden(&format!("{path}.type"), why);
    }
    if schema.get("items").is_some_and(Value::is_array) {
        found.forbidden(&format!("{path}.items"), "items must be a schema object and not an array");
    }
    if at.inside_meta && flag(schema, "x-kubernetes-embedded-resource") {
        let field = format!("{path}.x-kubernetes-embedded-resource");
        found.forbidden(&field, "must not be used inside of resource meta");
    }
    if flag(schema, "uniqueItems") {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        found.forbidden(&format!("{path}.uniqueItems"), why);
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&json!(false)) {
        let field = format!("{path}.x-kubernetes-preserve-unknown-fields");
        found.invalid(&field, &json!(false), "must be true or undefined");
    }
}

fn lists(schema: &Value, path: &str, found: &mut Found) {
    let (of, map, list) =
        (text(schema, "type"), text(schema, "x-kubernetes-map-type"), text(schema, "x-kubernetes-list-type"));
    let mut typed = |is: bool, wanted: &str, word: &str| {
        if is && of != wanted {
            let why = format!("must be {wanted} if {word} is specified");
            match of {
                "" => found.required(&format!("{path}.type"), &why),
                of => found.invalid(&format!("{path}.type"), &of.into(), &why),
            }
        }
    };
    typed(!map.is_empty(), "object", "x-kubernetes-map-type");
    typed(!list.is_empty(), "array", "x-kubernetes-list-type");
    if !matches!(map, "" | "atomic" | "granular") {
        found.unsupported(&format!("{path}.x-kubernetes-map-type"), &map.into(), &["atomic", "granular"]);
    }
    let item = schema.get("items").filter(|item| item.is_object());
    if let (true, "set", Some(item)) = (of == "array", list, item) {
        let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let shown = item.get("x-kubernetes-list-type").cloned().unwrap_or_default();
        match text(item, "type") {
            "array" if !matches!(text(item, "x-kubernetes-list-type"), "" | "atomic") => {
                found.invalid(&format!("{path}.items.x-kubernetes-list-type"), &shown, why);
            }
            "object" if text(item, "x-kubernetes-map-type") != "atomic" => {
                found.invalid(&format!("{path}.items.x-kubernetes-map-type"), &shown, why);
            }
            _ => {}
        }
    }
    if !matches!(list, "" | "atomic" | "set" | "map") {
        found.unsupported(&format!("{path}.x-kubernetes-list-type"), &list.into(), &["atomic", "set", "map"]);
    }
    let keys: Vec<&str> = items(schema, "x-kubernetes-list-map-keys").filter_map(Value::as_str).collect();
    if !keys.is_empty() && list != "map" {
        let (field, why) = (
            format!("{path}.x-kubernetes-list-type"),
            "must be map if x-kubernetes-list-map-keys is non-empty",
        );
        match list {
            "" => found.required(&field, why),
            list => found.invalid(&field, &list.into(), why),
        }
    }
    if list == "map" {
        keyed(schema, path, &keys, found);
    }
    if let (true, Some(item)) = (matches!(list, "set" | "map"), item)
        && flag(item, "nullable")
    {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        found.forbidden(&format!("{path}.items.nullable"), &why);
    }
}

fn keyed(schema: &Value, path: &str, keys: &[&str], found: &mut Found) {
    let field = format!("{path}.x-kubernetes-list-map-keys");
    if keys.is_empty() {
        found.required(&field, "must not be empty if x-kubernetes-list-type is map");
    }
    let Some(item) = schema.get("items") else {
        return found
            .required(&format!("{path}.items"), "must have a schema if x-kubernetes-list-type is map");
    };
    if text(item, "type") != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        return found.invalid(&format!("{path}.items.type"), &text(item, "type").into(), why);
    }
    let mut seen = Vec::new();
    for key in keys {
        let at = format!("{path}.items.properties[{key}]");
        match item.get("properties").and_then(|properties| properties.get(key)) {
            Some(property) => {
                if matches!(text(property, "type"), "array" | "object") {
                    let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                    found.invalid(&format!("{at}.type"), &text(item, "type").into(), why);
                }
                let required = items(item, "required").any(|name| name == *key);
                if !required && !has(property, "default") {
                    let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a \
                               required property";
                    found.required(&format!("{at}.default"), why);
                }
                if flag(property, "nullable") {
                    let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
                    found.forbidden(&format!("{at}.nullable"), why);
                }
            }
            None => found.invalid(&field, &json!(keys), "entries must all be names of item properties"),
        }
        if seen.contains(key) {
            found.invalid(&field, &json!(keys), "must not contain duplicate entries");
        }
        seen.push(*key);
    }
}
