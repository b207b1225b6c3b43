//! The types that a controller accepts as its workflow.

use super::{IntoNode, any_node::AnyNode, builder::AnyBuilder};
use crate::workflow::{AnyWorkflow, BuildError, Workflow, WorkflowBuilder};
use crate::{
    dependent::{AnyDependent, function::ByHand},
    reconciler::DataType,
    resource::KubeObject,
};

/// The types that a controller accepts as a workflow: a tuple of nodes, a [`Workflow`], its builder, or the result of
/// building it. Its mistakes are reported together with all others of the controller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a workflow of `{P}`",
    label = "not a tuple of 1 to 16 nodes",
    note = "write `.workflow((html, web.after(html)))`, with two brackets; one node alone is `.workflow((html,))`; more than 16 go into a second `.workflow(…)`",
    note = "a `Workflow` or its builder, `Workflow::builder().nodes((html, web.after(html)))`, must be for the controller's primary"
)]
pub trait IntoWorkflow<P: KubeObject, M = ByHand> {
    /// The parts that are known before it is finished.
    #[doc(hidden)]
    fn declared(self) -> Declaring;

    /// Finishes the declaration.
    ///
    /// # Errors
    /// If it contradicts itself.
    fn into_workflow(self) -> Result<Workflow<P>, BuildError>
    where
        Self: Sized,
    {
        Ok(Workflow::of_any(self.declared().finish()?))
    }
}

/// The only implementation: with those of [`Declare`] here, the compiler would list them in each error.
impl<P: KubeObject, M, W: Declare<P, M>> IntoWorkflow<P, M> for W {
    fn declared(self) -> Declaring {
        self.declare()
    }
}

/// The types for which [`IntoWorkflow`] is implemented.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a workflow of `{P}`",
    label = "not a tuple of 1 to 16 nodes",
    note = "write `.workflow((html, web.after(html)))`, with two brackets; one node alone is `.workflow((html,))`; more than 16 go into a second `.workflow(…)`",
    note = "a `Workflow` or its builder, `Workflow::builder().nodes((html, web.after(html)))`, must be for the controller's primary"
)]
pub trait Declare<P, M> {
    /// The parts that are known before it is finished.
    fn declare(self) -> Declaring;
}

/// A workflow that is declared but not finished.
pub struct Declaring(pub(crate) Stage);

/// Its stage.
pub(crate) enum Stage {
    Finished(AnyWorkflow),
    Wrong(BuildError),
    Builder(AnyBuilder),
    /// Nodes; more may be added.
    Nodes(AnyBuilder),
}

debug_of!(Declaring: "Declaring");

impl Declaring {
    /// Its nodes, even if it can't be finished.
    fn nodes(&self) -> &[AnyNode] {
        match &self.0 {
            Stage::Finished(workflow) => &workflow.0.nodes,
            Stage::Builder(builder) | Stage::Nodes(builder) => &builder.nodes.nodes,
            Stage::Wrong(_) => &[],
        }
    }

    /// The dependents of its nodes.
    pub(crate) fn dependents(&self) -> Vec<AnyDependent> {
        self.nodes().iter().map(|node| node.dependent.clone()).collect()
    }

    /// The data that its functions take, and the node of each.
    pub(crate) fn data(&self) -> Vec<(String, DataType)> {
        let of = |node: &AnyNode| {
            node.terms.data.iter().map(|data| (node.name().to_string(), *data)).collect::<Vec<_>>()
        };
        self.nodes().iter().flat_map(of).collect()
    }

    pub(crate) fn finish(self) -> Result<AnyWorkflow, BuildError> {
        match self.0 {
            Stage::Finished(workflow) => Ok(workflow),
            Stage::Wrong(error) => Err(error),
            Stage::Builder(builder) | Stage::Nodes(builder) => builder.build(),
        }
    }
}

impl<P: KubeObject> Declare<P, ByHand> for Workflow<P> {
    fn declare(self) -> Declaring {
        Declaring(Stage::Finished(self.any().clone()))
    }
}

impl<P: KubeObject> Declare<P, ByHand> for &Workflow<P> {
    fn declare(self) -> Declaring {
        Declaring(Stage::Finished(self.any().clone()))
    }
}

impl<P: KubeObject> Declare<P, ByHand> for WorkflowBuilder<P> {
    fn declare(self) -> Declaring {
        Declaring(Stage::Builder(self.any))
    }
}

impl<P: KubeObject> Declare<P, ByHand> for Result<Workflow<P>, BuildError> {
    fn declare(self) -> Declaring {
        match self {
            Ok(workflow) => workflow.declare(),
            Err(error) => Declaring(Stage::Wrong(error)),
        }
    }
}

// The bounds are those of the nodes themselves: each trait between adds a line to the compiler's errors.
macro_rules! tuples {
    ($($node:ident $marker:ident),*) => {
        impl<P: KubeObject, $($node, $marker,)*> Declare<P, ($($marker,)*)> for ($($node,)*)
        where
            $($node: IntoNode<P, $marker>,)*
        {
            fn declare(self) -> Declaring {
                let mut nodes = AnyBuilder::default();
                nodes.add(self);
                Declaring(Stage::Nodes(nodes))
            }
        }
    };
}

each_tuple!(tuples);
