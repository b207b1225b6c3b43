//! Custom kinds: what the `openAPIV3Schema` of their definition says about merging, pruning, defaults and validity.
//!
//! # Guarantees
//! - A schema with something that is not modelled here is refused when its kind is defined, not ignored.

mod coerce;
mod convert;
mod validate;

use serde_json::Value;

use super::{
    Refusal,
    schema::{TypeId, Types},
};

/// A custom kind.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) has_status: bool,
    pub(super) types: Types,
    pub(super) root: TypeId,
    schema: Value,
}

impl Definition {
    /// Reads a schema.
    pub(super) fn new(has_status: bool, schema: &Value) -> Result<Self, Refusal> {
        validate::modelled(schema, "")?;
        let (types, root) = convert::convert(schema);
        Ok(Self { has_status, types, root, schema: super::canonical::normal(schema.clone()) })
    }

    /// Drops what the schema doesn't know, and fills in its defaults. The error names an embedded object that has none
    /// of the fields that every object has.
    pub(super) fn coerce(&self, object: &mut Value) -> Result<(), String> {
        coerce::prune_root(object, &self.schema);
        coerce::drop_nulls(object, &self.schema);
        coerce::check_embedded(object, &self.schema, "")?;
        coerce::fill(object, &self.schema);
        Ok(())
    }

    /// An object with its defaults.
    pub(super) fn filled(&self, mut object: Value) -> Value {
        coerce::fill(&mut object, &self.schema);
        object
    }

    /// The violations of the schema, as (reason, field, message).
    pub(super) fn validate(&self, object: &Value) -> Vec<(String, String, String)> {
        validate::validate(&self.schema, object)
    }
}

/// A flag of a schema.
fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or(false)
}
