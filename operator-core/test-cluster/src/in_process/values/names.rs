//! The forms of names, and what is wrong with one: no line for a right one, often one, sometimes several. Pure.

const SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const WORD: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// The words for a text that a pattern doesn't match.
pub(in crate::in_process) fn mismatch(rule: &str, pattern: &str, examples: &[&str]) -> String {
    let mut text = format!("{rule} (");
    if !examples.is_empty() {
        text.push_str("e.g. ");
        for (at, example) in examples.iter().enumerate() {
            if at > 0 {
                text.push_str(" or ");
            }
            text.push_str(&format!("'{example}', "));
        }
    }
    text.push_str(&format!("regex used for validation is '{pattern}')"));
    text
}

/// The words for a number outside of a range.
pub(in crate::in_process) fn outside(from: i64, to: i64) -> String {
    format!("must be between {from} and {to}, inclusive")
}

fn too_long(value: &str, limit: usize, unit: &str) -> Option<String> {
    (value.len() > limit).then(|| format!("must be no more than {limit} {unit}"))
}

fn gather(found: impl IntoIterator<Item = Option<String>>) -> Vec<String> {
    found.into_iter().flatten().collect()
}

fn is_label(part: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !part.is_empty() && part.bytes().all(inner) && !part.starts_with('-') && !part.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_word(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let ends = [text.bytes().next(), text.bytes().next_back()];
    text.bytes().all(inner) && ends.iter().all(|end| end.is_some_and(|byte| byte.is_ascii_alphanumeric()))
}

/// One part of a domain name (RFC 1123).
pub(in crate::in_process) fn dns_label(value: &str) -> Vec<String> {
    let form = if is_label(value) {
        None
    } else if is_subdomain(value) {
        Some("must not contain dots".to_owned())
    } else {
        let rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
                    and end with an alphanumeric character";
        Some(mismatch(rule, LABEL, &["my-name", "123-abc"]))
    };
    gather([too_long(value, 63, "characters"), form])
}

/// A domain name (RFC 1123).
pub(in crate::in_process) fn dns_subdomain(value: &str) -> Vec<String> {
    let form = (!is_subdomain(value)).then(|| {
        let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
                    must start and end with an alphanumeric character";
        mismatch(rule, SUBDOMAIN, &["example.com"])
    });
    gather([too_long(value, 253, "characters"), form])
}

/// A name with an optional prefix: the key of a label, the name of a finalizer.
pub(in crate::in_process) fn qualified(value: &str) -> Vec<String> {
    const EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];
    const RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                        alphanumeric character";
    let mut found = Vec::new();
    let name = match value.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        ["", name] => {
            found.push("prefix part must be non-empty".to_owned());
            name
        }
        [prefix, name] => {
            found.extend(dns_subdomain(prefix).into_iter().map(|why| format!("prefix part {why}")));
            name
        }
        _ => {
            let form = mismatch(RULE, WORD, &EXAMPLES);
            return vec![format!(
                "a valid label key {form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        found.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        found.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_word(name) {
        found.push(format!("name part {}", mismatch(RULE, WORD, &EXAMPLES)));
    }
    found
}

/// The value of a label.
pub(in crate::in_process) fn label_value(value: &str) -> Vec<String> {
    let form = (!value.is_empty() && !is_word(value)).then(|| {
        let rule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
                    start and end with an alphanumeric character";
        mismatch(rule, &format!("({WORD})?"), &["MyValue", "my_value", "12345"])
    });
    gather([too_long(value, 63, "bytes"), form])
}

/// A name that can stand in the path of a URL.
pub(in crate::in_process) fn path_segment(value: &str) -> Vec<String> {
    if matches!(value, "." | "..") {
        return vec![format!("may not be '{value}'")];
    }
    let wrong = ["/", "%"].into_iter().filter(|part| value.contains(part));
    wrong.map(|part| format!("may not contain '{part}'")).collect()
}

/// The number of a port.
pub(in crate::in_process) fn port_number(port: i64) -> Vec<String> {
    gather([(!(1..=65535).contains(&port)).then(|| outside(1, 65535))])
}

/// A label of DNS that begins with a letter.
pub(in crate::in_process) fn dns_1035_label(value: &str) -> Vec<String> {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let right = value.starts_with(|letter: char| letter.is_ascii_lowercase())
        && value.bytes().all(inner)
        && !value.ends_with('-');
    let rule = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    let examples = ["my-name", "abc-123"];
    gather([
        too_long(value, 63, "characters"),
        (!right).then(|| mismatch(rule, "[a-z]([-a-z0-9]*[a-z0-9])?", &examples)),
    ])
}

/// The name of a port.
pub(in crate::in_process) fn port_name(port: &str) -> Vec<String> {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let said = |wrong: bool, what: &str| wrong.then(|| what.to_owned());
    gather([
        too_long(port, 15, "characters"),
        said(
            port.is_empty() || !port.bytes().all(inner),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        said(!port.bytes().any(|byte| byte.is_ascii_lowercase()), "must contain at least one letter (a-z)"),
        said(port.contains("--"), "must not contain consecutive hyphens"),
        said(port.starts_with('-') || port.ends_with('-'), "must not begin or end with a hyphen"),
    ])
}

/// A share of something: `25%`.
pub(in crate::in_process) fn percent(value: &str) -> Vec<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    let right = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let rule = "a valid percent string must be a numeric string followed by an ending '%'";
    gather([(!right).then(|| mismatch(rule, "[0-9]+%", &["1%", "93%"]))])
}

/// The name of a header of HTTP.
pub(in crate::in_process) fn http_header(value: &str) -> Vec<String> {
    let right = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let rule = "a valid HTTP header must consist of alphanumeric characters or '-'";
    gather([(!right).then(|| mismatch(rule, "[-A-Za-z0-9]+", &["X-Header-Name"]))])
}

/// The name of an environment variable, which may have almost any letters.
pub(in crate::in_process) fn variable(value: &str) -> Vec<String> {
    let wrong = value.chars().any(|letter| !(' '..='~').contains(&letter) || letter == '=');
    gather([
        value.is_empty().then(|| "environment variable name must be non-empty".to_owned()),
        wrong.then(|| {
            "a valid environment variable name must consist only of printable ASCII characters other than '='"
                .to_owned()
        }),
    ])
}

/// The key of an entry of a ConfigMap or Secret.
pub(in crate::in_process) fn config_key(value: &str) -> Vec<String> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let right = !value.is_empty() && value.bytes().all(inner);
    let dots = match value {
        "." => Some("must not be '.'".to_owned()),
        ".." => Some("must not be '..'".to_owned()),
        value if value.starts_with("..") => Some("must not start with '..'".to_owned()),
        _ => None,
    };
    let rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    gather([
        too_long(value, 253, "characters"),
        (!right).then(|| mismatch(rule, "[-._a-zA-Z0-9]+", &["key.name", "KEY_NAME", "key-name"])),
        dots,
    ])
}
