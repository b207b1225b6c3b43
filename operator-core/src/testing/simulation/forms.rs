//! The forms in which a secret can appear.

use std::fmt::Write;

use k8s_openapi::ByteString;
use serde_json::Value;

/// A shorter value isn't a secret, because it occurs everywhere: a port, a flag, a user's name.
const SHORTEST: usize = 6;

/// The values of a Secret, as the server has answered it.
pub(super) fn values(secret: &[u8]) -> Vec<Vec<u8>> {
    let Ok(secret) = serde_json::from_slice::<Value>(secret) else { return Vec::new() };
    let data = secret["data"].as_object().into_iter().flatten();
    data.filter_map(|(_, value)| Some(serde_json::from_value::<ByteString>(value.clone()).ok()?.0)).collect()
}

/// Whether it must not appear elsewhere. A certificate is public, and has to be where others find it.
pub(super) fn is_secret(value: &[u8]) -> bool {
    value.len() >= SHORTEST && !value.starts_with(b"-----BEGIN CERTIFICATE")
}

/// Its forms in a text: unchanged, escaped, encoded, as part of something that was encoded as a whole, and as a list of
/// bytes.
pub(super) fn forms(value: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    if let Ok(text) = std::str::from_utf8(value) {
        forms.push(text.to_owned());
        forms.push(inner(&Value::from(text).to_string()).to_owned());
        forms.push(inner(&format!("{text:?}")).to_owned());
        forms.push(percent(value));
        forms.push(percent(value).replace("%20", "+"));
    }
    for before in 0..3 {
        let encoded = base64_inside(value, before);
        forms.push(encoded.replace('+', "-").replace('/', "_"));
        forms.push(encoded);
    }
    let bytes: Vec<String> = value.iter().map(u8::to_string).collect();
    forms.extend([bytes.join(", "), bytes.join(",")]);
    forms.sort();
    forms.dedup();
    forms.retain(|form| form.len() >= SHORTEST);
    forms
}

fn inner(quoted: &str) -> &str {
    quoted.trim_start_matches('"').strip_suffix('"').unwrap_or(quoted)
}

fn percent(value: &[u8]) -> String {
    let mut text = String::new();
    for byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(*byte))
            }
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

/// The part of its base64 that doesn't depend on what surrounds it, with this number of bytes before it in its group of
/// three.
fn base64_inside(value: &[u8], before: usize) -> String {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(value);
    let whole = bytes.len() / 3 * 3;
    let encoded = serde_json::to_value(ByteString(bytes[..whole].to_vec()));
    let encoded = encoded.ok().and_then(|encoded| Some(encoded.as_str()?.to_owned())).unwrap_or_default();
    // The characters that hold bits of what stands before.
    let shared = [0, 2, 3][before];
    encoded.get(shared..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(secret: &str, text: &str) -> bool {
        forms(secret.as_bytes()).iter().any(|form| text.contains(form.as_str()))
    }

    #[test]
    fn a_secret_is_known_in_every_form() {
        let secret = "p\"ss w/rd+7";
        for text in [
            "it is p\"ss w/rd+7!",
            r#"{"password":"p\"ss w/rd+7"}"#,
            "https://db/?password=p%22ss%20w%2Frd%2B7",
            "password=p%22ss+w%2Frd%2B7&user=a",
            "cCJzcyB3L3JkKzc=",
            // `a:` and `ab:` before it, as in a header for basic authentication.
            "Basic YTpwInNzIHcvcmQrNw==",
            "Basic YWI6cCJzcyB3L3JkKzc=",
            "ByteString([112, 34, 115, 115, 32, 119, 47, 114, 100, 43, 55])",
        ] {
            assert!(told(secret, text), "{text}");
        }
        assert!(!told(secret, "p\"ss and w/rd+7"));
    }

    #[test]
    fn what_is_public_or_short_is_no_secret() {
        assert!(is_secret(b"hunter2") && is_secret(&[7; 6]));
        assert!(!is_secret(b"5432") && !is_secret(b"-----BEGIN CERTIFICATE-----\nMIIB"));
    }

    #[test]
    fn the_values_of_a_secret_are_what_its_data_stands_for() {
        let secret = br#"{"data":{"a":"aHVudGVyMg==","b":"AAEC"}}"#;
        assert_eq!(values(secret), [b"hunter2".to_vec(), vec![0, 1, 2]]);
    }
}
