//! The forms that the server demands of texts: names, keys, reasons. Texts of users that become fields of objects are compared with
//! them before anything is sent. Pure.

use super::{
    ResourceType,
    marks::{is_label_value, is_word},
};

/// The longest name of an object, or of an entry of a ConfigMap or Secret.
pub(crate) const LONGEST_NAME: usize = 253;

/// The longest reason of a condition, and its longest type.
const LONGEST_REASON: usize = 1024;
const LONGEST_TYPE: usize = 316;

/// Whether it is a DNS subdomain: lower-case letters, digits, `-` and `.`, 253 at most. Most objects have such a name, and keys
/// such a prefix.
pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= LONGEST_NAME && text.split('.').all(is_label)
}

/// Whether an object of this kind can have that name. Only a few kinds allow more than a DNS subdomain.
pub(crate) fn can_be_name(kind: &ResourceType, name: &str) -> bool {
    let allows_more = matches!(kind.group(), "rbac.authorization.k8s.io" | "certificates.k8s.io")
        || (kind.group(), kind.kind()) == ("networking.k8s.io", "IPAddress");
    if allows_more { path_segment(name).is_some() } else { is_subdomain(name) }
}

/// Whether it is a label of a DNS name, but for its length.
pub(crate) fn is_label(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(allowed) && !text.starts_with('-') && !text.ends_with('-')
}

/// Whether it can be the key of a label or an annotation, or a finalizer: a name of 63 characters at most, and perhaps a subdomain
/// and a slash before it.
pub(crate) fn is_qualified_name(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    prefix.is_none_or(is_subdomain) && is_label_value(name)
}

/// Whether it can be the reason of a condition in the usual schema, that of `metav1.Condition`.
pub(crate) fn is_reason(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ':');
    text.len() <= LONGEST_REASON
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(allowed)
        && !text.ends_with([',', ':'])
}

/// Whether it can be the type of a condition in that schema.
pub(crate) fn is_condition_type(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    text.len() <= LONGEST_TYPE && prefix.is_none_or(is_subdomain) && is_word(name)
}

/// The segment of a path for an object or a namespace of that name; `None` if nothing can have this name, so that a request
/// would be about something else.
pub(crate) fn path_segment(name: &str) -> Option<String> {
    let is_none = matches!(name, "" | "." | "..") || name.contains(['/', '%']);
    (!is_none).then(|| escaped(name))
}

/// At most this many bytes of a text, with a sign that something is missing.
pub(crate) fn cut(mut text: String, longest: usize) -> String {
    const MORE: &str = "…";
    if text.len() > longest {
        let end = cut_at(&text, longest - MORE.len()).len();
        text.truncate(end);
        text.push_str(MORE);
    }
    text
}

/// At most this many bytes of a text, and no part of a character.
pub(crate) fn cut_at(text: &str, longest: usize) -> &str {
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The name among `known` that is most like a wrong one, unless it is a different word: a third of the letters, or one, may be wrong.
pub(crate) fn nearest<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let length = wrong.chars().count();
    let distances = known.into_iter().map(|name| (strsim::osa_distance(wrong, name), name));
    let (distance, name) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= (length / 3).max(1) && distance < length).then_some(name)
}

/// What is added to the message about a wrong name.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// A text as a part of an address.
pub(crate) fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'~' | b':' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subdomain_consists_of_labels() {
        for good in ["operator-core.io", "example.com", "a", "1.b-c"] {
            assert!(is_subdomain(good), "{good}");
        }
        for bad in ["", "Example.com", "a..b", "-a", "a-", "a/b", "a_b", "a.-b", &"a".repeat(254)] {
            assert!(!is_subdomain(bad), "{bad}");
        }
    }

    #[test]
    fn the_type_of_a_condition_is_a_word_and_perhaps_has_a_prefix() {
        let (long, longer) = ("a".repeat(316), "a".repeat(317));
        for good in ["Ready", "a", "A-b_c.D", "example.com/Ready", &long] {
            assert!(is_condition_type(good), "{good}");
        }
        for bad in
            ["", "/Ready", "Ready/", "A.com/b", "a/b/c", "no quota", "größe", "-a", "a.", "a\nb", &longer]
        {
            assert!(!is_condition_type(bad), "{bad}");
        }
    }

    #[test]
    fn a_qualified_name_has_a_name_and_perhaps_a_prefix() {
        let long = "a".repeat(63);
        for good in ["a", "A_b.c", "example.com/a", &format!("example.com/{long}")] {
            assert!(is_qualified_name(good), "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "A.com/b", "example.com/-a", "a b", &format!("a/{long}a")] {
            assert!(!is_qualified_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_reason_is_one_word() {
        for good in ["NoQuota", "A", "a:b,c_d", "Quota_"] {
            assert!(is_reason(good), "{good}");
        }
        for bad in ["", "no-quota", "no quota", "1st", "_a", "a:", "Größe", &"A".repeat(1025)] {
            assert!(!is_reason(bad), "{bad}");
        }
    }

    #[test]
    fn a_segment_of_a_path_is_one_whatever_the_name() {
        let segment = |name| path_segment(name).unwrap_or_default();
        assert_eq!(segment("system:node.1_a~b"), "system:node.1_a~b");
        assert_eq!(segment("my role"), "my%20role");
        assert_eq!(segment("a?b#c"), "a%3Fb%23c");
        assert_eq!(segment("ö"), "%C3%B6");
        for bad in ["", ".", "..", "a/b", "../configmaps/x", "a%2Fb"] {
            assert_eq!(path_segment(bad), None, "{bad}");
        }
    }
}
