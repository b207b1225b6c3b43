//! What a dry run has to know about a declared controller before anything of it is wired.

use super::Controller;
use crate::{
    reconciler::ManagedWorkflow,
    resource::{ControllerMarks, MarkNames},
    results::NodeKey,
};

impl Controller {
    /// The field manager of its writes.
    pub(crate) fn field_manager(&self) -> &str {
        &self.0.field_manager
    }

    /// The finalizer that it puts on primaries, if it does.
    pub(crate) fn finalizer(&self) -> Option<&str> {
        self.0.finalizer.as_deref()
    }

    /// Whether runs see the ends of primaries.
    pub(crate) fn sees_ends(&self) -> bool {
        self.0.settings.all_events
    }

    /// The marks on what its nodes write, with the usual keys.
    pub(crate) fn marks(&self) -> ControllerMarks {
        self.0.marks(MarkNames::default())
    }

    /// The name of a node of its workflow, and whether the node's objects have an owner reference.
    pub(crate) fn node(&self, key: &NodeKey) -> Option<(&str, bool)> {
        let workflow = self.0.settings.workflow.as_ref()?;
        let name = workflow.node_name(key)?;
        Some((name, workflow.is_garbage_collected(name)))
    }
}
