//! The names that a controller uses in the cluster, and which of them are valid.

use std::{collections::BTreeSet, sync::Arc};

use super::Mistake;
use crate::resource::ResourceType;

/// `<plural>.<group>/finalizer`; a core type has no group, and a finalizer must have a domain.
pub(super) fn default_finalizer(primary_type: &ResourceType) -> String {
    match primary_type.group() {
        "" => format!("{}.core.operator-core.io/finalizer", primary_type.plural()),
        group => format!("{}.{group}/finalizer", primary_type.plural()),
    }
}

pub(super) fn check_name(name: &str) -> Option<Mistake> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_');
    let valid = !name.is_empty() && name.chars().all(allowed);
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
    for (at, c) in name.chars().enumerate() {
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
    let valid = !manager.is_empty() && manager.len() <= 128 && manager.chars().all(allowed);
    (!valid).then(|| {
        Mistake::new(
            format!("field manager `{manager}` can't be used"),
            "it has at most 128 letters, digits, `-`, `_`, `.` and `/`, and at least one",
            "`.field_manager(\"web-pages\")`, or leave it out to use the controller's name",
        )
    })
}

/// Retired field managers may have been named by someone else, so only a name that the server refuses is wrong.
pub(super) fn check_retired_field_manager(manager: &str) -> Option<Mistake> {
    let valid = !manager.is_empty() && manager.len() <= 128;
    (!valid).then(|| {
        Mistake::new(
            format!("no field manager can have been called `{manager}`"),
            "the server takes names of 1 to 128 bytes, so that nothing could ever be found under this one",
            "`.retired_field_managers([\"web-pages\"])`, with a name that stands in the `managedFields` of an object",
        )
    })
}

/// The field managers that earlier versions of a controller may have used: those that are `named`, and its name, which
/// is the default one. The one that is `used` isn't retired.
pub(super) fn retired_field_managers(
    named: impl IntoIterator<Item = String>,
    name: &str,
    used: &str,
) -> Arc<[String]> {
    let mut retired: BTreeSet<String> = named.into_iter().chain([name.to_owned()]).collect();
    retired.remove(used);
    // A former name may be one that no field manager could have.
    retired.retain(|manager| check_retired_field_manager(manager).is_none());
    retired.into_iter().collect()
}

pub(super) fn check_finalizer(finalizer: &str) -> Option<Mistake> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let valid = finalizer.split_once('/').is_some_and(|(domain, name)| {
        domain.contains('.') && !name.is_empty() && domain.chars().all(allowed) && name.chars().all(allowed)
    });
    (!valid).then(|| {
        Mistake::new(
            format!("finalizer `{finalizer}` can't be used"),
            "the server takes only those of the form `domain/name`",
            "`.finalizer(\"webpages.example.com/finalizer\")`, or leave it out to have one made of the kind",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_used_any_more_is_retired() {
        let named = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let retired = |names, used| retired_field_managers(named(names), "pods", used).to_vec();
        assert_eq!(retired(&[], "pods"), named(&[]));
        assert_eq!(retired(&[], "newer"), ["pods"]);
        assert_eq!(retired(&["older", "pods", "older"], "pods"), ["older"]);
        assert_eq!(retired(&["older", "newer"], "newer"), ["older", "pods"]);
        let long = "a".repeat(129);
        assert_eq!(retired(&["", &long], "pods"), named(&[]), "former names that were no field managers");
    }
}
