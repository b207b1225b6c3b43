//! Objects in Go's form: read into a Go type, and written again.
//!
//! Unknown fields are removed, null is converted as the type requires, empty fields are omitted or not, quantities and
//! times have one form each.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Number, Value};

use super::{
    quantity,
    recorded::{Go, GoField, RECORDED, StructId},
};
use crate::in_process::go::time;

/// A value as Go reads and writes it; the error says what doesn't fit.
pub(super) fn canonical(go: &Go, value: Value) -> Result<Value, String> {
    read(go, value, &Place::default(), false)
}

/// The metadata of an object of any kind.
pub(super) fn canonical_metadata(metadata: Value) -> Result<Value, String> {
    let Some((go, _)) = RECORDED.metadata() else { return Ok(metadata) };
    let root = Place::default();
    read(&go, metadata, &Place { within: Some(&root), name: "metadata", ..root }, false)
}

/// The position of a value. It is rendered only for errors.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    within: Option<&'a Place<'a>>,
    name: &'a str,
    /// The embedded type that has the field.
    embedded: Option<&'a str>,
    /// The struct whose field it is.
    of: Option<StructId>,
    /// What Go calls its type, where that doesn't follow from its form.
    called: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// The place of an item of a list, or of an entry of a map: the path is that of the whole.
    fn inner(&self, prefix: &str) -> Place<'a> {
        Place { called: self.called.and_then(|called| called.strip_prefix(prefix)), ..*self }
    }

    /// What Go says of a value that is of another type.
    fn mismatch(&self, value: &Value, go: &Go) -> String {
        let number = match value {
            Value::Number(number) if matches!(go, Go::Number | Go::IntOrString) => format!("number {number}"),
            other => form(other).to_owned(),
        };
        let called = self.called.map_or_else(|| name(go), str::to_owned);
        match self.of {
            Some(of) => {
                let of = RECORDED.name(of);
                let of = of.rsplit_once('.').map_or(of, |(_, name)| name);
                format!("json: cannot unmarshal {number} into Go struct field {of}.{self} of type {called}")
            }
            None => format!("json: cannot unmarshal {number} into Go value of type {called}"),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(within) = self.within.filter(|within| within.within.is_some()) {
            write!(f, "{within}.")?;
        }
        match self.embedded {
            Some(embedded) => write!(f, "{embedded}.{}", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// A value as Go has it in memory, where an empty list is not the same as none.
pub(super) fn in_memory(go: &Go, value: Value) -> Result<Value, String> {
    read(go, value, &Place::default(), true)
}

fn read(go: &Go, value: Value, place: &Place<'_>, with_empty: bool) -> Result<Value, String> {
    match (go, value) {
        (Go::Pointer(_), Value::Null) => Ok(Value::Null),
        (Go::Pointer(to), value) => read(to, value, place, with_empty),
        (Go::Struct(name), value @ (Value::Null | Value::Object(_))) => {
            let mut fields = match value {
                Value::Object(fields) => fields,
                _ => Map::new(),
            };
            let mut fields_read = Map::new();
            for (field, described) in RECORDED.fields(*name) {
                let value = fields.remove(field);
                if value.is_none() && described.vanishes() {
                    continue;
                }
                let called = described.called.as_deref();
                let embedded = described.within.as_deref();
                let place = Place { within: Some(place), name: field, embedded, of: Some(*name), called };
                let value = read(&described.go, value.unwrap_or_default(), &place, with_empty)?;
                if is_written(described, &value) || with_empty && (value.is_array() || value.is_object()) {
                    fields_read.insert(field.clone(), value);
                }
            }
            Ok(Value::Object(fields_read))
        }
        (Go::List(item), Value::Array(items)) => {
            let place = place.inner("[]");
            let items = items.into_iter().map(|value| read(item, value, &place, with_empty));
            Ok(Value::Array(items.collect::<Result<_, _>>()?))
        }
        (Go::Map(of), Value::Object(entries)) => {
            let place = place.inner("map[string]");
            let entries = entries.into_iter().map(|(key, value)| {
                let value = read(of, value, &place, with_empty)?;
                Ok::<_, String>((key, value))
            });
            Ok(Value::Object(entries.collect::<Result<_, _>>()?))
        }
        (Go::List(_) | Go::Map(_) | Go::Bytes | Go::Time | Go::MicroTime | Go::Any, Value::Null) => {
            Ok(Value::Null)
        }
        // The bytes of a revision are kept.
        (Go::Any, value) if place.of.is_some_and(|of| RECORDED.name(of).ends_with(".ControllerRevision")) => {
            Ok(value)
        }
        (Go::Any, value) => Ok(normal(value)),
        (Go::Text, Value::Null) => Ok(Value::String(String::new())),
        (Go::Bool, Value::Null) => Ok(Value::Bool(false)),
        (Go::Number | Go::IntOrString, Value::Null) => Ok(Value::Number(0.into())),
        (Go::Quantity, Value::Null) => Ok(Value::String("0".to_owned())),
        (Go::Text, value @ Value::String(_)) | (Go::Bool, value @ Value::Bool(_)) => Ok(value),
        (Go::IntOrString, value @ Value::String(_)) => Ok(value),
        (Go::Number | Go::IntOrString, value @ Value::Number(_)) if !fits(&value, place) => {
            Err(place.mismatch(&value, go))
        }
        (Go::Number | Go::IntOrString, value @ Value::Number(_)) => Ok(normal(value)),
        (Go::Bytes, Value::String(text)) => bytes(text),
        (Go::Time, Value::String(text)) => time(&text, false),
        (Go::MicroTime, Value::String(text)) => time(&text, true),
        (Go::Quantity, Value::Number(number)) => quantity::normal(&number.to_string()).map(Value::String),
        (Go::Quantity, Value::String(text)) => quantity::normal(&text).map(Value::String),
        (go, value) => Err(place.mismatch(&value, go)),
    }
}

/// Whether a number is one of the Go type's: whole, and most have 32 bits.
fn fits(value: &Value, place: &Place<'_>) -> bool {
    place.called == Some("float64")
        || value.as_i64().is_some_and(|number| place.called.is_some() || i32::try_from(number).is_ok())
}

/// Whether a field is written, with this value.
fn is_written(field: &GoField, value: &Value) -> bool {
    if field.omit_zero && value.is_null() {
        return false;
    }
    !field.omit_empty
        || match (&field.go, value) {
            (Go::Pointer(_), value) => !value.is_null(),
            (Go::Struct(_) | Go::Time | Go::MicroTime | Go::Quantity | Go::IntOrString, _) => true,
            (Go::Any, value) => !value.is_null(),
            (_, Value::Null) => false,
            (_, Value::String(text)) => !text.is_empty(),
            (_, Value::Bool(value)) => *value,
            (_, Value::Number(number)) => number.as_f64() != Some(0.0),
            (_, Value::Array(items)) => !items.is_empty(),
            (_, Value::Object(map)) => !map.is_empty(),
        }
}

/// What storage makes of a value: it doesn't distinguish an empty list from none.
pub(super) fn stored(go: &Go, value: &mut Value) {
    match (go, &mut *value) {
        (Go::Pointer(to), value) => stored(to, value),
        (Go::Struct(name), Value::Object(fields)) => {
            for (field, described) in RECORDED.fields(*name) {
                if let Some(value) = fields.get_mut(field) {
                    stored(&described.go, value);
                }
            }
        }
        (Go::List(_), Value::Array(items)) if items.is_empty() => *value = Value::Null,
        (Go::Map(_), Value::Object(map)) if map.is_empty() => *value = Value::Null,
        (Go::List(item), Value::Array(items)) => items.iter_mut().for_each(|value| stored(item, value)),
        // In a map there is no place for nothing.
        (Go::Map(of), Value::Object(map)) if **of == Go::Bytes => {
            map.values_mut().filter(|value| value.is_null()).for_each(|value| *value = Value::from(""));
        }
        (Go::Map(of), Value::Object(map)) => map.values_mut().for_each(|value| stored(of, value)),
        _ => {}
    }
}

/// A value with amounts instead of the forms in which quantities are written.
pub(super) fn with_amounts(go: &Go, value: &Value) -> Value {
    match (go, value) {
        (Go::Pointer(to), value) => with_amounts(to, value),
        (Go::Struct(name), Value::Object(fields)) => {
            let known = RECORDED.fields(*name);
            let fields = fields.iter().map(|(name, value)| {
                let value =
                    known.get(name).map_or_else(|| value.clone(), |field| with_amounts(&field.go, value));
                (name.clone(), value)
            });
            Value::Object(fields.collect())
        }
        (Go::List(item), Value::Array(items)) => {
            items.iter().map(|value| with_amounts(item, value)).collect()
        }
        (Go::Map(of), Value::Object(entries)) => {
            let entries = entries.iter().map(|(name, value)| (name.clone(), with_amounts(of, value)));
            Value::Object(entries.collect())
        }
        (Go::Quantity, Value::String(text)) => {
            quantity::exact(text).map_or_else(|_| value.clone(), Value::from)
        }
        (_, value) => value.clone(),
    }
}

/// Whether two values are equal, with 1.0 equal to 1.
pub(super) fn equal(one: &Value, two: &Value) -> bool {
    equal_by(one, two, |left, right| {
        left == right || !(left.is_i64() && right.is_i64()) && left.as_f64() == right.as_f64()
    })
}

/// Whether Go has two values of the same types in memory: an integer of 64 bits is none that was written with a point, and
/// all other numbers are floats.
pub(super) fn same_in_memory(one: &Value, two: &Value) -> bool {
    equal_by(one, two, |left, right| match left.is_i64() || right.is_i64() {
        true => left == right,
        false => left.as_f64() == right.as_f64(),
    })
}

/// Whether two values are equal, with numbers as `numbers` says.
fn equal_by(one: &Value, two: &Value, numbers: fn(&Number, &Number) -> bool) -> bool {
    let equal = |left: &Value, right: &Value| equal_by(left, right, numbers);
    match (one, two) {
        (Value::Number(left), Value::Number(right)) => numbers(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| equal(left, right)))
        }
        (left, right) => left == right,
    }
}

/// Numbers have one form: 1.0 is 1.
pub(in crate::in_process) fn normal(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(&number).unwrap_or(number)),
        Value::Array(items) => Value::Array(items.into_iter().map(normal).collect()),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, normal(value))).collect())
        }
        other => other,
    }
}

