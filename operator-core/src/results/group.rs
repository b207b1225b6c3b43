//! What a run did about a group of nodes.

use std::{any::Any, fmt, sync::Arc};

use super::{NodeResult, WorkflowResult};

/// A value that a layer above the workflow keeps with a group.
pub(crate) type Carried = Arc<dyn Any + Send + Sync>;

/// A group as it is declared.
pub(crate) struct Grouped {
    pub(crate) name: Arc<str>,
    /// The names of its nodes, in the order of their declaration.
    pub(crate) nodes: Vec<Arc<str>>,
    pub(crate) carried: Option<Carried>,
    /// Values that are kept with its nodes, by their names.
    pub(crate) of_nodes: Vec<(Arc<str>, Carried)>,
    /// The names of the nodes that only read.
    pub(crate) readers: Vec<Arc<str>>,
}

/// A group of the workflow with what a run did about its nodes. Returned by [`Run::groups`](crate::Run::groups).
pub struct GroupResult<'r> {
    group: Grouped,
    nodes: Vec<&'r NodeResult>,
}

impl<'r> GroupResult<'r> {
    pub(crate) fn of(group: Grouped, result: Option<&'r WorkflowResult>) -> Self {
        let nodes = group.nodes.iter().filter_map(|name| result?.node(name)).collect();
        Self { group, nodes }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.group.name
    }

    /// The names of its nodes, in the order of their declaration.
    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.group.nodes.iter().map(|name| &**name)
    }

    /// Whether the node with that name is in the group, and only reads.
    #[must_use]
    pub fn only_reads(&self, node: &str) -> bool {
        self.group.readers.iter().any(|name| **name == *node)
    }

    /// The outcomes of its nodes, in the same order. Those that the run didn't reach are missing.
    #[must_use]
    pub fn nodes(&self) -> &[&'r NodeResult] {
        &self.nodes
    }

    /// The value that the group carries, if that is of type `T`.
    #[must_use]
    pub fn carried<T: 'static>(&self) -> Option<&T> {
        self.group.carried.as_ref()?.downcast_ref()
    }

    /// The value of type `T` that the group carries for the node with that name.
    #[must_use]
    pub fn carried_of<T: 'static>(&self, node: &str) -> Option<&T> {
        let of_node = self.group.of_nodes.iter().filter(|(name, _)| **name == *node);
        of_node.map(|(_, value)| value).find_map(|value| value.downcast_ref())
    }
}

impl fmt::Debug for GroupResult<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupResult").field("name", &self.name()).field("nodes", &self.nodes).finish()
    }
}
