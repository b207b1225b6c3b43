//! Bodies in protobuf, as Go's typed clients send them, read into JSON. Pure.
//!
//! ```text
//!  "k8s\0" + (apiVersion, kind, bytes) ─▶ the kind's recorded type ─▶ its fields by their numbers ─▶ JSON
//! ```
//!
//! # Guarantees
//! - What is read is what the same client would have sent as JSON.
//!
//! # Assumptions
//! - A broken recording is an empty one: nothing is read then, and a test fails.

use std::{collections::BTreeMap, sync::LazyLock};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::{
    canonical::{in_micros, in_seconds},
    recorded::{Go, RECORDED, StructId},
};

/// The name of each field by its number, by type; with `~` that of an embedded type.
static NUMBERS: LazyLock<BTreeMap<String, BTreeMap<u64, String>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("recorded/protobuf.json")).unwrap_or_default());

/// Reads a body; `None` if it is of a type that isn't recorded, or broken.
pub(in crate::in_process) fn read(body: &[u8]) -> Option<Value> {
    let envelope = fields(body.strip_prefix(b"k8s\0")?)?;
    let part = |wanted: u64| envelope.iter().find(|(number, _)| *number == wanted).map(|(_, wire)| *wire);
    let of = fields(part(1)?.bytes()?)?;
    let text = |wanted: u64| {
        let found = of.iter().find(|(number, _)| *number == wanted);
        found.and_then(|(_, wire)| std::str::from_utf8(wire.bytes()?).ok()).unwrap_or_default()
    };
    let (api_version, kind) = (text(1), text(2));
    // Options are sent in the version of the object that they are about.
    let of_options = if kind == "DeleteOptions" { "v1" } else { api_version };
    let (go, _) = RECORDED.id(RECORDED.kind(of_options, kind)?)?;
    let raw = part(2).and_then(Wire::bytes).unwrap_or_default();
    let mut object = value(&go, Wire::Bytes(raw))?;
    object["apiVersion"] = api_version.into();
    object["kind"] = kind.into();
    Some(object)
}

/// A value on the wire.
#[derive(Clone, Copy, Debug)]
enum Wire<'b> {
    Number(u64),
    Double(f64),
    Bytes(&'b [u8]),
}

impl<'b> Wire<'b> {
    fn bytes(self) -> Option<&'b [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// The fields of a message, in the order in which they were written.
fn fields(mut rest: &[u8]) -> Option<Vec<(u64, Wire<'_>)>> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let key = number(&mut rest)?;
        let wire = match key & 7 {
            0 => Wire::Number(number(&mut rest)?),
            1 => {
                let (bytes, after) = rest.split_first_chunk::<8>()?;
                rest = after;
                Wire::Double(f64::from_le_bytes(*bytes))
            }
            2 => {
                let length = usize::try_from(number(&mut rest)?).ok()?;
                let (bytes, after) = rest.split_at_checked(length)?;
                rest = after;
                Wire::Bytes(bytes)
            }
            _ => return None,
        };
        found.push((key >> 3, wire));
    }
    Some(found)
}

/// A number of variable length.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// A number that may be below zero.
fn signed(wire: Wire<'_>) -> Option<i64> {
    match wire {
        Wire::Number(number) => Some(i64::from_le_bytes(number.to_le_bytes())),
        _ => None,
    }
}

fn text(wire: Wire<'_>) -> Option<String> {
    String::from_utf8(wire.bytes()?.to_vec()).ok()
}

fn value(go: &Go, wire: Wire<'_>) -> Option<Value> {
    match go {
        Go::Pointer(to) => value(to, wire),
        Go::Struct(id) => {
            let mut object = Map::new();
            message(RECORDED.name(*id), *id, wire.bytes()?, &mut object)?;
            Some(Value::Object(object))
        }
        Go::Text => text(wire).map(Value::String),
        Go::Bool => signed(wire).map(|number| Value::Bool(number != 0)),
        Go::Number => match wire {
            Wire::Double(double) => Some(json!(double)),
            other => signed(other).map(Value::from),
        },
        Go::Bytes => wire.bytes().map(|bytes| STANDARD.encode(bytes).into()),
        Go::Time | Go::MicroTime => time(wire.bytes()?, *go == Go::MicroTime),
        Go::Quantity => {
            fields(wire.bytes()?)?.first().map_or(Some("0".into()), |(_, wire)| text(*wire).map(Value::from))
        }
        Go::IntOrString => {
            let parts = fields(wire.bytes()?)?;
            let part =
                |wanted: u64| parts.iter().find(|(number, _)| *number == wanted).map(|(_, wire)| *wire);
            match part(1).and_then(signed) {
                Some(1) => text(part(3)?).map(Value::from),
                _ => Some(part(2).and_then(signed).unwrap_or_default().into()),
            }
        }
        // What may be anything is JSON inside of a message.
        Go::Any => {
            let parts = fields(wire.bytes()?)?;
            parts.first().and_then(|(_, wire)| serde_json::from_slice(wire.bytes()?).ok())
        }
        // A list that is a type of its own is a message with its items.
        Go::List(item) => {
            let items = fields(wire.bytes()?)?.into_iter().map(|(_, wire)| value(item, wire));
            items.collect::<Option<Vec<_>>>().map(Value::from)
        }
        Go::Map(_) => None,
    }
}

