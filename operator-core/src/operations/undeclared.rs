//! Fields of a status that the installed definition lacks. The operator is newer than the definition then, as after an upgrade with
//! Helm, which leaves definitions alone.
//!
//! The server refuses an apply with such a field as a whole, and drops the field from a patch without a word. In both cases the rest
//! of the status is written, and the fields are left out for a while. Then they are tried again, because the definition may have been
//! installed.

use std::{collections::BTreeSet, time::Duration};

use parking_lot::Mutex;
use serde_json::Value;

use super::error::Error;
use crate::{environment::Now, resource::ResourceType};

/// How long the fields are left out before they are tried again.
const LEFT_OUT_FOR: Duration = Duration::from_secs(4 * 60);

/// When a run whose status lacks such a field is to be followed by another one.
pub(crate) const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(270);

/// How the server ends what it says about such a field.
const UNDECLARED: &str = ": field not declared in schema";

/// The fields that the definition of a controller's primaries lacks, as far as its runs have found out.
#[derive(Debug, Default)]
pub(crate) struct Undeclared(Mutex<Fields>);

#[derive(Debug, Default)]
struct Fields {
    left_out: BTreeSet<String>,
    since: Option<Now>,
    /// Those that a warning has named.
    told: BTreeSet<String>,
}

impl Undeclared {
    /// Takes the fields that were found lately out of a status. Returns whether it has any.
    pub(super) fn take_out(&self, status: &mut Value, now: Now) -> bool {
        let fields = self.0.lock();
        let is_recent = fields.since.is_some_and(|since| now - since < LEFT_OUT_FOR);
        let mut found = false;
        for path in fields.left_out.iter().filter(|_| is_recent) {
            found |= remove(status, path);
        }
        found
    }

    /// Takes the fields that the server's refusal names out of a status. Returns whether it has any.
    pub(super) fn found_by(&self, error: &Error, status: &mut Value, kind: &ResourceType, now: Now) -> bool {
        let Error::Misfit { refused } = error else { return false };
        let Error::Refused { status: answer, .. } = &**refused else { return false };
        let mut paths = named(&answer.message);
        paths.retain(|path| remove(status, path));
        self.found(&paths, kind, now)
    }

    /// Looks for what was to be added to a status in the answer to the write. Returns whether something is missing.
    pub(super) fn found_in(
        &self,
        (before, wanted, answer): (&Value, &Value, &Value),
        kind: &ResourceType,
        now: Now,
    ) -> bool {
        let mut paths = Vec::new();
        missing(before, wanted, answer, "", &mut paths);
        self.found(&paths, kind, now)
    }

    fn found(&self, paths: &[String], kind: &ResourceType, now: Now) -> bool {
        let mut fields = self.0.lock();
        if !paths.is_empty() && fields.since.is_none_or(|since| now - since >= LEFT_OUT_FOR) {
            fields.left_out.clear();
            fields.since = Some(now);
        }
        for path in paths {
            fields.left_out.insert(path.clone());
            if fields.told.insert(path.clone()) {
                tracing::warn!(
                    %kind, field = %format_args!("status{path}"),
                    "the installed definition lacks a field of the status, which is written without it; install the \
                     definition of this version: the operator's command `crd`, applied by `kubectl apply -f -`"
                );
            }
        }
        !paths.is_empty()
    }
}

/// The fields of the status that a refusal says to be undeclared: `.message`, `.conditions[0].observedGeneration`.
fn named(message: &str) -> Vec<String> {
    let field = |line: &str| {
        let path = line.trim().strip_suffix(UNDECLARED)?;
        let path = path.rsplit("): ").next()?.strip_prefix(".status")?;
        Some(path.to_owned()).filter(|path| !path.is_empty())
    };
    message.lines().filter_map(field).collect()
}

/// Takes the field with this path out; in a list from each item, whichever the path names. Returns whether it was there.
fn remove(value: &mut Value, path: &str) -> bool {
    match value {
        Value::Object(fields) => {
            let Some(path) = path.strip_prefix('.') else { return false };
            if fields.remove(path).is_some() {
                return true;
            }
            // A name may contain dots.
            fields.iter_mut().any(|(name, value)| {
                let rest = path.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.starts_with(['.', '[']) && remove(value, rest))
            })
        }
        Value::Array(items) => {
            let ends = path.match_indices(']').map(|(end, _)| &path[end + 1..]);
            // A key may contain brackets.
            let mut rests = ends.filter(|rest| rest.starts_with(['.', '[']));
            rests.any(|rest| items.iter_mut().fold(false, |found, item| remove(item, rest) | found))
        }
        _ => false,
    }
}

