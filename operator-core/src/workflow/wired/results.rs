//! What a run has come to, node by node, with the types that their functions have.

use super::NodeRef;
use crate::{
    reconciler::{
        run::Run,
        workflow::{NodeKey, NodeResult, NodeState},
    },
    resource::KubeObject,
};

impl<P: KubeObject> Run<P> {
    /// What there is of a node: what the run has written or found, otherwise what is known of it. It is the newest state that is known
    /// without asking anyone, and never older than what the run has written or what the node's ready condition has judged.
    ///
    /// `run.get(web)` is an `Option<Arc<Deployment>>` where the function `web` says what one should be, and `run.get(pods)` a `Vec<Arc<Pod>>` where `pods`
    /// answers with several. A value is named by its type: `run.get(the::<Records>())`. Nothing, where the node is not to be there, or
    /// is no node of the workflow.
    pub fn get<M, T, N: NodeRef<P, M, Seen = T>>(&self, node: N) -> T {
        let name = self.node_name(&node.key());
        N::seen(&name.map(|name| self.secondaries(name)).unwrap_or_default())
    }

    /// What became of a node in the run; `None` where the run didn't get to the workflow, or it is no node of it.
    pub fn state<M, N: NodeRef<P, M>>(&self, node: N) -> Option<&NodeState> {
        self.node(node).map(|node| &node.state)
    }

    /// The same with all that is known of the node: what was done to each of its resources, and what its conditions answered.
    pub fn node<M, N: NodeRef<P, M>>(&self, node: N) -> Option<&NodeResult> {
        self.node_named(self.node_name(&node.key())?)
    }

    fn node_name(&self, key: &NodeKey) -> Option<&str> {
        self.workflow()?.node_name(key)
    }
}
