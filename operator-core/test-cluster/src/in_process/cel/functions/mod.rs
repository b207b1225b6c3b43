//! The functions of expressions.
//!
//! Each file knows some; which function a name stands for depends on its arguments, whose types were checked.

mod format;
mod kubernetes;
mod lists;
mod network;
mod numbers;
mod strings;
mod times;

use super::value::{Error, Result, Val};
use crate::in_process::go::duration;

/// Calls a function. Of a member, the first value is what it is called on.
pub(super) fn apply<'v>(function: &str, is_member: bool, values: &[Val<'v>]) -> Result<Val<'v>> {
    let found = numbers::apply(function, values)
        .or_else(|| strings::apply(function, values))
        .or_else(|| lists::apply(function, is_member, values))
        .or_else(|| times::apply(function, values))
        .or_else(|| network::apply(function, values))
        .or_else(|| kubernetes::apply(function, values))
        .or_else(|| general(function, values));
    found.unwrap_or_else(|| Err(Error::overload()))
}

fn general<'v>(function: &str, values: &[Val<'v>]) -> Option<Result<Val<'v>>> {
    Some(match (function, values) {
        ("type", [value]) => Ok(Val::Type(value.kind().into())),
        ("dyn", [value]) => Ok(value.clone()),
        (
            "size",
            [value @ (Val::String(_) | Val::Bytes(_) | Val::List(_) | Val::Map(_) | Val::Object(_))],
        ) => Ok(count(value.size())),
        ("optional.of", [value]) => Ok(Val::Optional(Some(value.clone().into()))),
        ("optional.ofNonZeroValue", [value]) => {
            Ok(Val::Optional((!is_zero(value)).then(|| value.clone().into())))
        }
        ("optional.none", []) => Ok(Val::Optional(None)),
        ("value", [Val::Optional(Some(value))]) => Ok((**value).clone()),
        ("value", [Val::Optional(None)]) => Err(Error::new("optional.none() dereference")),
        ("hasValue", [Val::Optional(value)]) => Ok(Val::Bool(value.is_some())),
        _ => return None,
    })
}

fn is_zero(value: &Val<'_>) -> bool {
    match value {
        Val::Null => true,
        Val::Bool(value) => !value,
        Val::Int(_) | Val::Uint(_) | Val::Double(_) => value.float() == Some(0.0),
        Val::String(_) | Val::Bytes(_) | Val::List(_) | Val::Map(_) | Val::Object(_) => value.size() == 0,
        Val::Duration(duration) => *duration == 0,
        _ => false,
    }
}

/// A number of things.
fn count(size: usize) -> Val<'static> {
    Val::Int(i64::try_from(size).unwrap_or(i64::MAX))
}

/// A value in Go's notation.
pub(super) fn show(value: &Val<'_>) -> String {
    match value {
        Val::Null => "null".to_owned(),
        Val::Bool(value) => value.to_string(),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => numbers::show(*value),
        Val::String(text) => text.to_string(),
        Val::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Val::Timestamp(time) => time.to_string(),
        Val::Duration(nanoseconds) => duration::show(*nanoseconds),
        Val::Ip(address) => address.to_string(),
        Val::Cidr(address, length) => format!("{address}/{length}"),
        Val::Url(url) => url.text.clone(),
        Val::Semver(version) => version.to_string(),
        Val::Type(of) => of.runtime_name().to_owned(),
        other => other.kind().runtime_name().to_owned(),
    }
}

/// What a call costs, besides its arguments.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs are computed so by the real server"
)]
pub(super) fn cost(function: &str, values: &[Val<'_>], result: Option<&Val<'_>>) -> u64 {
    let size = |at: usize| values.get(at).map_or(1, Val::size) as f64;
    let by = |size: f64, factor: f64| (size * factor).ceil() as u64;
    let is_long = |value: &Val<'_>| matches!(value, Val::String(_) | Val::Bytes(_));
    match function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => values.first().map_or(0, traversal),
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR" | "ip"
        | "quantity" | "isQuantity" | "semver" | "isSemver" => by(size(0), 0.1),
        "replace" | "split" | "ip.isCanonical" => by(size(0), 0.2),
        "join" => by(result.map_or(1, Val::size) as f64, 0.2),
        "find" | "findAll" | "matches" => by(1.0 + size(0), 0.1).saturating_mul(by(size(1), 0.25)),
        "contains" => by(size(0), 0.1).saturating_mul(by(size(1), 0.1)),
        "startsWith" | "endsWith" => by(size(1), 0.1),
        "bytes" | "string" | "strings.quote" | "format" if values.first().is_some_and(is_long) => {
            by(size(0), 0.1)
        }
        "_+_" if values.first().is_some_and(is_long) => by(size(0) + size(1), 0.1),
        "@in" if matches!(values.get(1), Some(Val::List(_))) => size(1) as u64,
        "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" => by(size(0).min(size(1)), 0.1),
        "validate" => by(1.0 + size(1), 0.1).saturating_mul(16),
        _ => 1,
    }
}

fn traversal(value: &Val<'_>) -> u64 {
    match value {
        Val::String(text) => u64::try_from(text.len() / 10).unwrap_or(u64::MAX),
        Val::Bytes(bytes) => u64::try_from(bytes.len() / 10).unwrap_or(u64::MAX),
        Val::List(list) => list.items.iter().map(traversal).sum(),
        _ => 1,
    }
}
