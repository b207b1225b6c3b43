//! The part of the marks that is the same for all objects of a controller.

use std::collections::BTreeSet;

use super::{MarkNames, Nodes, label_value};

/// The part of the marks that all nodes of one controller share, whatever the primary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ControllerMarks {
    pub(super) names: MarkNames,
    /// The value of the controller's label.
    pub(super) controller: String,
    /// The values that it had under former names.
    pub(super) former: BTreeSet<String>,
    /// The nodes that write objects in the cluster.
    pub(super) nodes: Nodes,
}

impl ControllerMarks {
    /// The marks of the controller with this name; `former` are the label's values for its earlier names.
    pub(crate) fn new(names: MarkNames, controller: &str, former: BTreeSet<String>, nodes: Nodes) -> Self {
        Self { names, controller: label_value(controller), former, nodes }
    }

    /// The keys of the marks.
    #[must_use]
    pub(crate) fn names(&self) -> &MarkNames {
        &self.names
    }

    /// The label selector for what this controller's dependents have written, under its present name or a former one.
    #[must_use]
    pub(crate) fn selector(&self) -> String {
        let values: Vec<&str> = self.values().collect();
        format!("{} in ({})", self.names.controller, values.join(","))
    }

    /// The same for several controllers, with these values of the label.
    #[must_use]
    pub(crate) fn selector_of(&self, values: &BTreeSet<String>) -> String {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        format!("{} in ({})", self.names.controller, values.join(","))
    }

    /// The values of the controller's label, present and former.
    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.controller).chain(self.former.iter().map(String::as_str))
    }

    /// Whether the controller has a node with that label's value.
    pub(crate) fn has_node(&self, value: &str) -> bool {
        self.nodes.has(value)
    }

    /// Whether the controller has, or had, that label's value.
    pub(crate) fn is_us(&self, controller: &str) -> bool {
        controller == self.controller || self.former.contains(controller)
    }
}
