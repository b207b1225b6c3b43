//! The kinds beside workloads: what they need to be reached, to be configured and to be allowed.

use super::Checks;

/// The checks of a kind, if it is one of these.
pub(super) fn checks(_group: &str, _kind: &str) -> Option<Checks> {
    None
}
