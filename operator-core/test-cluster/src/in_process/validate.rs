//! The forms of names, in the real server's words. Pure.

/// What is wrong with the name of a finalizer that has no prefix.
pub(super) fn wrong_finalizer(finalizer: &str) -> Option<String> {
    const STANDARD: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];
    let wrong = !finalizer.contains('/') && !STANDARD.contains(&finalizer);
    wrong.then(|| "name is neither a standard finalizer name nor is it fully qualified".to_owned())
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
