//! Custom kinds: what the `openAPIV3Schema` of their definition says about merging, pruning, defaults and validity.

mod coerce;
mod convert;
mod rules;
mod scale;
mod values;

use serde_json::Value;

use self::{
    rules::Rules,
    values::{Cause, Old, Patterns, cause},
};
pub(in crate::in_process) use self::{
    rules::field_path,
    scale::{Scale, integer as scale_integer, names as scale_names, text as scale_text},
    values::{is_known_format, is_valid_format, show_float},
};
use super::{
    Endpoint,
    schema::{TypeId, Types},
};

/// A custom kind.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) has_status: bool,
    pub(super) types: Types,
    pub(super) root: TypeId,
    schema: Value,
    patterns: Patterns,
    rules: Option<Rules>,
    scale: Option<Scale>,
}

impl Definition {
    /// Reads a schema, and the subresources that are served.
    pub(super) fn new(subresources: &Value, schema: &Value) -> Self {
        let (types, root) = convert::convert(schema);
        let schema = super::canonical::normal(schema.clone());
        Self {
            has_status: !subresources["status"].is_null(),
            types,
            root,
            patterns: Patterns::of(&schema),
            rules: Rules::of(&schema),
            scale: Scale::of(subresources),
            schema,
        }
    }

    /// Drops what the schema doesn't know, and fills in its defaults. The error names the part of an embedded object that
    /// isn't what every object has.
    pub(super) fn coerce(&self, object: &mut Value) -> Result<(), String> {
        self.convert(object);
        coerce::coerce_embedded(object, &self.schema, "")
            .map_err(|(_, path, message)| format!("{path}: {message}"))?;
        coerce::fill(object, &self.schema);
        Ok(())
    }

    /// Drops what the schema doesn't know.
    pub(super) fn prune(&self, object: &mut Value) {
        coerce::prune_root(object, &self.schema);
    }

    /// Calls `found` with the metadata of each embedded object, and where they are.
    pub(super) fn each_embedded<'v>(&self, object: &'v Value, mut found: impl FnMut(&'v Value, &str)) {
        coerce::each_embedded(object, &self.schema, "", &mut found);
    }

    /// Drops what the schema doesn't know, and the nulls that it doesn't allow.
    pub(super) fn convert(&self, object: &mut Value) {
        self.prune(object);
        coerce::drop_nulls(object, &self.schema);
    }

    /// An object with its defaults.
    pub(super) fn filled(&self, mut object: Value) -> Value {
        coerce::fill(&mut object, &self.schema);
        object
    }

    /// What is wrong with a written object, after what is known to be; `live` is what it was before. The second list is what
    /// rules let be because it was so before.
    pub(super) fn validate(
        &self,
        object: &Value,
        live: Option<&Value>,
        endpoint: Endpoint,
        mut causes: Vec<Cause>,
    ) -> (Vec<Cause>, Vec<String>) {
        let mut let_be = Vec::new();
        match endpoint {
            Endpoint::Main | Endpoint::Other(_) => {
                causes.extend(values::check(&self.patterns, &self.schema, object, "", live.map(Old)));
                causes.extend(self.scale.iter().flat_map(|scale| scale.check(object, endpoint)));
                values::embedded(&self.schema, object, "", &mut causes);
            }
            Endpoint::Status => {
                let schema = self.schema.get("properties").and_then(|properties| properties.get("status"));
                if let (Some(schema), Some(status)) = (schema, object.get("status")) {
                    let old = live.and_then(|live| live.get("status")).map(Old);
                    causes.extend(values::check(&self.patterns, schema, status, "status", old));
                }
                causes.extend(self.scale.iter().flat_map(|scale| scale.check(object, endpoint)));
            }
        }
        let duplicates = |object: &Value| {
            let mut causes = Vec::new();
            values::duplicates(&self.schema, object, "", &mut causes);
            causes
        };
        let new = duplicates(object);
        if !new.is_empty() && live.is_none_or(|live| duplicates(live).is_empty()) {
            causes.extend(new);
        }
        if let Some(rules) = &self.rules {
            if causes.iter().any(|(reason, ..)| BLOCKING.contains(&reason.as_str())) {
                let why = "some validation rules were not checked because the object was invalid; correct the \
                           existing errors to complete validation";
                causes.push(cause("Invalid", "", format!("Invalid value: null: {why}")));
            } else {
                let (wrong, as_before) = rules.check(&self.schema, object, live);
                causes.extend(wrong);
                let_be.extend(as_before.into_iter().map(|(_, path, message)| format!("{path}: {message}")));
            }
        }
        (causes, let_be)
    }
}

/// After these mistakes no rules are looked at.
const BLOCKING: [&str; 5] = [
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
];

/// Whether a default has nothing that its schema doesn't know, and what is wrong with its values.
pub(in crate::in_process) fn check_default(
    schema: &Value,
    default: &Value,
    path: &str,
) -> (bool, Vec<Cause>) {
    let schema = super::canonical::normal(schema.clone());
    let mut default = super::canonical::normal(default.clone());
    let mut pruned = default.clone();
    coerce::prune(&mut pruned, Some(&schema));
    let is_pruned = pruned == default;
    if let Err(cause) = coerce::coerce_embedded(&mut default, &schema, path) {
        return (is_pruned, vec![cause]);
    }
    let mut causes = Vec::new();
    values::embedded(&schema, &default, path, &mut causes);
    if causes.is_empty() {
        causes = values::check(&Patterns::of(&schema), &schema, &default, path, None);
    }
    if causes.is_empty()
        && let Some(rules) = Rules::of_part(&schema)
    {
        causes.extend(rules.check_part(&schema, &default, path));
    }
    (is_pruned, causes)
}

/// A flag of a schema.
fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or(false)
}
