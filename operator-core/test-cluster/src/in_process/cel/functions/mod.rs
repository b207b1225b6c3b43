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
