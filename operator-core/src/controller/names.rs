//! The names that a controller uses in the cluster, and which of them are valid.

use super::Mistake;
use crate::resource::{ResourceType, is_qualified_name};

/// The longest field manager.
const LONGEST_MANAGER: usize = 128;

/// The longest name that is suggested.
const LONGEST_SUGGESTION: usize = 63;

/// `<plural>.<group>/finalizer`; a core type has no group, and a finalizer must have a domain.
pub(super) fn default_finalizer(primary_type: &ResourceType) -> String {
    match primary_type.group() {
        "" => format!("{}.core.operator-core.io/finalizer", primary_type.plural()),
        group => format!("{}.{group}/finalizer", primary_type.plural()),
    }
}

pub(super) fn check_name(name: &str) -> Option<Mistake> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_');
    let valid = !name.is_empty() && name.len() <= LONGEST_MANAGER && name.chars().all(allowed);
    (!valid).then(|| {
        Mistake::new(
            "its name can't be used",
            "it becomes the field manager: lower-case letters, digits, `-`, `.` and `_`",
            format!("`.name(\"{}\")`", suggestion(name)),
        )
    })
}

/// The name as it could be.
fn suggestion(name: &str) -> String {
    let mut suggestion = String::new();
    for (at, c) in name.chars().take(LONGEST_SUGGESTION).enumerate() {
        match c {
            'A'..='Z' if at > 0 && !suggestion.ends_with('-') => {
                suggestion.push('-');
                suggestion.push(c.to_ascii_lowercase());
            }
            'A'..='Z' => suggestion.push(c.to_ascii_lowercase()),
            'a'..='z' | '0'..='9' | '-' | '.' | '_' => suggestion.push(c),
            _ if suggestion.ends_with('-') => {}
            _ => suggestion.push('-'),
        }
    }
    if suggestion.is_empty() { "web-pages".to_owned() } else { suggestion }
}

pub(super) fn check_field_manager(manager: &str) -> Option<Mistake> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/');
    let valid = !manager.is_empty() && manager.len() <= LONGEST_MANAGER && manager.chars().all(allowed);
    (!valid).then(|| {
        Mistake::new(
            format!("field manager `{manager}` can't be used"),
            "it has at most 128 letters, digits, `-`, `_`, `.` and `/`, and at least one",
            "`.field_manager(\"web-pages\")`, or leave it out to use the controller's name",
        )
    })
}

pub(super) fn check_finalizer(finalizer: &str) -> Option<Mistake> {
    let has_domain = finalizer.split_once('/').is_some_and(|(domain, _)| domain.contains('.'));
    let valid = has_domain && is_qualified_name(finalizer);
    (!valid).then(|| {
        Mistake::new(
            format!("finalizer `{finalizer}` can't be used"),
            "the server takes only those of the form `domain/name`",
            "`.finalizer(\"webpages.example.com/finalizer\")`, or leave it out to have one made of the kind",
        )
    })
}
