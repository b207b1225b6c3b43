//! Answers without what two servers can't agree on.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::both::{Answer, WARNINGS};

/// The answer as a text.
pub(crate) fn masked((code, mut body): Answer) -> String {
    mask(&mut body);
    format!("{code} {}", without_uids(&body.to_string()))
}

/// The answer with causes in an order of their own: the real server goes through fields in none.
pub(crate) fn comparable((code, mut body): Answer) -> Answer {
    mask(&mut body);
    for of in ["metadata", "details"] {
        if let Some(fields) = body.get_mut(of).and_then(Value::as_object_mut) {
            fields.remove("uid");
            // The real server forgets them where a list passes for a text.
            fields.remove("managedFields");
        }
    }
    // A refused change isn't warned of what rules let be.
    if code >= 400
        && let Some(fields) = body.as_object_mut()
    {
        fields.remove(WARNINGS);
    }
    let causes = body.pointer_mut("/details/causes").and_then(Value::as_array_mut);
    if let Some(causes) = causes {
        causes.sort_by_key(Value::to_string);
        if causes.len() > 1 {
            // The message says the same again.
            let message = body["message"].as_str().unwrap_or_default();
            body["message"] = message.split(" is invalid: ").next().into();
        }
    }
    (code, unnamed(body))
}

/// The real server names the type of an object after the time.
fn unnamed(value: Value) -> Value {
    match value {
        Value::String(text) => match text.find("selfType") {
            Some(at) => {
                let (before, rest) = text.split_at(at + "selfType".len());
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let rest = unnamed(rest[digits..].into());
                Value::String(format!("{before}{}", rest.as_str().unwrap_or_default()))
            }
            None => Value::String(text),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(unnamed).collect()),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, unnamed(value))).collect(),
        other => other,
    }
}

fn mask(value: &mut Value) {
    const TIMES: [&str; 7] = [
        "creationTimestamp",
        "deletionTimestamp",
        "expirationTimestamp",
        "lastTransitionTime",
        "lastTimestamp",
        "time",
        "token",
    ];
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if value.is_string() && (TIMES.contains(&name.as_str()) || name == "resourceVersion") {
                    *value = "(masked)".into();
                }
                mask(value);
                // Entries of one time have another order than those of two.
                if let ("managedFields", Value::Array(entries)) = (name.as_str(), &mut *value) {
                    entries.sort_by_key(Value::to_string);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::String(text) if is_just_now(text) => *text = "(now)".to_owned(),
        _ => {}
    }
}

/// Whether a server has taken a time from its clock. Times that a test has chosen are compared.
#[expect(clippy::disallowed_methods, reason = "both servers have the machine's clock")]
fn is_just_now(text: &str) -> bool {
    let ago = text.parse().map(|time: Timestamp| Timestamp::now().duration_since(time).abs());
    ago.is_ok_and(|ago| ago < SignedDuration::from_mins(10))
}

/// Replaces everything that has the form of a uid.
fn without_uids(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.char_indices().map(|(at, _)| at).find(|at| is_uid(&rest[*at..])) {
        out.push_str(&rest[..at]);
        out.push_str("(uid)");
        rest = &rest[at + 36..];
    }
    out + rest
}

fn is_uid(text: &str) -> bool {
    let Some(start) = text.as_bytes().get(..36) else { return false };
    start.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}
