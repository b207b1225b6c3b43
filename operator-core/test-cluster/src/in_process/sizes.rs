//! The maximum sizes of requests and objects. Pure.

use serde_json::Value;

use super::{
    failure::{Cause, Failure},
    go::json::depth,
    kinds::Kind,
};

/// The body of a request.
pub(super) const BODY: usize = 3 << 20;
/// The data of a ConfigMap or Secret.
const DATA: usize = 1 << 20;
/// etcd refuses requests of 1.5 MiB. What that means for an object depends on its encoding, so this is the limit of
/// what is known.
const STORED: usize = 1_400_000;
/// The depth of a body that the stack has room for.
const LEVELS: usize = 1000;

/// Whether a request's body is read at all.
pub(super) fn read(body: &[u8]) -> Result<(), Failure> {
    if body.len() > BODY {
        return Err(too_large());
    }
    match depth(body) {
        // Go doesn't read more than ten thousand levels, either.
        depth if depth > LEVELS && depth <= 10_000 => {
            Err(Failure::not_modelled(format_args!("bodies of more than {LEVELS} levels")))
        }
        _ => Ok(()),
    }
}

/// The refusal of a body that isn't read.
pub(super) fn too_large() -> Failure {
    let message = format!("Request entity too large: limit is {BODY}");
    Failure::new(413, "RequestEntityTooLarge", message)
}

/// The error for an object of this kind that is too long.
pub(super) fn data(kind: &Kind, object: &Value) -> Result<Option<Cause>, Failure> {
    let size = |field: &str, of: fn(&str) -> usize| -> usize {
        object[field].as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str()).map(of).sum()
    };
    let too_long = match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "ConfigMap") if size("data", str::len) + size("binaryData", decoded) > DATA => {
            Some(too_long("[]", DATA))
        }
        ("", "Secret") if size("data", decoded) > DATA => Some(too_long("data", DATA)),
        _ => None,
    };
    if too_long.is_none() && texts(object) > STORED {
        return Err(Failure::not_modelled("objects of more than 1.4 MB, which etcd may not take"));
    }
    Ok(too_long)
}

fn too_long(field: &str, limit: usize) -> Cause {
    let message = format!("Too long: may not be more than {limit} bytes");
    ("FieldValueTooLong".to_owned(), field.to_owned(), message)
}

/// The length of these bytes in base64.
fn decoded(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

/// The total length of all texts in it, including the names of fields.
fn texts(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(texts).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + texts(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_limit_is_the_last_size_that_is_taken() {
        let body = vec![0; BODY + 1];
        assert!(read(&body[1..]).is_ok() && read(&body).is_err());
    }

    #[test]
    fn base64_is_counted_as_what_it_stands_for() {
        for (text, bytes) in [("", 0), ("eA==", 1), ("eHg=", 2), ("eHh4", 3), ("eHh4eA==", 4)] {
            assert_eq!(decoded(text), bytes, "{text}");
        }
    }

    #[test]
    fn all_texts_count() {
        assert_eq!(texts(&json!({ "ab": ["c", { "d": "ef" }, 1, null] })), 6);
    }
}
