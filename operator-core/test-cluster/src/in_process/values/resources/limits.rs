//! LimitRanges: limits that fit each other. Pure.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::{
    errors::Errors,
    names,
    path::Path,
    quantity,
    read::{at, count, entries, items, text},
};

const FIELDS: [&str; 5] = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

pub(super) fn changed(new: &Value, _old: &Value, errors: &mut Errors) {
    range(new, errors);
}

pub(super) fn range(range: &Value, errors: &mut Errors) {
    let path = Path::root("spec");
    let path = path.child("limits");
    let mut known = BTreeSet::new();
    for (index, limit) in items(at(range, "spec"), "limits") {
        let path = path.index(index);
        let of = text(limit, "type");
        let place = path.child("type");
        let wrong = names::qualified(of);
        errors.all_invalid(&place, of, &wrong);
        if wrong.is_empty()
            && !of.contains('/')
            && !matches!(of, "Container" | "PersistentVolumeClaim" | "Pod")
        {
            errors.invalid(&place, of, "must be a standard limit type or fully qualified");
        }
        if !known.insert(of) {
            errors.duplicate(&place, of);
        }
        let mut names = BTreeSet::new();
        for field in FIELDS {
            let place = path.child(field);
            if of == "Pod" && field.starts_with("default") {
                if count(limit, field) > 0 {
                    errors.forbidden(&place, "may not be specified when `type` is 'Pod'");
                }
                continue;
            }
            if of == "PersistentVolumeClaim" && field == "maxLimitRequestRatio" {
                let given = |field| !at(at(limit, field), "storage").is_null();
                if !given("min") && !given("max") {
                    let detail =
                        "either minimum or maximum storage value is required, but neither was provided";
                    errors.required(&path.child("limits"), detail);
                }
            }
            for (name, _) in entries(limit, field) {
                let place = place.key(name);
                match of {
                    "Pod" | "Container" => quantity::container_resource(errors, &place, name),
                    _ => quantity::any_resource(errors, &place, name),
                }
                names.insert(name);
            }
        }
        names.into_iter().for_each(|name| fit(errors, &path, limit, name));
    }
}

/// Whether the limits of one resource fit each other.
fn fit(errors: &mut Errors, path: &Path<'_>, limit: &Value, name: &str) {
    let of_pod = text(limit, "type") == "Pod";
    let given = |field: &str| {
        let amount = at(at(limit, field), name).as_str().filter(|_| !of_pod || !field.starts_with("default"));
        amount.map(|amount| (amount, quantity::amount(amount)))
    };
    let [max, min, default, request, ratio] = FIELDS.map(given);
    let mut less =
        |field: &str, low: Option<(&str, i128)>, high: Option<(&str, i128)>, words: [&str; 2], shows_low| {
            if let (Some((low, least)), Some((high, most))) = (low, high)
                && least > most
            {
                let detail = format!("{} {low} is greater than {} {high}", words[0], words[1]);
                errors.invalid(&path.child(field).key(name), if shows_low { low } else { high }, &detail);
            }
        };
    less("min", min, max, ["min value", "max value"], true);
    less("defaultRequest", min, request, ["min value", "default request value"], false);
    less("defaultRequest", request, max, ["default request value", "max value"], true);
    less("defaultRequest", request, default, ["default request value", "default limit value"], true);
    less("default", min, default, ["min value", "default value"], true);
    less("default", default, max, ["default value", "max value"], false);
    if let Some((shown, ratio)) = ratio {
        let place = path.child("maxLimitRequestRatio");
        let place = place.key(name);
        if ratio < 1_000_000_000 {
            errors.invalid(&place, shown, &format!("ratio {shown} is less than 1"));
        }
        if let (Some((_, min)), Some((_, max))) = (min, max) {
            // As the real server, in floating point of thousandths.
            #[expect(clippy::cast_precision_loss, reason = "a ratio is no exact number there, too")]
            let (most, ratio) = (max as f64 / min as f64, ratio as f64 / 1e9);
            if ratio > most {
                errors.invalid(&place, shown, &format!("ratio {shown} is greater than max/min = {most:.6}"));
            }
        }
    }
    if let (Some((default, one)), Some((request, other))) = (default, request)
        && one != other
        && !quantity::may_be_overcommitted(name)
    {
        let detail =
            format!("default value {default} must equal to defaultRequest value {request} in {name}");
        errors.invalid(&path.child("defaultRequest").key(name), request, &detail);
    }
}
