//! The names that a controller goes by in the cluster, and which of them can be used.

use super::Error;
use crate::resource::ResourceType;

/// `<plural>.<group>/finalizer`; a core type has no group, and a finalizer must have a domain.
pub(super) fn default_finalizer(primary_type: &ResourceType) -> String {
    match primary_type.group() {
        "" => format!("{}.core.operator-core.io/finalizer", primary_type.plural()),
        group => format!("{}.{group}/finalizer", primary_type.plural()),
    }
}

pub(super) fn check_name(name: &str) -> Result<(), Error> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_');
    if name.is_empty() || !name.chars().all(allowed) {
        return Err(Error::InvalidName(name.to_owned()));
    }
    Ok(())
}

pub(super) fn check_field_manager(manager: &str) -> Result<(), Error> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/');
    if manager.is_empty() || manager.len() > 128 || !manager.chars().all(allowed) {
        return Err(Error::InvalidFieldManager(manager.to_owned()));
    }
    Ok(())
}

pub(super) fn check_finalizer(finalizer: &str) -> Result<(), Error> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let valid = finalizer.split_once('/').is_some_and(|(domain, name)| {
        domain.contains('.') && !name.is_empty() && domain.chars().all(allowed) && name.chars().all(allowed)
    });
    if valid { Ok(()) } else { Err(Error::InvalidFinalizer(finalizer.to_owned())) }
}
