//! What many kinds have: labels, selectors, counts, shares. Pure.

use serde_json::Value;

use super::{
    errors::{Errors, Shown},
    names,
    path::Path,
    read::{at, count, entries, int, items, text},
};

/// A number that must not be negative; absent is zero.
pub(in crate::in_process) fn not_negative(errors: &mut Errors, path: &Path<'_>, value: &Value) {
    if let Some(number) = value.as_i64().filter(|number| *number < 0) {
        errors.invalid(path, number, "must be greater than or equal to 0");
    }
}

/// Labels.
pub(in crate::in_process) fn labels(errors: &mut Errors, path: &Path<'_>, labels: &Value) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        errors.all_invalid(path, key, &names::qualified(key));
        errors.all_invalid(path, value, &names::label_value(value));
    }
}

/// Annotations, whose keys may have upper case letters in front of the slash, and which have a size.
pub(in crate::in_process) fn annotations(errors: &mut Errors, path: &Path<'_>, annotations: &Value) {
    const LIMIT: usize = 256 * 1024;
    let mut size = 0;
    for (key, value) in annotations.as_object().into_iter().flatten() {
        errors.all_invalid(path, key, &names::qualified(&key.to_lowercase()));
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > LIMIT {
        errors.too_long(path, LIMIT);
    }
}

/// A selector as errors show it.
pub(in crate::in_process) struct Selector<'v>(pub(in crate::in_process) &'v Value);

impl Shown for Selector<'_> {
    fn shown(self) -> String {
        super::errors::json(self.0, &["matchLabels", "key", "operator"])
    }
}

/// A selector by labels, if there is one.
pub(in crate::in_process) fn selector(errors: &mut Errors, path: &Path<'_>, selector: &Value) {
    labels(errors, &path.child("matchLabels"), at(selector, "matchLabels"));
    for (index, requirement) in items(selector, "matchExpressions") {
        self::requirement(errors, &path.child("matchExpressions").index(index), requirement);
    }
}

/// Whether a selector has no condition, so that it selects everything.
pub(in crate::in_process) fn selects_all(selector: &Value) -> bool {
    count(selector, "matchLabels") + count(selector, "matchExpressions") == 0
}

fn requirement(errors: &mut Errors, path: &Path<'_>, requirement: &Value) {
    let (operator, key) = (text(requirement, "operator"), text(requirement, "key"));
    let values = count(requirement, "values");
    match operator {
        "In" | "NotIn" if values == 0 => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.required(&path.child("values"), detail);
        }
        "Exists" | "DoesNotExist" if values > 0 => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.forbidden(&path.child("values"), detail);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => errors.invalid(&path.child("operator"), other, "not a valid selector operator"),
    }
    errors.all_invalid(&path.child("key"), key, &names::qualified(key));
    for (index, value) in items(requirement, "values") {
        let value = value.as_str().unwrap_or_default();
        errors.all_invalid(&path.child("values").index(index), value, &names::label_value(value));
    }
}

/// Whether the labels fulfil a selector that has been checked. The one without conditions selects everything.
pub(in crate::in_process) fn matches(selector: &Value, labels: &Value) -> bool {
    let of = |key: &str| labels.get(key).and_then(Value::as_str);
    entries(selector, "matchLabels").all(|(key, value)| of(key) == value.as_str())
        && items(selector, "matchExpressions").all(|(_, requirement)| {
            let found = of(text(requirement, "key"));
            let listed =
                items(requirement, "values").any(|(_, value)| value.as_str() == found && found.is_some());
            match text(requirement, "operator") {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => found.is_some(),
                "DoesNotExist" => found.is_none(),
                _ => false,
            }
        })
}

/// A count or a share, neither negative.
pub(in crate::in_process) fn count_or_share(errors: &mut Errors, path: &Path<'_>, value: &Value) {
    match value {
        Value::String(share) => errors.all_invalid(path, share, &names::percent(share)),
        number => not_negative(errors, path, number),
    }
}

/// A share that is more than everything.
pub(in crate::in_process) fn at_most_all(errors: &mut Errors, path: &Path<'_>, value: &Value) {
    if share(value).is_some_and(|share| share > 100) {
        errors.invalid(path, value, "must not be greater than 100%");
    }
}

/// The number of a share: 25 of `25%`.
pub(in crate::in_process) fn share(value: &Value) -> Option<i64> {
    let share = value.as_str().filter(|text| names::percent(text).is_empty())?;
    share.trim_end_matches('%').parse().ok()
}

/// A value of the new object that must be that of the old one.
pub(in crate::in_process) fn immutable(errors: &mut Errors, path: &Path<'_>, new: &Value, old: &Value) {
    if !super::read::same(new, old) {
        errors.invalid(path, new, "field is immutable");
    }
}

/// The number in a field, zero where it is absent.
pub(in crate::in_process) fn number(value: &Value, field: &str) -> i64 {
    int(value, field).unwrap_or_default()
}

/// A path below a domain: `example.com/controller`.
pub(in crate::in_process) fn domain_path(errors: &mut Errors, path: &Path<'_>, value: &str) {
    if value.is_empty() {
        return errors.required(path, "");
    }
    let (host, rest) = match value.split_once('/') {
        Some((host, rest)) if !host.is_empty() && !rest.is_empty() => (host, rest),
        _ => {
            let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            return errors.invalid(path, value, detail);
        }
    };
    errors.all_invalid(path, host, &names::dns_subdomain(host));
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
    if !rest.bytes().all(inner) {
        let detail = names::mismatch("Invalid path", "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+", &[]);
        errors.invalid(path, rest, &detail);
    }
}
