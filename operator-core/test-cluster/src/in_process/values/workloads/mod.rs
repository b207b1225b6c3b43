//! Pods, and the kinds that make them or look after them.

use super::Checks;

/// The checks of a kind, if it is one of these.
pub(super) fn checks(_group: &str, _kind: &str) -> Option<Checks> {
    None
}
