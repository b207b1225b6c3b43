//! Validation of every object's metadata, in the real server's words. Pure.

use serde_json::Value;

use super::{failure::Cause, kinds::Kind, sizes};

/// What is wrong with an object's name, labels, annotations, owners and finalizers.
pub(super) fn metadata(kind: &Kind, object: &Value, is_new: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    let metadata = &object["metadata"];
    if is_new {
        match metadata["name"].as_str().unwrap_or_default() {
            "" => causes.push(cause("Required", "name", "Required value: name or generateName is required")),
            name => causes.extend(wrong_name(kind, name).map(|why| invalid("name", name, &why))),
        }
    }
    for (key, value) in metadata["labels"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        causes.extend(wrong_key(key).map(|why| invalid("labels", key, &why)));
        causes.extend(wrong_label_value(value).map(|why| invalid("labels", value, &why)));
    }
    for (key, _) in metadata["annotations"].as_object().into_iter().flatten() {
        causes.extend(wrong_key(&key.to_lowercase()).map(|why| invalid("annotations", key, &why)));
    }
    causes.extend(sizes::annotations(&metadata["annotations"]));
    causes.extend(wrong_owners(&metadata["ownerReferences"]));
    // Those of a custom object are not checked for this.
    if !kind.is_custom() {
        for (at, finalizer) in metadata["finalizers"].as_array().into_iter().flatten().enumerate() {
            let finalizer = finalizer.as_str().unwrap_or_default();
            let why = wrong_key(finalizer).or_else(|| wrong_finalizer(finalizer));
            causes.extend(why.map(|why| invalid(&format!("finalizers[{at}]"), finalizer, &why)));
        }
    }
    causes
}

fn cause(reason: &str, field: &str, message: &str) -> Cause {
    (format!("FieldValue{reason}"), format!("metadata.{field}"), message.to_owned())
}

fn invalid(field: &str, value: &str, why: &str) -> Cause {
    cause("Invalid", field, &format!("Invalid value: {value:?}: {why}"))
}

pub(super) fn wrong_finalizer(finalizer: &str) -> Option<String> {
    const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];
    let wrong = !finalizer.contains('/') && !STANDARD.contains(&finalizer);
    wrong.then(|| "name is neither a standard finalizer name nor is it fully qualified".to_owned())
}

fn wrong_owners(references: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut controller: Option<String> = None;
    for reference in references.as_array().into_iter().flatten() {
        let text = |field: &str| reference[field].as_str().unwrap_or_default();
        let (api_version, kind, name) = (text("apiVersion"), text("kind"), text("name"));
        if api_version.is_empty() || api_version.matches('/').count() > 1 {
            causes.push(invalid("ownerReferences.apiVersion", api_version, "version must not be empty"));
        }
        for (field, value) in [("kind", kind), ("name", name), ("uid", text("uid"))] {
            if value.is_empty() {
                causes.push(invalid(&format!("ownerReferences.{field}"), value, "must not be empty"));
            }
        }
        if reference["controller"] == true {
            match &controller {
                None => controller = Some(format!("{kind}/{name}")),
                Some(first) => {
                    let all = references.as_array().into_iter().flatten().map(shown_owner);
                    let message = format!(
                        "Invalid value: [{}]: Only one reference can have Controller set to true. Found \"true\" in \
                         references for {first} and {kind}/{name}",
                        all.collect::<Vec<_>>().join(",")
                    );
                    causes.push(cause("Invalid", "ownerReferences", &message));
                    break;
                }
            }
        }
    }
    causes
}

/// An owner reference in Go's notation.
fn shown_owner(reference: &Value) -> String {
    let fields = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let present = fields.iter().filter(|field| !reference[**field].is_null());
    let shown: Vec<String> = present.map(|field| format!("\"{field}\":{}", reference[*field])).collect();
    format!("{{{}}}", shown.join(","))
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation \
is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// What is wrong with the key of a label or an annotation, or with a qualified name.
pub(super) fn wrong_key(key: &str) -> Option<String> {
    let name = match key.split_once('/') {
        None => key,
        Some(("", _)) => return Some("prefix part must be non-empty".to_owned()),
        Some((prefix, _)) if !is_subdomain(prefix) => return Some(format!("prefix part {SUBDOMAIN}")),
        Some((_, name)) if name.contains('/') => {
            return Some(
                "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                 alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                 '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
                    .to_owned(),
            );
        }
        Some((_, name)) => name,
    };
    match name {
        "" => Some("name part must be non-empty".to_owned()),
        name if name.len() > 63 => Some("name part must be no more than 63 bytes".to_owned()),
        name => (!is_word(name)).then(|| NAME_PART.to_owned()),
    }
}

/// What is wrong with the name of a kind, which may have capital letters.
pub(super) fn wrong_kind_name(name: &str) -> Option<String> {
    wrong_label_1035(&name.to_lowercase())
        .map(|why| format!("may have mixed case, but should otherwise match: {why}"))
}

/// What is wrong with a name that begins with a letter.
pub(super) fn wrong_label_1035(name: &str) -> Option<String> {
    const LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
        alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
        validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    let begins = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    let mut wrong = Vec::new();
    if name.len() > 63 {
        wrong.push("must be no more than 63 bytes");
    }
    if !is_label(name) || !begins {
        wrong.push(LABEL);
    }
    (!wrong.is_empty()).then(|| wrong.join(","))
}

/// What is wrong with the value of a label.
pub(super) fn wrong_label_value(value: &str) -> Option<String> {
    if value.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    (!value.is_empty() && !is_word(value)).then(|| LABEL_VALUE.to_owned())
}

/// Letters, digits and, between them, a few signs.
fn is_word(text: &str) -> bool {
    let ends = [text.chars().next(), text.chars().next_back()];
    let inner = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    ends.iter().flatten().all(char::is_ascii_alphanumeric) && text.chars().all(inner)
}

/// What is wrong with a label of a name.
pub(super) fn wrong_label(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 63 {
        wrong.push("must be no more than 63 bytes".to_owned());
    }
    if !is_label(text) {
        wrong.push(LABEL.to_owned());
    }
    wrong
}

/// What is wrong with a name of labels.
pub(super) fn wrong_subdomain(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > 253 {
        wrong.push("must be no more than 253 bytes".to_owned());
    }
    if !text.split('.').all(is_label) {
        wrong.push(SUBDOMAIN.to_owned());
    }
    wrong
}

fn is_label(part: &str) -> bool {
    let inner = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    !part.is_empty() && part.chars().all(inner) && !part.starts_with('-') && !part.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

fn wrong_name(kind: &Kind, name: &str) -> Option<String> {
    let longest = |limit: usize, unit: &str| {
        (name.len() > limit).then(|| format!("must be no more than {limit} {unit}"))
    };
    match (kind.group.as_str(), kind.kind.as_str()) {
        // Names of rights are anything that can stand in a path.
        ("rbac.authorization.k8s.io", _) => {
            let escapes = matches!(name, "." | "..") || name.contains(['/', '%']);
            escapes.then(|| "must be a valid path segment name".to_owned())
        }
        ("apps", "StatefulSet") => super::values::label(name),
        ("", "Namespace") if name.contains('.') => Some("must not contain dots".to_owned()),
        ("", "Namespace" | "Service") => {
            if is_label(name) {
                longest(63, "characters")
            } else {
                Some(LABEL.to_owned())
            }
        }
        _ if name.split('.').all(is_label) => longest(253, "characters"),
        _ => Some(SUBDOMAIN.to_owned()),
    }
}
