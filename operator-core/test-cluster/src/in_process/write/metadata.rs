//! The parts of an object's metadata that the server decides. Pure.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{finalizers, is_deleting, meta};
use crate::in_process::failure::{Cause, Failure};

/// A time as in objects: in whole seconds.
pub(in crate::in_process) fn time(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time some seconds later, or earlier.
pub(super) fn shifted(since: &Value, seconds: i64) -> String {
    let since = since.as_str().and_then(|text| text.parse::<Timestamp>().ok()).unwrap_or_default();
    let shifted = since.checked_add(jiff::SignedDuration::from_secs(seconds));
    time(shifted.unwrap_or(Timestamp::MAX))
}

/// What a request can't set in a new object.
const NOT_OF_NEW: [&str; 6] = [
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "resourceVersion",
];

/// Whether a new object has something that is removed before it is read, though it has to be readable.
pub(super) fn has_removed(object: &Value) -> bool {
    let metadata = &object["metadata"];
    let namespace = &metadata["namespace"];
    NOT_OF_NEW.iter().any(|field| !metadata[field].is_null())
        || !namespace.is_null() && !namespace.is_string()
}

/// Notes when a volume's phase has changed, unless the change says it.
pub(super) fn note_phase(now: Timestamp, live: &Value, volume: &mut Value) {
    const SINCE: &str = "lastPhaseTransitionTime";
    let (before, status) = (&live["status"], &mut volume["status"]);
    let (since, is_same) = (&before[SINCE], before["phase"] == status["phase"]);
    if is_same && status[SINCE].is_null() && !since.is_null() {
        status[SINCE] = since.clone();
    } else if !is_same && (status[SINCE].is_null() || status[SINCE] == *since) {
        status[SINCE] = time(now).into();
    }
}

/// Puts an object into the namespace of the request's path, where it must belong.
pub(super) fn place(object: &mut Value, namespace: Option<&str>) -> Result<(), Failure> {
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return Err(Failure::bad_request("metadata is no object"));
    };
    if namespace.is_none() {
        // What is in no namespace may say what it likes.
        metadata.remove("namespace");
        return Ok(());
    }
    let given = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
    if !given.is_empty() && Some(given) != namespace {
        let message = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Failure::bad_request(message));
    }
    metadata.insert("namespace".to_owned(), namespace.into());
    Ok(())
}

/// When patches are looked at for owners that are named twice.
pub(super) const OF_PATCH: &str = " after mutating admission happens";

/// Removes owners that are named twice in the same way, and warns of them.
pub(super) fn tell_doubled_owners(warnings: &mut Vec<String>, object: &mut Value, when: &str) {
    let owners = object.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut);
    let Some(owners) = owners.filter(|owners| owners.len() > 1) else { return };
    // What a text doesn't have is empty.
    let form = |owner: &Value| {
        let text = ["apiVersion", "kind", "name", "uid"]
            .map(|field| owner[field].as_str().unwrap_or_default().to_owned());
        (text, owner["controller"].clone(), owner["blockOwnerDeletion"].clone())
    };
    let (mut known, mut doubled) = (Vec::new(), Vec::new());
    owners.retain(|owner| {
        let form = form(owner);
        let is_new = !known.contains(&form);
        if is_new {
            known.push(form);
        } else {
            doubled.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        }
        is_new
    });
    if !doubled.is_empty() {
        warnings.push(format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may \
             reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            doubled.join(", ")
        ));
    }
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

/// Removes what a request can't set in a new object.
pub(super) fn clear_for_creation(object: &mut Value) {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        NOT_OF_NEW.iter().for_each(|field| drop(metadata.remove(*field)));
    }
}

/// Takes over from the live object what an update can't change, and returns what it tried to.
pub(super) fn keep(live: &Value, object: &mut Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let immutable = |field: &str, given: &Value| {
        let shown = given.as_str().map_or_else(|| given.to_string(), |text| format!("{text:?}"));
        let message = format!("Invalid value: {shown}: field is immutable");
        ("FieldValueInvalid".to_owned(), format!("metadata.{field}"), message)
    };
    for field in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (old, given) = (&live["metadata"][field], &object["metadata"][field]);
        // An object that is being deleted stays so, and was created when it was, whatever an update says.
        let lenient = field == "creationTimestamp" || (field.starts_with("deletion") && !old.is_null());
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
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("selfLink");
    }
    if is_deleting(live) {
        let old = finalizers(live);
        let new: BTreeSet<&str> = finalizers(object).into_iter().filter(|name| !old.contains(name)).collect();
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
