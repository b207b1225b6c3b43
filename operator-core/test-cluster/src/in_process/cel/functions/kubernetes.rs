//! Quantities, semantic versions and named formats.

use std::{cmp::Ordering, sync::Arc};

use semver::Version;

use super::super::value::{Error, Result, Val};
use crate::in_process::{
    fields::{is_valid_format, nanos},
    go::uri::Uri,
    validate,
};

const NANOS: i128 = 1_000_000_000;

pub(super) fn apply<'v>(function: &str, values: &[Val<'v>]) -> Option<Result<Val<'v>>> {
    if let Some(name) = function.strip_prefix("format.")
        && values.is_empty()
    {
        return format_name(name).map(|name| Ok(Val::Format(name)));
    }
    let order = |order: Ordering| Ok(Val::Int(order as i64));
    Some(match (function, values) {
        ("quantity", [Val::String(text)]) => nanos(text).map(Val::Quantity).map_err(Error::new),
        ("isQuantity", [Val::String(text)]) => Ok(Val::Bool(nanos(text).is_ok())),
        ("sign", [Val::Quantity(number)]) => {
            Ok(Val::Int(if *number == 0 { 0 } else { number.signum() as i64 }))
        }
        ("isGreaterThan", [Val::Quantity(one), Val::Quantity(two)]) => Ok(Val::Bool(one > two)),
        ("isLessThan", [Val::Quantity(one), Val::Quantity(two)]) => Ok(Val::Bool(one < two)),
        ("compareTo", [Val::Quantity(one), Val::Quantity(two)]) => order(one.cmp(two)),
        #[expect(clippy::cast_precision_loss, reason = "it is an approximation")]
        ("asApproximateFloat", [Val::Quantity(number)]) => Ok(Val::Double(*number as f64 / 1e9)),
        ("isInteger", [Val::Quantity(number)]) => Ok(Val::Bool(integer(*number).is_some())),
        ("asInteger", [Val::Quantity(number)]) => {
            integer(*number).map(Val::Int).ok_or_else(|| Error::new("cannot convert value to integer"))
        }
        ("add", [Val::Quantity(one), Val::Quantity(two)]) => Ok(Val::Quantity(one.saturating_add(*two))),
        ("add", [Val::Quantity(one), Val::Int(two)]) => {
            Ok(Val::Quantity(one.saturating_add(i128::from(*two) * NANOS)))
        }
        ("sub", [Val::Quantity(one), Val::Quantity(two)]) => Ok(Val::Quantity(one.saturating_sub(*two))),
        ("sub", [Val::Quantity(one), Val::Int(two)]) => {
            Ok(Val::Quantity(one.saturating_sub(i128::from(*two) * NANOS)))
        }
        ("semver", [Val::String(text)]) => version(text, false),
        ("semver", [Val::String(text), Val::Bool(loose)]) => version(text, *loose),
        ("isSemver", [Val::String(text)]) => Ok(Val::Bool(version(text, false).is_ok())),
        ("isSemver", [Val::String(text), Val::Bool(loose)]) => Ok(Val::Bool(version(text, *loose).is_ok())),
        ("isGreaterThan", [Val::Semver(one), Val::Semver(two)]) => {
            Ok(Val::Bool(one.cmp_precedence(two).is_gt()))
        }
        ("isLessThan", [Val::Semver(one), Val::Semver(two)]) => {
            Ok(Val::Bool(one.cmp_precedence(two).is_lt()))
        }
        ("compareTo", [Val::Semver(one), Val::Semver(two)]) => order(one.cmp_precedence(two)),
        ("major", [Val::Semver(of)]) => Ok(number(of.major)),
        ("minor", [Val::Semver(of)]) => Ok(number(of.minor)),
        ("patch", [Val::Semver(of)]) => Ok(number(of.patch)),
        ("format.named", [Val::String(name)]) => {
            Ok(Val::Optional(format_name(name).map(|name| Arc::new(Val::Format(name)))))
        }
        ("validate", [Val::Format(name), Val::String(text)]) => {
            let wrong = check(name, text);
            let wrong = (!wrong.is_empty()).then(|| Val::list(wrong.into_iter().map(Val::text).collect()));
            Ok(Val::Optional(wrong.map(Arc::new)))
        }
        _ => return None,
    })
}

fn integer(nanos: i128) -> Option<i64> {
    (nanos % NANOS == 0).then(|| i64::try_from(nanos / NANOS).ok()).flatten()
}

fn number<'v>(number: u64) -> Val<'v> {
    Val::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A version; loosely, with a `v` before it, zeros before its numbers, and without the last of them.
fn version<'v>(text: &str, loose: bool) -> Result<Val<'v>> {
    let mut text = text.to_owned();
    if loose {
        let trimmed = text.strip_prefix('v').unwrap_or(&text).to_owned();
        let end = trimmed.find(['-', '+']).unwrap_or(trimmed.len());
        let (numbers, rest) = trimmed.split_at(end);
        let mut numbers: Vec<String> = numbers
            .split('.')
            .map(|number| match number.trim_start_matches('0') {
                "" if !number.is_empty() => "0".to_owned(),
                number => number.to_owned(),
            })
            .collect();
        if rest.is_empty() {
            while numbers.len() < 3 {
                numbers.push("0".to_owned());
            }
        }
        text = format!("{}{rest}", numbers.join("."));
    }
    Version::parse(&text)
        .map(|version| Val::Semver(Arc::new(version)))
        .map_err(|_| Error::new("No Major.Minor.Patch elements found"))
}

const FORMATS: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

fn format_name(name: &str) -> Option<&'static str> {
    FORMATS.into_iter().find(|known| *known == name)
}

/// What is wrong with a text.
fn check(format: &str, text: &str) -> Vec<String> {
    // A prefix may end in a hyphen, because something follows it.
    let prefix = || text.strip_suffix('-').map_or_else(|| text.to_owned(), |text| format!("{text}a"));
    let said = |why: Option<String>| why.into_iter().collect::<Vec<_>>();
    let other = |why: &str| if is_valid_format(format, text) { Vec::new() } else { vec![why.to_owned()] };
    match format {
        "dns1123Label" => validate::wrong_label(text),
        "dns1123LabelPrefix" => validate::wrong_label(&prefix()),
        "dns1123Subdomain" => validate::wrong_subdomain(text),
        "dns1123SubdomainPrefix" => validate::wrong_subdomain(&prefix()),
        "dns1035Label" => said(validate::wrong_label_1035(text)),
        "dns1035LabelPrefix" => said(validate::wrong_label_1035(&prefix())),
        "qualifiedName" => said(validate::wrong_key(text)),
        "labelValue" => said(validate::wrong_label_value(text)),
        "uri" => said(Uri::request(text).err()),
        "uuid" => other("does not match the UUID format"),
        "byte" => other("invalid base64"),
        "date" => other("invalid date"),
        _ => other("invalid datetime"),
    }
}
