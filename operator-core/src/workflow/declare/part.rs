//! A part of a workflow, as a reconciler names it.

use super::NodeRef;
use crate::{
    reconciler::{Context, Run},
    resource::KubeObject,
    results::{NodeKey, WorkflowError},
};

impl<P: KubeObject> Context<P> {
    /// Reconciles some nodes of the controller's workflow and all nodes that they come after, as [`run`](Self::run)
    /// reconciles the whole: `cx.run_only((migration,)).await?`.
    ///
    /// All other nodes stay as they are: they aren't evaluated, created or removed. A removal among the nodes of
    /// the part waits if a node outside comes after them and exists. The returned run covers the part alone; the
    /// status function also sees the earlier results of the workflow in this run of the primary, and a node that was
    /// never run is not ready.
    ///
    /// # Errors
    /// As [`run`](Self::run), and if a name isn't a node of the workflow.
    pub async fn run_only<M>(&mut self, part: impl Part<P, M>) -> Result<Run<P>, WorkflowError> {
        let mut nodes = Vec::new();
        part.keys(&mut nodes);
        self.run_part(&nodes).await
    }
}

/// A tuple of 1 to 16 nodes, named as in `.after(…)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a part of a workflow of `{P}`",
    label = "not a tuple of 1 to 16 nodes",
    note = "write `cx.run_only((migration,))`, with two brackets; a node is named by its function, by its type (`the::<Records>()`), or by a reference to it"
)]
pub trait Part<P, M> {
    #[doc(hidden)]
    fn keys(self, keys: &mut Vec<NodeKey>);
}

macro_rules! tuples {
    ($($node:ident $marker:ident),*) => {
        #[diagnostic::do_not_recommend]
        impl<P: KubeObject, $($node, $marker,)*> Part<P, ($($marker,)*)> for ($($node,)*)
        where
            $($node: NodeRef<P, $marker>,)*
        {
            #[allow(non_snake_case)]
            fn keys(self, keys: &mut Vec<NodeKey>) {
                let ($($node,)*) = self;
                keys.extend([$($node.key()),*]);
            }
        }
    };
}

each_tuple!(tuples);
