//! The results of a run, node by node, with the types of their functions.

use std::sync::LazyLock;

use super::NodeRef;
use crate::{
    reconciler::{Context, run::Run},
    resource::KubeObject,
    results::{NOT_COME_TO, NodeKey, NodeResult, NodeState, WorkflowError},
};

impl<P: KubeObject> Context<P> {
    /// What another node of the controller's workflow has now, in its newest known state and in the form of
    /// [`Run::get`](crate::Run::get): what it has written or found in this run. Empty if it should not exist.
    ///
    /// It is for functions of nodes and for conditions. Their node has to come after the other one, directly or through
    /// others, so that the answer doesn't depend on which of the two is faster:
    ///
    /// ```
    /// use k8s_openapi::api::{apps::v1::Deployment, core::v1::{ConfigMap, Pod, Service}};
    /// use operator_core::prelude::*;
    ///
    /// fn service(_: &Pod) -> Service {
    ///     Service::default()
    /// }
    ///
    /// fn address(_: &Pod, cx: &Context<Pod>) -> Result<ConfigMap> {
    ///     let ip = cx.seen(service)?.and_then(|service| service.spec.as_ref()?.cluster_ip.clone());
    ///     let data = [("ip".to_owned(), ip.unwrap_or_default())];
    ///     Ok(ConfigMap { data: Some(data.into()), ..ConfigMap::default() })
    /// }
    ///
    /// let controller = Controller::of_existing::<Pod>().workflow((service, address.after(service)));
    /// ```
    ///
    /// # Errors
    /// If the workflow has no such node, or the caller's node doesn't come after it. Neither is retried.
    pub fn seen<M, T, N: NodeRef<P, M, Seen = T>>(&self, node: N) -> Result<T, WorkflowError> {
        Ok(N::seen(&self.any().seen(&node.key(), self.node())?))
    }
}

impl<P: KubeObject> Run<P> {
    /// The objects of a node: those that the run has written or found, otherwise those that are known. `run.get(web)`
    /// is an `Option<Arc<Deployment>>` if the function `web` returns one object, and `run.get(pods)` a
    /// `Vec<Arc<Pod>>` if `pods` returns several. A value is referred to by its type: `run.get(the::<Records>())`.
    /// Empty if the node should not exist, or isn't a node of the workflow. A run that failed before its workflow returns
    /// the known objects, too.
    pub fn get<M, T, N: NodeRef<P, M, Seen = T>>(&self, node: N) -> T {
        let name = self.node_name(&node.key());
        N::seen(&name.map(|name| self.secondaries(name)).unwrap_or_default())
    }

    /// The outcome of a node in the run: `Pending` with the reason `not reached` if the run didn't reach it; `None` if the
    /// workflow has no such node.
    pub fn state<M, N: NodeRef<P, M>>(&self, node: N) -> Option<&NodeState> {
        static NOT_REACHED: LazyLock<NodeState> =
            LazyLock::new(|| NodeState::Pending { reason: NOT_COME_TO.to_owned() });
        let name = self.node_name(&node.key())?;
        Some(self.node_named(name).map_or(&*NOT_REACHED, |node| &node.state))
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