/// The paths of what `wanted` has, and neither the state before nor the answer: what others have removed isn't meant.
fn missing(before: &Value, wanted: &Value, answer: &Value, at: &str, paths: &mut Vec<String>) {
    match (wanted, answer) {
        (Value::Object(wanted), Value::Object(answer)) => {
            for (name, wanted) in wanted.iter().filter(|(_, wanted)| !wanted.is_null()) {
                let (at, before) = (format!("{at}.{name}"), &before[name]);
                match answer.get(name) {
                    Some(answer) => missing(before, wanted, answer, &at, paths),
                    None if before.is_null() => paths.push(at),
                    None => {}
                }
            }
        }
        (Value::Array(wanted), Value::Array(answer)) if wanted.len() == answer.len() => {
            for (index, (wanted, answer)) in wanted.iter().zip(answer).enumerate() {
                missing(&before[index], wanted, answer, &format!("{at}[{index}]"), paths);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::Status;
    use serde_json::json;

    use super::*;
    use crate::resource::ObjectKey;

    fn refused(message: &str) -> Error {
        let status = Status::failure(message, "").with_code(500).boxed();
        Error::refused("apply", ResourceType::of::<ConfigMap>(), ObjectKey::namespaced("shop", "one"), status)
    }

    #[test]
    fn the_fields_that_a_refusal_names_are_left_out_for_a_while() {
        let (undeclared, kind) = (Undeclared::default(), ResourceType::of::<ConfigMap>());
        let whole =
            json!({ "a.b": { "c": 1, "d": 2 }, "list": [{ "x": 1, "y": 1 }, { "x": 2 }], "message": "m" });
        let rest = json!({ "a.b": { "d": 2 }, "list": [{ "y": 1 }, {}] });
        let second = |n| Now::at(Duration::from_secs(n));
        let several = "failed to create typed patch object (shop/one; example.com/v1, Kind=Page): errors:\n  \
                       .status.a.b.c: field not declared in schema\n  .status.list[k=\"[x].x\"].x: field not declared in \
                       schema\n  .status.message: field not declared in schema";
        let mut status = whole.clone();
        assert!(undeclared.found_by(&refused(several), &mut status, &kind, second(0)));
        assert_eq!(status, rest);
        assert!(
            !undeclared.found_by(&refused(several), &mut status, &kind, second(0)),
            "there is nothing left of it"
        );
        let mut status = whole.clone();
        assert!(undeclared.take_out(&mut status, second(239)) && status == rest);
        assert!(!undeclared.take_out(&mut status, second(239)));
        let mut status = whole.clone();
        assert!(!undeclared.take_out(&mut status, second(240)) && status == whole, "it is tried again");
        let one = "failed to create typed patch object (shop/one; example.com/v1, Kind=Page): .status.message: field not \
                   declared in schema";
        assert!(undeclared.found_by(&refused(one), &mut status, &kind, second(240)));
        let mut status = whole.clone();
        assert!(undeclared.take_out(&mut status, second(241)));
        assert_eq!(status["a.b"], whole["a.b"], "this field is declared by now");
    }

    #[test]
    fn nothing_is_left_out_for_other_refusals() {
        let (undeclared, kind) = (Undeclared::default(), ResourceType::of::<ConfigMap>());
        let start = "failed to create typed patch object (shop/one; example.com/v1, Kind=Page): ";
        for end in [".status.a: expected string, got &{1}", ".spec.a: field not declared in schema", ""] {
            let mut status = json!({ "a": 1 });
            let error = refused(&format!("{start}{end}"));
            assert!(!undeclared.found_by(&error, &mut status, &kind, Now::START), "{error}");
            assert_eq!(status, json!({ "a": 1 }));
        }
    }

    #[test]
    fn what_the_server_has_dropped_is_found_in_its_answer() {
        let (undeclared, kind) = (Undeclared::default(), ResourceType::of::<ConfigMap>());
        let wanted = json!({ "a": 1, "list": [{ "x": 1, "y": null }], "gone": { "deep": 1 } });
        let answer = json!({ "a": 2, "list": [{}], "more": 1 });
        let found = |before, answer| undeclared.found_in((before, &wanted, answer), &kind, Now::START);
        assert!(!found(&Value::Null, &wanted));
        assert!(!found(&wanted, &answer), "others have removed it");
        assert!(found(&json!({ "a": 2 }), &answer));
        let mut status = wanted.clone();
        assert!(undeclared.take_out(&mut status, Now::START));
        assert_eq!(status, json!({ "a": 1, "list": [{ "y": null }] }));
    }
}
