//! Paths of files, as containers and volumes name them.

use super::{errors::Errors, path::Path};

/// A path without steps back.
pub(in crate::in_process) fn no_steps_back(errors: &mut Errors, path: &Path<'_>, value: &str) {
    if value.split('/').any(|part| part == "..") {
        errors.invalid(path, value, "must not contain '..'");
    }
}

/// A path below the place where it is used.
pub(in crate::in_process) fn descending(errors: &mut Errors, path: &Path<'_>, value: &str) {
    if value.starts_with('/') {
        errors.invalid(path, value, "must be a relative path");
    }
    no_steps_back(errors, path, value);
}

/// The same, whose first letters aren't those that the node uses for itself.
pub(in crate::in_process) fn own(errors: &mut Errors, path: &Path<'_>, value: &str) {
    descending(errors, path, value);
    if value.starts_with("..") && !value.starts_with("../") {
        errors.invalid(path, value, "must not start with '..'");
    }
}

/// Whether a path leads to the root, on whatever way.
pub(in crate::in_process) fn is_root(value: &str) -> bool {
    let mut depth = 0_usize;
    for part in value.split('/') {
        match part {
            "" | "." => {}
            ".." => depth = depth.saturating_sub(1),
            _ => depth += 1,
        }
    }
    value.starts_with('/') && depth == 0
}
