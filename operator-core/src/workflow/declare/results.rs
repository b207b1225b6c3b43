//! The results of a run, node by node, with the types of their functions.

use super::NodeRef;
use crate::{
    reconciler::run::Run,
    resource::KubeObject,
    results::{NodeKey, NodeResult, NodeState},
};

impl<P: KubeObject> Run<P> {
    /// The objects of a node: those that the run has written or found, otherwise those that are known. `run.get(web)`
    /// is an `Option<Arc<Deployment>>` if the function `web` returns one object, and `run.get(pods)` a
    /// `Vec<Arc<Pod>>` if `pods` returns several. A value is referred to by its type: `run.get(the::<Records>())`.
    /// Empty if the node should not exist, or isn't a node of the workflow.
    pub fn get<M, T, N: NodeRef<P, M, Seen = T>>(&self, node: N) -> T {
        let name = self.node_name(&node.key());
        N::seen(&name.map(|name| self.secondaries(name)).unwrap_or_default())
    }

    /// The outcome of a node in the run; `None` if the run didn't reach the workflow, or the workflow has no such node.
    pub fn state<M, N: NodeRef<P, M>>(&self, node: N) -> Option<&NodeState> {
        self.node(node).map(|node| &node.state)
    }

    /// The same with everything that is known about the node: what was done to each of its resources, and the answers
    /// of its conditions.
    pub fn node<M, N: NodeRef<P, M>>(&self, node: N) -> Option<&NodeResult> {
        self.node_named(self.node_name(&node.key())?)
    }

    fn node_name(&self, key: &NodeKey) -> Option<&str> {
        self.workflow()?.node_name(key)
    }
}
