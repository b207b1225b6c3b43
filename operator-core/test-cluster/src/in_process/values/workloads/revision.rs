//! ControllerRevisions: what a controller remembers of former templates, which never changes. Pure.

use serde_json::Value;

use super::super::{
    common::{immutable, not_negative},
    errors::Errors,
    path::Path,
    read::at,
};

pub(super) fn create(revision: &Value, errors: &mut Errors) {
    not_negative(errors, &Path::root("revision"), at(revision, "revision"));
    match at(revision, "data") {
        Value::Object(_) => {}
        Value::Null => errors.required(&Path::root("data"), "data is mandatory"),
        _ => errors.required(&Path::root("data"), "data must be a valid JSON object"),
    }
}

pub(super) fn update(new: &Value, old: &Value, errors: &mut Errors) {
    not_negative(errors, &Path::root("revision"), at(new, "revision"));
    immutable(errors, &Path::root("data"), at(new, "data"), at(old, "data"));
}
