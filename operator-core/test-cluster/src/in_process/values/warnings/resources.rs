//! Amounts that can't be given, and certificates that are none. Pure.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::Found;
use crate::in_process::{
    fields::has_fraction,
    values::{
        path::Path,
        quantity,
        read::{at, text},
    },
};

/// A part of a byte.
pub(super) fn fraction(found: &mut Found, path: &Path<'_>, amounts: &Value, name: &str) {
    let amount = text(amounts, name);
    if has_fraction(amount) {
        found.add(
            path.key(name),
            format_args!("fractional byte value {amount:?} is invalid, must be an integer"),
        );
    }
}

/// What a claim asks for.
pub(super) fn claim(found: &mut Found, path: &Path<'_>, spec: &Value) {
    let resources = at(spec, "resources");
    for field in ["requests", "limits"] {
        fraction(found, &path.child("resources").child(field), at(resources, field), "storage");
    }
}

/// A quota that lets more be asked for than be used.
pub(super) fn quota(found: &mut Found, hard: &Value) {
    for name in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let (mut asked, limits) = (format!("requests.{name}"), format!("limits.{name}"));
        if at(hard, &asked).is_null() && matches!(name, "cpu" | "memory") {
            asked = name.to_owned();
        }
        let (request, limit) = (text(hard, &asked), text(hard, &limits));
        if !request.is_empty() && !limit.is_empty() && quantity::amount(request) > quantity::amount(limit) {
            found.say(format!("ResourceQuota {asked} ({request}) should be less than {limits} ({limit})"));
        }
    }
}

/// A certificate and a key that aren't in PEM. What is inside of it isn't looked at.
pub(super) fn certificate(found: &mut Found, secret: &Value) {
    let data = |name: &str| {
        let bytes = STANDARD.decode(text(at(secret, "data"), name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (certificates, keys) = (blocks(&data("tls.crt")), blocks(&data("tls.key")));
    let list = |blocks: &[String]| blocks.join(" ");
    let is_key = |of: &String| of == "PRIVATE KEY" || of.ends_with(" PRIVATE KEY");
    let words = if certificates.is_empty() {
        "tls: failed to find any PEM data in certificate input".to_owned()
    } else if !certificates.iter().any(|of| of == "CERTIFICATE") {
        match &certificates[..] {
            [of] if of.ends_with("PRIVATE KEY") => {
                "tls: failed to find certificate PEM data in certificate input, but \
                                                    did find a private key; PEM inputs may have been switched"
                    .to_owned()
            }
            _ => format!(
                "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the \
                 following types: [{}]",
                list(&certificates)
            ),
        }
    } else if keys.is_empty() {
        "tls: failed to find any PEM data in key input".to_owned()
    } else if !keys.iter().any(is_key) {
        match &keys[..] {
            [of] if of == "CERTIFICATE" => {
                "tls: found a certificate rather than a key in the PEM for the private key".to_owned()
            }
            _ => format!(
                "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks \
                 of the following types: [{}]",
                list(&keys)
            ),
        }
    } else {
        return;
    };
    found.say(words);
}

/// The types of the blocks of PEM in a text.
fn blocks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("-----BEGIN ") {
        let Some((of, body)) = after.split_once("-----") else { break };
        let end = format!("-----END {of}-----");
        let Some((inside, after)) = body.split_once(&end) else {
            rest = body;
            continue;
        };
        let inside: String = inside.split_whitespace().collect();
        if STANDARD.decode(&inside).is_ok() {
            found.push(of.to_owned());
        }
        rest = after;
    }
    found
}
