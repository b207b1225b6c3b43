//! What is known at the start of a run.

use std::collections::BTreeMap;

use super::note::Notes;

/// What is known about all records of the primary at the start of the run.
pub(super) struct Start {
    /// The ids that are written, by key.
    pub(super) ids: BTreeMap<String, String>,
    pub(super) notes: Notes,
    /// The attempt that a person wants to be forgotten.
    pub(super) forgotten: Option<String>,
    /// The former names of the node: records may have been created under them.
    pub(super) former: Vec<String>,
}
