//! Which dependents are written by server-side apply, if they don't say so themselves.

use std::collections::BTreeSet;

use crate::resource::ResourceType;

/// What holds for all dependents of an operator.
#[derive(Clone, Debug)]
pub(crate) struct Applying {
    /// Whether dependents are applied.
    pub(crate) by_default: bool,
    /// Kinds that are not, by group and kind.
    pub(crate) never: BTreeSet<(String, String)>,
}

impl Default for Applying {
    fn default() -> Self {
        Self { by_default: true, never: BTreeSet::new() }
    }
}

impl Applying {
    /// Whether objects of that kind are applied.
    pub(crate) fn applies(&self, kind: &ResourceType) -> bool {
        self.by_default
            && (self.never.is_empty()
                || !self.never.contains(&(kind.group().to_owned(), kind.kind().to_owned())))
    }

    /// Those of that kind are not, in whatever version.
    pub(crate) fn except(&mut self, kind: &ResourceType) {
        self.never.insert((kind.group().to_owned(), kind.kind().to_owned()));
    }
}
