//! One node of a workflow, as it is declared.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::{activation::AnyActivation, condition::AnyCondition};
use crate::{
    dependent::{AnyDependent, Capabilities},
    reconciler::{
        DataType,
        workflow::{ConditionKind, NodeKey},
    },
    resource::Access,
};

/// A node, whatever its types: what it depends on, and its conditions. JOSDK's `@Dependent` within `@Workflow`.
pub(super) struct AnyNode {
    pub(super) dependent: AnyDependent,
    /// The type of the function or value that it is.
    pub(super) key: NodeKey,
    /// Whether its name can be used: that of a closure can't.
    pub(super) is_named: bool,
    /// What it depends on.
    pub(super) after: Vec<NodeKey>,
    pub(super) activation: Option<Arc<dyn AnyActivation>>,
    pub(super) ready: Option<Arc<dyn AnyCondition>>,
    pub(super) deleted: Option<Arc<dyn AnyCondition>>,
    /// Whether it has to be gone before what it depends on, and its primary, are.
    pub(super) first: bool,
    /// Whether it is ready even if it is only read and nothing is there.
    pub(super) optional: bool,
    /// The names of the event sources that run only while this node is active; filled in when the workflow is built.
    pub(super) sources: Vec<String>,
    /// The rights that its conditions need.
    pub(super) asks: Vec<Access>,
    /// The data that its functions take out of the run.
    pub(super) data: Vec<DataType>,
    /// The conditions as text, by what they decide.
    pub(super) words: BTreeMap<ConditionKind, String>,
}

impl AnyNode {
    /// A node of that dependent, without any settings.
    pub(super) fn of(dependent: AnyDependent, key: NodeKey) -> Self {
        Self {
            dependent,
            key,
            is_named: true,
            after: Vec::new(),
            activation: None,
            ready: None,
            deleted: None,
            first: false,
            optional: false,
            sources: Vec::new(),
            asks: Vec::new(),
            data: Vec::new(),
            words: BTreeMap::new(),
        }
    }

    /// Whether it isn't ready if nothing was found: it is only read, it is a single object, and what depends on it
    /// needs it.
    pub(super) fn has_to_be_found(&self) -> bool {
        let reads = self.dependent.capabilities() == Capabilities::READ_ONLY;
        reads && !self.optional && !self.dependent.is_several()
    }

    /// Whether it is ready even if there is nothing: it is only read, and may be missing, or is any number of objects.
    pub(super) fn may_lack(&self) -> bool {
        let reads = self.dependent.capabilities() == Capabilities::READ_ONLY;
        reads && (self.optional || self.dependent.is_several())
    }

    /// Whether its dependent may hold it.
    pub(super) fn may_be_held(&self) -> bool {
        self.dependent.judged().is_some_and(|judged| judged.holds)
    }

    /// Whether its dependent's wish is computed. `in_order`: all that it depends on is ready.
    pub(super) fn is_wish_asked(&self, in_order: bool) -> bool {
        self.dependent.judged().is_some_and(|judged| in_order || judged.before_order)
    }

    /// The conditions as text, as in `only if exposed`.
    pub(super) fn conditions(&self) -> Vec<String> {
        self.words.values().cloned().collect()
    }

    pub(super) fn name(&self) -> Arc<str> {
        self.dependent.shared_name()
    }
}

impl fmt::Debug for AnyNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("dependent", &self.dependent)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