/// Reads the fields of a message into an object; `of` is its type, `owner` the one that has its fields in JSON.
fn message(of: &str, owner: StructId, bytes: &[u8], object: &mut Map<String, Value>) -> Option<()> {
    let names = NUMBERS.get(of)?;
    for (number, wire) in fields(bytes)? {
        let Some(name) = names.get(&number) else { continue };
        if let Some(embedded) = name.strip_prefix('~') {
            message(embedded, owner, wire.bytes()?, object)?;
            continue;
        }
        let field = RECORDED.fields(owner).get(name)?;
        match &field.go {
            Go::List(item) => {
                let list = object.entry(name.clone()).or_insert_with(|| json!([]));
                let items = list.as_array_mut()?;
                match (&**item, wire) {
                    (Go::Number, Wire::Bytes(mut packed)) => {
                        while !packed.is_empty() {
                            items.push(signed(Wire::Number(self::number(&mut packed)?))?.into());
                        }
                    }
                    (item, wire) => items.push(value(item, wire)?),
                }
            }
            Go::Map(of) => {
                let entry = fields(wire.bytes()?)?;
                let part = |wanted: u64| entry.iter().find(|(number, _)| *number == wanted);
                let key = part(1).map_or_else(|| Some(String::new()), |(_, wire)| text(*wire))?;
                let found = part(2).map_or(Wire::Bytes(&[]), |(_, wire)| *wire);
                let map = object.entry(name.clone()).or_insert_with(|| json!({}));
                map.as_object_mut()?.insert(key, value(of, found)?);
            }
            go => {
                let read = value(go, wire)?;
                // Go writes each field that is no pointer, and leaves empty ones out of JSON.
                if !(field.omit_empty && is_empty(go, &read)) {
                    object.insert(name.clone(), read);
                }
            }
        }
    }
    Some(())
}

fn is_empty(go: &Go, value: &Value) -> bool {
    match go {
        Go::Text | Go::Bytes => value == "",
        Go::Bool => value == false,
        Go::Number => value.as_f64() == Some(0.0),
        Go::Time | Go::MicroTime => value.is_null(),
        _ => false,
    }
}

fn time(bytes: &[u8], micros: bool) -> Option<Value> {
    let parts = fields(bytes)?;
    if parts.is_empty() {
        return Some(Value::Null);
    }
    let part = |wanted: u64| {
        let found = parts.iter().find(|(number, _)| *number == wanted);
        found.and_then(|(_, wire)| signed(*wire)).unwrap_or_default()
    };
    let time = jiff::Timestamp::new(part(1), i32::try_from(part(2)).ok()?).ok()?;
    Some(if micros { in_micros(time) } else { in_seconds(time) }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of fields that are bytes.
    fn message_of(fields: &[(u8, &[u8])]) -> Vec<u8> {
        let fields = fields.iter().flat_map(|(number, bytes)| {
            let length = u8::try_from(bytes.len()).expect("a short field");
            [&[(number << 3) | 2, length], *bytes].concat()
        });
        fields.collect()
    }

    fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let of = message_of(&[(1, api_version.as_bytes()), (2, kind.as_bytes())]);
        [b"k8s\0".to_vec(), message_of(&[(1, &of), (2, raw)])].concat()
    }

    #[test]
    fn fields_are_known_by_their_numbers() {
        let metadata = message_of(&[(1, b"one"), (2, b""), (8, b"")]);
        let entry = message_of(&[(1, b"a"), (2, b"1")]);
        let map = message_of(&[(1, &metadata), (2, &entry)]);
        let read = read(&envelope("v1", "ConfigMap", &map));
        let wanted = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "one" }, "data": { "a": "1" } });
        assert_eq!(read, Some(wanted));
    }

    #[test]
    fn embedded_types_and_leaves_have_their_own_forms() {
        let secret = message_of(&[(6, b"s")]);
        let volume = message_of(&[(1, b"v"), (2, &message_of(&[(6, &secret)]))]);
        // A port of a Service: a number, and one that may be a text.
        let port = [&[0x18, 80][..], &message_of(&[(4, &[0x08, 1, 0x1a, 1, b'x'])])].concat();
        let pod = message_of(&[(2, &message_of(&[(1, &volume)]))]);
        let read_pod = read(&envelope("v1", "Pod", &pod)).expect("a pod");
        assert_eq!(read_pod["spec"]["volumes"][0]["name"], "v");
        assert!(read_pod["spec"]["volumes"][0]["secret"].is_object(), "{read_pod}");
        let service = read(&envelope("v1", "Service", &message_of(&[(2, &message_of(&[(1, &port)]))])));
        assert_eq!(service.expect("a service")["spec"]["ports"][0], json!({ "port": 80, "targetPort": "x" }));
    }

    #[test]
    fn what_is_broken_or_unknown_is_not_read() {
        assert_eq!(read(b"{}"), None);
        assert_eq!(read(&envelope("v1", "Nothing", b"")), None);
        assert_eq!(read(&envelope("v1", "ConfigMap", &[0x0a, 9])), None);
    }
}
