//! The parts of an object's metadata that the server decides on. Pure.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{finalizers, is_deleting, meta};
use crate::testing::in_process::{
    failure::{Cause, Failure},
    kinds::Kind,
};

/// A time as objects have it: in whole seconds.
pub(in crate::testing::in_process) fn time(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Puts an object into the namespace of the request's path, where it must belong.
pub(super) fn place(object: &mut Value, namespace: Option<&str>) -> Result<(), Failure> {
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return Err(Failure::bad_request("metadata is no object"));
    };
    let given = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
    if !given.is_empty() && Some(given) != namespace {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Failure::bad_request(message));
    }
    match namespace {
        Some(namespace) => metadata.insert("namespace".to_owned(), namespace.into()),
        None => metadata.remove("namespace"),
    };
    Ok(())
}

/// Checks that the name in a body is that of the request's path.
pub(super) fn check_name(object: &Value, name: &str) -> Result<(), Failure> {
    match meta(object, "name") {
        "" => Err(Failure::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        given if given == name => Ok(()),
        given => Err(Failure::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        ))),
    }
}

/// Removes what nobody can bring along into a new object.
pub(super) fn clear_for_creation(object: &mut Value) {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in [
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
            "resourceVersion",
        ] {
            metadata.remove(field);
        }
    }
}

/// Takes over from the live object what an update can't change, and says what it tried to.
pub(super) fn keep(live: &Value, object: &mut Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let immutable = |field: &str, given: &Value| {
        let shown = given.as_str().map_or_else(|| given.to_string(), |text| format!("{text:?}"));
        let message = format!("Invalid value: {shown}: field is immutable");
        ("FieldValueInvalid".to_owned(), format!("metadata.{field}"), message)
    };
    for field in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (old, given) = (&live["metadata"][field], &object["metadata"][field]);
        // An object that is being deleted stays so, whatever an update says.
        let lenient = field.starts_with("deletion") && !old.is_null();
        if !given.is_null() && given != old && !lenient {
            causes.push(immutable(field, given));
        }
        let old = old.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            match old {
                Value::Null => metadata.remove(field),
                old => metadata.insert(field.to_owned(), old),
            };
        }
    }
    if is_deleting(live) {
        let old = finalizers(live);
        let new: Vec<&str> = finalizers(object).into_iter().filter(|name| !old.contains(name)).collect();
        if !new.is_empty() {
            let new = new.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
            let message = format!(
                "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{{{new}}}"
            );
            causes.push(("FieldValueForbidden".to_owned(), "metadata.finalizers".to_owned(), message));
        }
    }
    causes
}

/// What is wrong with an object's name and finalizers.
pub(super) fn wrong(kind: &Kind, object: &Value) -> Vec<Cause> {
    let name = meta(object, "name");
    let invalid = |field: &str, value: &str, why: &str| {
        let message = format!("Invalid value: {value:?}: {why}");
        ("FieldValueInvalid".to_owned(), field.to_owned(), message)
    };
    let mut causes = Vec::new();
    if name.is_empty() {
        let message = "Required value: name or generateName is required".to_owned();
        causes.push(("FieldValueRequired".to_owned(), "metadata.name".to_owned(), message));
    } else if let Some(why) = wrong_name(kind, name) {
        causes.push(invalid("metadata.name", name, &why));
    }
    for (at, finalizer) in finalizers(object).into_iter().enumerate() {
        const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];
        if !finalizer.contains('/') && !STANDARD.contains(&finalizer) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            causes.push(invalid(&format!("metadata.finalizers[{at}]"), finalizer, why));
        }
    }
    causes
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

fn wrong_name(kind: &Kind, name: &str) -> Option<String> {
    let is_label = |part: &str| {
        let inner = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        !part.is_empty() && part.chars().all(inner) && !part.starts_with('-') && !part.ends_with('-')
    };
    let longest = |limit: usize| (name.len() > limit).then(|| format!("must be no more than {limit} bytes"));
    match (kind.group.as_str(), kind.kind.as_str()) {
        // Names of rights are anything that can stand in a path.
        ("rbac.authorization.k8s.io", _) => {
            let escapes = matches!(name, "." | "..") || name.contains(['/', '%']);
            escapes.then(|| "must be a valid path segment name".to_owned())
        }
        ("", "Namespace" | "Service") => {
            if is_label(name) {
                longest(63)
            } else {
                Some(LABEL.to_owned())
            }
        }
        _ if name.split('.').all(is_label) => longest(253),
        _ => Some(SUBDOMAIN.to_owned()),
    }
}