/// A float without a fraction as Go writes and reads it again: with as few digits as tell it from others, and zeros.
fn whole(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|_| !number.is_i64())?;
    if float.fract() != 0.0 || float.abs() >= 1e21 {
        return None;
    }
    let shown = float.to_string();
    shown.parse::<i64>().map(Number::from).or_else(|_| shown.parse::<u64>().map(Number::from)).ok()
}

fn bytes(text: String) -> Result<Value, String> {
    let data = text.trim_end_matches('=');
    let alphabet = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    match data.bytes().position(|byte| !alphabet(byte)) {
        None if text.len().is_multiple_of(4) && text.len() - data.len() < 3 => Ok(Value::String(text)),
        wrong => Err(format!(
            "illegal base64 data at input byte {}",
            wrong.unwrap_or(text.len().saturating_sub(text.len() % 4))
        )),
    }
}

fn time(text: &str, micros: bool) -> Result<Value, String> {
    let time = time::parse(if micros { time::MICROS } else { time::SECONDS }, text)?;
    Ok(match time {
        none if time::is_none(none) => Value::Null,
        time if micros => Value::String(in_micros(time)),
        time => Value::String(in_seconds(time)),
    })
}

/// A time as Kubernetes writes it.
pub(super) fn in_seconds(time: Timestamp) -> String {
    // Fractions are cut off, not rounded, also before 1970.
    let fraction = SignedDuration::from_nanos(i64::from(time.subsec_nanosecond()).rem_euclid(1_000_000_000));
    let time = time.checked_sub(fraction).unwrap_or(time);
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub(super) fn in_micros(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

fn form(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn name(go: &Go) -> String {
    match go {
        Go::Text => "string".to_owned(),
        Go::Number => "int32".to_owned(),
        Go::Bool => "bool".to_owned(),
        // These read themselves, from a text or a number.
        Go::Time | Go::MicroTime => "string".to_owned(),
        Go::IntOrString => "int32".to_owned(),
        Go::Quantity => "resource.Quantity".to_owned(),
        Go::Bytes => "[]uint8".to_owned(),
        Go::Any => "interface {}".to_owned(),
        Go::Struct(id) => {
            let name = RECORDED.name(*id);
            name.split_once('.').map_or(name, |(_, name)| name).to_owned()
        }
        Go::Pointer(to) => name(to),
        Go::List(item) => format!("[]{}", whole_name(item)),
        Go::Map(of) => format!("map[string]{}", whole_name(of)),
    }
}

/// The name of a type as a part of another's.
fn whole_name(go: &Go) -> String {
    match go {
        Go::Time => "v1.Time".to_owned(),
        Go::MicroTime => "v1.MicroTime".to_owned(),
        Go::IntOrString => "intstr.IntOrString".to_owned(),
        other => name(other),
    }
}
