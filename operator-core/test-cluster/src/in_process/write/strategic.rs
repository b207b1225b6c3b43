//! Strategic merge patches, as requests.

use serde_json::{Map, Value};

use super::patch::not_a_map;
use crate::in_process::{
    failure::Failure,
    fields::{
        strategic::{Refused, shown},
        whole,
    },
    go::json,
    kinds::Kind,
};

/// Applies a patch.
pub(super) fn apply(kind: &Kind, live: &Value, patch: &[u8]) -> Result<Value, Failure> {
    let patch = match json::read(patch).map_err(Failure::bad_request)? {
        // Numbers without a fraction are whole ones, however they are written.
        Value::Object(patch) => patch.into_iter().map(|(name, value)| (name, whole(value))).collect(),
        Value::Null => Map::new(),
        other => return Err(Failure::bad_request(not_a_map(&other))),
    };
    match kind.schema()?.strategic_merge(live, patch) {
        Some(Ok(patched)) => Ok(patched),
        Some(Err(Refused::BadRequest(why))) => Err(Failure::bad_request(why)),
        Some(Err(Refused::Unprocessable(why))) => Err(Failure::new(422, "Invalid", why)),
        Some(Err(Refused::Internal(why))) => Err(Failure::internal(why)),
        None => Err(Failure::not_modelled("strategic merge patches of custom resources")),
    }
}

/// A refusal of what a patch has made: it names the patch.
pub(super) fn refused(failure: Failure, patch: &[u8]) -> Failure {
    let patch: Value = json::read(patch).unwrap_or_default();
    failure.of_patch_as(Some((&format!("{:?}", shown(&patch)), converted)))
}

/// Why a value doesn't fit its field, in the words of what reads patched objects.
fn converted(reason: &str) -> String {
    let parts = reason.strip_prefix("json: cannot unmarshal ");
    let Some((given, of)) = parts.and_then(|rest| {
        let (given, rest) = rest.split_once(' ')?;
        Some((given, rest.rsplit_once(" of type ")?.1))
    }) else {
        return reason.to_owned();
    };
    let kind = match given {
        "object" => "map",
        "array" => "slice",
        "number" => "int64",
        other => other,
    };
    match of {
        _ if of.starts_with("[]") => format!("cannot restore slice from {kind}"),
        _ if of.starts_with("map[") => format!("cannot restore map from {kind}"),
        "string" | "bool" | "int32" | "int64" | "float64" => format!("unrecognized type: {of}"),
        // A type with a name is a text where no text was given.
        _ if given == "string" => format!("cannot restore struct from: {kind}"),
        _ => "unrecognized type: string".to_owned(),
    }
}
