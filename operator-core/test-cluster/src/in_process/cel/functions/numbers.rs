//! Arithmetic and conversions.

use std::borrow::Cow;

use super::super::value::{Error, Result, Val};
use super::show as shown;
use crate::in_process::go::duration;

const OVERFLOW: &str = "integer overflow";
const UNSIGNED: &str = "unsigned integer overflow";

pub(super) fn apply<'v>(function: &str, values: &[Val<'v>]) -> Option<Result<Val<'v>>> {
    let int = |value: Option<i64>| value.map(Val::Int).ok_or_else(|| Error::new(OVERFLOW));
    let uint = |value: Option<u64>| value.map(Val::Uint).ok_or_else(|| Error::new(UNSIGNED));
    let length = |value: Option<i64>| value.map(Val::Duration).ok_or_else(|| Error::new("duration overflow"));
    Some(match (function, values) {
        ("_+_", [Val::Int(a), Val::Int(b)]) => int(a.checked_add(*b)),
        ("_+_", [Val::Uint(a), Val::Uint(b)]) => uint(a.checked_add(*b)),
        ("_+_", [Val::Double(a), Val::Double(b)]) => Ok(Val::Double(a + b)),
        ("_+_", [Val::String(a), Val::String(b)]) => Ok(Val::text(format!("{a}{b}"))),
        ("_+_", [Val::Bytes(a), Val::Bytes(b)]) => Ok(Val::Bytes([a.as_slice(), b].concat().into())),
        ("_+_", [Val::Duration(a), Val::Duration(b)]) => length(a.checked_add(*b)),
        ("_-_", [Val::Int(a), Val::Int(b)]) => int(a.checked_sub(*b)),
        ("_-_", [Val::Uint(a), Val::Uint(b)]) => uint(a.checked_sub(*b)),
        ("_-_", [Val::Double(a), Val::Double(b)]) => Ok(Val::Double(a - b)),
        ("_-_", [Val::Duration(a), Val::Duration(b)]) => length(a.checked_sub(*b)),
        ("_*_", [Val::Int(a), Val::Int(b)]) => int(a.checked_mul(*b)),
        ("_*_", [Val::Uint(a), Val::Uint(b)]) => uint(a.checked_mul(*b)),
        ("_*_", [Val::Double(a), Val::Double(b)]) => Ok(Val::Double(a * b)),
        ("_/_", [Val::Int(_), Val::Int(0)] | [Val::Uint(_), Val::Uint(0)]) => {
            Err(Error::new("division by zero"))
        }
        ("_/_", [Val::Int(a), Val::Int(b)]) => int(a.checked_div(*b)),
        ("_/_", [Val::Uint(a), Val::Uint(b)]) => uint(a.checked_div(*b)),
        ("_/_", [Val::Double(a), Val::Double(b)]) => Ok(Val::Double(a / b)),
        ("_%_", [Val::Int(_), Val::Int(0)] | [Val::Uint(_), Val::Uint(0)]) => {
            Err(Error::new("modulus by zero"))
        }
        ("_%_", [Val::Int(a), Val::Int(b)]) => int(a.checked_rem(*b)),
        ("_%_", [Val::Uint(a), Val::Uint(b)]) => uint(a.checked_rem(*b)),
        ("-_", [Val::Int(a)]) => int(a.checked_neg()),
        ("-_", [Val::Double(a)]) => Ok(Val::Double(-a)),
        ("int" | "uint" | "double" | "string" | "bool" | "bytes", [value]) => convert(function, value),
        _ => return None,
    })
}

fn convert<'v>(to: &str, value: &Val<'v>) -> Result<Val<'v>> {
    let wrong = |from: &str| Err(Error::new(format!("type conversion error from '{from}' to '{to}'")));
    match (to, value) {
        ("int", Val::Int(_)) | ("uint", Val::Uint(_)) | ("double", Val::Double(_)) => Ok(value.clone()),
        ("string", Val::String(_)) | ("bool", Val::Bool(_)) | ("bytes", Val::Bytes(_)) => Ok(value.clone()),
        ("int", Val::Uint(number)) => i64::try_from(*number).map(Val::Int).map_err(|_| Error::new(OVERFLOW)),
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        ("int", Val::Double(number)) => {
            if number.is_finite() && number.abs() < 9_223_372_036_854_775_807.0 {
                Ok(Val::Int(*number as i64))
            } else {
                Err(Error::new(OVERFLOW))
            }
        }
        ("int", Val::String(text)) => go_int(text).map(Val::Int).map_or_else(|| wrong("string"), Ok),
        ("int", Val::Duration(nanoseconds)) => Ok(Val::Int(*nanoseconds)),
        ("int", Val::Timestamp(time)) => Ok(Val::Int(time.as_second())),
        ("uint", Val::Int(number)) => u64::try_from(*number).map(Val::Uint).map_err(|_| Error::new(UNSIGNED)),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
        ("uint", Val::Double(number)) => {
            if (0.0..18_446_744_073_709_551_615.0).contains(number) {
                Ok(Val::Uint(*number as u64))
            } else {
                Err(Error::new(UNSIGNED))
            }
        }
        ("uint", Val::String(text)) => text.parse().map(Val::Uint).or_else(|_| wrong("string")),
        ("double", Val::Int(_) | Val::Uint(_)) => Ok(Val::Double(value.float().unwrap_or_default())),
        ("double", Val::String(text)) => text.parse().map(Val::Double).or_else(|_| wrong("string")),
        ("string", Val::Bytes(bytes)) => String::from_utf8(bytes.to_vec())
            .map(Val::text)
            .map_err(|_| Error::new("invalid UTF-8 in bytes, cannot convert to string")),
        ("string", Val::Duration(nanoseconds)) => Ok(Val::text(seconds(*nanoseconds))),
        ("string", Val::List(_) | Val::Map(_) | Val::Object(_) | Val::Optional(_) | Val::Null) => {
            wrong(value.kind().runtime_name())
        }
        ("string", value) => Ok(Val::text(shown(value))),
        ("bool", Val::String(text)) => match &**text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Val::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Val::Bool(false)),
            _ => wrong("string"),
        },
        ("bytes", Val::String(text)) => Ok(Val::Bytes(Cow::clone(text).into_owned().into_bytes().into())),
        _ => Err(Error::overload()),
    }
}

fn go_int(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// A duration as a text: in seconds.
fn seconds(nanoseconds: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "as the real server writes it")]
    let seconds = nanoseconds as f64 / 1e9;
    let _ = duration::show;
    format!("{seconds}s")
}

/// A float in Go's shortest notation.
pub(super) fn show(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    crate::in_process::fields::show_float(number)
}
