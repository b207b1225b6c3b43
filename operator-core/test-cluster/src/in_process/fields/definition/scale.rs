//! The scale subresource of a custom kind: where its numbers and its selector are.

use serde_json::Value;

use super::{
    super::Endpoint,
    values::{Cause, invalid},
};
use crate::in_process::go::type_of;

/// The paths that a definition declares, as it writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::in_process) struct Scale {
    pub(in crate::in_process) spec: String,
    pub(in crate::in_process) status: String,
    pub(in crate::in_process) selector: Option<String>,
}

impl Scale {
    /// Reads the subresources of a version.
    pub(in crate::in_process) fn of(subresources: &Value) -> Option<Self> {
        let scale = subresources.get("scale").filter(|scale| !scale.is_null())?;
        let text = |field: &str| scale.get(field).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            spec: text("specReplicasPath").unwrap_or_default(),
            status: text("statusReplicasPath").unwrap_or_default(),
            selector: text("labelSelectorPath").filter(|path| !path.is_empty()),
        })
    }

    /// What is wrong with an object's numbers and selector.
    pub(super) fn check(&self, object: &Value, endpoint: Endpoint) -> Vec<Cause> {
        let mut causes = Vec::new();
        let number = |path: &str| {
            let value = match integer(object, path) {
                Ok(number) => number.unwrap_or_default(),
                Err(why) => return Some(invalid(path, &0.into(), &why)),
            };
            let why = match value {
                i64::MIN..0 => "should be a non-negative integer".to_owned(),
                0..=2_147_483_647 => return None,
                _ => format!("should be less than or equal to {}", i32::MAX),
            };
            Some(invalid(path, &value.into(), &why))
        };
        if endpoint != Endpoint::Status {
            causes.extend(number(&self.spec));
        }
        causes.extend(number(&self.status));
        if let Some(path) = &self.selector
            && let Err(why) = text(object, path)
        {
            causes.push(invalid(path, &"".into(), &why));
        }
        causes
    }
}

/// The names of a path.
pub(in crate::in_process) fn names(path: &str) -> Vec<&str> {
    path.strip_prefix('.').unwrap_or(path).split('.').collect()
}

fn find<'o>(object: &'o Value, path: &str) -> Result<Option<&'o Value>, String> {
    let mut value = object;
    let names = names(path);
    for (at, name) in names.iter().enumerate() {
        let Value::Object(fields) = value else {
            let before = format!(".{}", names[..=at].join("."));
            return Err(format!(
                "{before} accessor error: {} is of the type {}, expected map[string]interface {{}}",
                shown(value),
                type_of(value)
            ));
        };
        match fields.get(*name) {
            Some(field) => value = field,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// An integer at a path; the error is the real server's.
pub(in crate::in_process) fn integer(object: &Value, path: &str) -> Result<Option<i64>, String> {
    let Some(value) = find(object, path)? else { return Ok(None) };
    value.as_i64().map(Some).ok_or_else(|| other_type(value, path, "int64"))
}

/// A text at a path; the error is the real server's.
pub(in crate::in_process) fn text(object: &Value, path: &str) -> Result<Option<String>, String> {
    let Some(value) = find(object, path)? else { return Ok(None) };
    value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| other_type(value, path, "string"))
}

fn other_type(value: &Value, path: &str, wanted: &str) -> String {
    let path = format!(".{}", names(path).join("."));
    format!("{path} accessor error: {} is of the type {}, expected {wanted}", shown(value), type_of(value))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name}:{}", shown(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
        other => other.to_string(),
    }
}
