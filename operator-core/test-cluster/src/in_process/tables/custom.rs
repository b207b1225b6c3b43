//! The columns and cells of custom kinds: the printer columns of their definition.

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;
use serde_json::{Number, Value, json};

use super::{columns, duration::since, jsonpath::JsonPath};
use crate::in_process::{
    fields::{show_float, whole as normal},
    values::json as as_json,
};

/// The columns of one version.
#[derive(Clone, Debug)]
pub(super) struct CustomColumns(Arc<Vec<Column>>);

#[derive(Debug)]
struct Column {
    shown: Value,
    path: Option<JsonPath>,
}

impl CustomColumns {
    /// The columns that a definition names for one of its versions; by default the age.
    pub(super) fn of(definition: Option<&Value>, version: &str) -> Self {
        let versions = definition.and_then(|definition| definition["spec"]["versions"].as_array());
        let version = versions.into_iter().flatten().find(|known| known["name"] == version);
        let given = version.and_then(|version| version["additionalPrinterColumns"].as_array());
        // The texts of name and age are the same for all kinds.
        let usual = columns::of("v1", "ServiceAccount");
        let age = json!({
            "name": "Age",
            "type": "date",
            "jsonPath": ".metadata.creationTimestamp",
            "description": usual[1]["description"],
        });
        let given = match given.filter(|given| !given.is_empty()) {
            Some(given) => given.clone(),
            None => vec![age],
        };
        let mut all = vec![Column { shown: usual[0].clone(), path: JsonPath::parse(".metadata.name") }];
        for column in given {
            let text = |field: &str| column[field].as_str().unwrap_or_default();
            let path = text("jsonPath");
            let Some(parsed) = JsonPath::parse(path) else { break };
            let described = match text("description") {
                "" => format!("Custom resource definition column (in JSONPath format): {path}"),
                description => description.to_owned(),
            };
            let shown = json!({
                "name": text("name"),
                "type": text("type"),
                "format": text("format"),
                "description": described,
                "priority": column["priority"].as_i64().unwrap_or_default(),
            });
            all.push(Column { shown, path: Some(parsed) });
        }
        Self(Arc::new(all))
    }

    pub(super) fn shown(&self) -> Value {
        self.0.iter().map(|column| column.shown.clone()).collect()
    }

    pub(super) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        self.0.iter().map(|column| column.cell(object, now)).collect()
    }
}

impl Column {
    fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let found = self.path.as_ref().and_then(|path| path.find(object));
        let Some(value) = found else { return Value::Null };
        // Integers that the path says, and bytes of a text, aren't of the type that integers of objects have.
        let is_foreign = matches!(&value, Cow::Owned(value) if value.is_i64());
        match (self.shown["type"].as_str().unwrap_or_default(), &*value) {
            ("string", value) => printed(value).into(),
            ("integer" | "number", Value::Number(_)) if is_foreign => Value::Null,
            ("integer", Value::Number(number)) => integer(number).into(),
            // A float without a fraction is written like a whole number.
            ("number", Value::Number(number)) => normal(number.as_f64().into()),
            ("boolean", Value::Bool(value)) => (*value).into(),
            ("date", Value::String(text)) if text == "null" => "<unknown>".into(),
            ("date", value @ Value::String(_)) => since(value, now).into(),
            _ => Value::Null,
        }
    }
}

/// A number without its fraction. A float that is too large becomes what the processor makes of it.
#[expect(clippy::cast_possible_truncation, reason = "as the real server does it")]
fn integer(number: &Number) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let float = number.as_f64().unwrap_or_default();
    match number.as_i64() {
        Some(integer) => integer,
        None if (-LIMIT..LIMIT).contains(&float) => float as i64,
        None => i64::MIN,
    }
}

/// A value as text, in Go's form.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<no value>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if !number.is_i64() => show_float(number.as_f64().unwrap_or_default()),
        other => as_json(other, &[]),
    }
}
