//! ConfigMaps and Secrets. Pure.

use serde_json::Value;

use super::super::{
    common::immutable,
    errors::Errors,
    names,
    path::Path,
    read::{at, entries, flag, part, same, text},
};
use crate::in_process::go::json;

const DATA: Path<'static> = Path::root("data");
const BINARY: Path<'static> = Path::root("binaryData");

pub(super) fn map(map: &Value, errors: &mut Errors) {
    for (key, _) in entries(map, "data") {
        errors.all_invalid(&DATA.key(key), key, &names::config_key(key));
        if part(at(map, "binaryData"), key).is_some() {
            errors.invalid(&DATA.key(key), key, "duplicate of key present in binaryData");
        }
    }
    for (key, _) in entries(map, "binaryData") {
        errors.all_invalid(&BINARY.key(key), key, &names::config_key(key));
    }
}

pub(super) fn changed_map(new: &Value, old: &Value, errors: &mut Errors) {
    frozen(new, old, &["data", "binaryData"], errors);
    map(new, errors);
}

/// What is immutable stays so, and stays as it is.
fn frozen(new: &Value, old: &Value, fields: &[&str], errors: &mut Errors) {
    const DETAIL: &str = "field is immutable when `immutable` is set";
    if !flag(old, "immutable") {
        return;
    }
    if !flag(new, "immutable") {
        errors.forbidden(&Path::root("immutable"), DETAIL);
    }
    for field in fields {
        if !same(at(new, field), at(old, field)) {
            errors.forbidden(&Path::root(field), DETAIL);
        }
    }
}

pub(super) fn secret(secret: &Value, errors: &mut Errors) {
    const ACCOUNT: &str = "kubernetes.io/service-account.name";
    let data = at(secret, "data");
    for (key, _) in entries(secret, "data") {
        errors.all_invalid(&DATA.key(key), key, &names::config_key(key));
    }
    let has = |key: &str| data.get(key).is_some();
    match text(secret, "type") {
        "kubernetes.io/service-account-token" => {
            let annotations = at(at(secret, "metadata"), "annotations");
            if text(annotations, ACCOUNT).is_empty() {
                errors.required(&Path::root("metadata").child("annotations").key(ACCOUNT), "");
            }
        }
        "kubernetes.io/dockercfg" => registries(data, ".dockercfg", errors),
        "kubernetes.io/dockerconfigjson" => registries(data, ".dockerconfigjson", errors),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            errors.required(&DATA.key("username"), "");
            errors.required(&DATA.key("password"), "");
        }
        "kubernetes.io/ssh-auth" if text(data, "ssh-privatekey").is_empty() => {
            errors.required(&DATA.key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => {
            for key in ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key)) {
                errors.required(&DATA.key(key), "");
            }
        }
        _ => {}
    }
}

/// What a kubelet knows of registries is JSON.
fn registries(data: &Value, key: &str, errors: &mut Errors) {
    let Some(bytes) = data.get(key).and_then(Value::as_str) else {
        return errors.required(&DATA.key(key), "");
    };
    let text = decoded(bytes);
    let wrong = match json::read(&text) {
        Ok(Value::Object(_) | Value::Null) => return,
        Ok(other) => {
            let form = match other {
                Value::Array(_) => "array",
                Value::String(_) => "string",
                Value::Number(_) => "number",
                _ => "bool",
            };
            format!("json: cannot unmarshal {form} into Go value of type map[string]interface {{}}")
        }
        Err(why) => why,
    };
    errors.invalid(&DATA.key(key), "<secret contents redacted>", &wrong);
}

fn decoded(base64: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> = base64.bytes().filter(|byte| *byte != b'=').map(digit).collect();
    let mut bytes = Vec::with_capacity(digits.len());
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len().max(1)]);
    }
    bytes
}

pub(super) fn changed_secret(new: &Value, old: &Value, errors: &mut Errors) {
    immutable(errors, &Path::root("type"), at(new, "type"), at(old, "type"));
    frozen(new, old, &["data"], errors);
    secret(new, errors);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded() {
        assert_eq!(decoded("e30="), b"{}");
        assert_eq!(decoded("YQ=="), b"a");
        assert_eq!(decoded("YWJj"), b"abc");
        assert_eq!(decoded(""), b"");
    }
}
