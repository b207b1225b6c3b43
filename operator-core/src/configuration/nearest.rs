//! The known name that is most like a wrong one.

use crate::resource::nearest;

/// The advice on a wrong name.
pub(super) fn instead<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>, otherwise: &str) -> String {
    match nearest(wrong, known) {
        Some(name) => format!("`{name}`, if that is what is meant"),
        None => otherwise.to_owned(),
    }
}
