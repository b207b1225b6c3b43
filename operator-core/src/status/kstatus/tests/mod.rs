//! One row for each line of each rule.

mod common;
mod kinds;
mod workloads;

use serde_json::{Value, json};

use super::*;

/// The result at `second` seconds past twelve.
fn at(object: &Value, second: u8) -> Result<Kstatus, Error> {
    compute(object, format!("2026-11-21T12:00:{second:02}Z").parse().unwrap())
}

/// An object's spec and status with what is expected of them.
type Row = (Value, &'static str, &'static str);

/// Checks rows of one kind: spec and status merged into the object, the expected status with its reason, the message.
fn check(api_version: &str, kind: &str, rows: &[Row]) {
    for (fields, expected, message) in rows {
        let mut object = json!({ "apiVersion": api_version, "kind": kind });
        for (name, value) in fields.as_object().unwrap() {
            object[name] = value.clone();
        }
        let found = at(&object, 0).unwrap();
        let (status, reason) = expected.split_once('/').unwrap_or((expected, expected));
        assert_eq!((found.status.as_str(), &*found.reason), (status, reason), "{object}");
        assert_eq!(found.message, *message, "{object}");
    }
}

fn condition(r#type: &str, status: &str, reason: &str) -> Value {
    json!({ "type": r#type, "status": status, "reason": reason, "message": format!("about {type}") })
}
