//! What an operator has to know of its controllers before they start: what they need, and what they share.

use std::collections::BTreeSet;

use super::{Controller, declaration::Declaration};
use crate::{
    event_source::{MarkedKinds, Needs, SourceContents},
    resource::MarkNames,
};

impl Controller {
    /// What its sources need to be known where the operator starts. `elsewhere`: the operator works in other namespaces
    /// than its controllers say.
    pub(crate) fn needs(&self, elsewhere: bool) -> Vec<Needs> {
        let mut own = self.0.settings.needs();
        own.current_namespace &= !elsewhere;
        std::iter::once(own).chain(self.0.all_sources().map(|source| source.needs())).collect()
    }

    /// Adds the kinds that its dependents write, where an event source shows only those objects.
    pub(crate) fn add_marked(&self, names: &MarkNames, to: &mut MarkedKinds) {
        let marks = self.0.marks(names.clone());
        for source in self.0.all_sources() {
            if let SourceContents::Objects { kind, marked: true, .. } = source.contents() {
                to.add(&kind, &marks);
            }
        }
    }
}

impl Declaration {
    /// The field managers whose entries the caches keep: its own, and those of all controllers of the operator, which
    /// share caches.
    pub(super) fn own_managers(&self, of_all: &BTreeSet<String>) -> Vec<String> {
        let mut all = of_all.clone();
        all.insert(self.field_manager.to_string());
        all.into_iter().collect()
    }
}
