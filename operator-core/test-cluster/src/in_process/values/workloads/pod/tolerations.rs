//! Tolerations of pods for taints of nodes.

use serde_json::Value;

use crate::in_process::values::{
    errors::Errors,
    names,
    path::Path,
    read::{at, part, text},
};

/// A list of tolerations.
pub(super) fn check(errors: &mut Errors, path: &Path<'_>, tolerations: &Value) {
    for (index, toleration) in tolerations.as_array().into_iter().flatten().enumerate() {
        let path = path.index(index);
        let field = |name: &str| text(toleration, name);
        let (key, operator, value, effect) =
            (field("key"), field("operator"), field("value"), field("effect"));
        if !key.is_empty() {
            errors.all_invalid(&path.child("key"), key, &names::qualified(key));
        }
        let place = path.child("operator");
        if key.is_empty() && operator != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid(&place, operator, detail);
        }
        if part(toleration, "tolerationSeconds").is_some() && effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid(&path.child("effect"), effect, detail);
        }
        match operator {
            "Equal" | "" => {
                let wrong = names::label_value(value);
                if !wrong.is_empty() {
                    errors.invalid(&place, value, &wrong.join(";"));
                }
            }
            "Exists" if !value.is_empty() => {
                errors.invalid(&place, value, "value must be empty when `operator` is 'Exists'");
            }
            "Exists" => {}
            "Lt" | "Gt" => errors.not_supported(&place, operator, &["Equal", "Exists", "Lt", "Gt"]),
            other => errors.not_supported(&place, other, &["Equal", "Exists"]),
        }
        if !matches!(effect, "" | "NoSchedule" | "PreferNoSchedule" | "NoExecute") {
            let known = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            errors.not_supported(&path.child("effect"), effect, &known);
        }
    }
}

/// Tolerations may be added to those of a pod; of those that it has, only the time may change.
pub(super) fn only_added(errors: &mut Errors, path: &Path<'_>, new: &Value, old: &Value) {
    let list = |spec: &Value| at(spec, "tolerations").as_array().cloned().unwrap_or_default();
    let (given, before) = (list(new), list(old));
    let fields = ["key", "operator", "value", "effect"];
    let same = |one: &Value, two: &Value| fields.iter().all(|field| text(one, field) == text(two, field));
    if before.iter().any(|old| !given.iter().any(|new| same(new, old))) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        return errors.forbidden(path, detail);
    }
    check(errors, path, at(new, "tolerations"));
}
