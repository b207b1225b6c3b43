//! What a controller takes as its workflow.

use super::{Error, Workflow, WorkflowBuilder, node::AnyNode};
use crate::{dependent::Dependent, resource::KubeObject};

/// What a controller takes as a workflow: a [`Workflow`], its builder as it is, or what came of building it. What is wrong
/// with it is told with everything else that is wrong with the controller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a workflow for primaries of type `{P}`",
    note = "give `Workflow::builder().node(…)`, finished or not; its nodes must be for the controller's primary"
)]
pub trait IntoWorkflow<P: KubeObject> {
    /// Its dependents, also where it can't be finished; each with whether it has an activation condition.
    #[doc(hidden)]
    fn dependents(&self) -> Vec<(Dependent<P>, bool)>;

    /// Finishes the declaration.
    ///
    /// # Errors
    /// When it contradicts itself.
    fn into_workflow(self) -> Result<Workflow<P>, Error>;
}

fn fact<P: KubeObject>(node: &AnyNode) -> (Dependent<P>, bool) {
    (Dependent::of_any(node.dependent.clone()), node.activation.is_some())
}

impl<P: KubeObject> IntoWorkflow<P> for Workflow<P> {
    fn dependents(&self) -> Vec<(Dependent<P>, bool)> {
        self.any().0.nodes.iter().map(fact).collect()
    }

    fn into_workflow(self) -> Result<Self, Error> {
        Ok(self)
    }
}

impl<P: KubeObject> IntoWorkflow<P> for &Workflow<P> {
    fn dependents(&self) -> Vec<(Dependent<P>, bool)> {
        (*self).dependents()
    }

    fn into_workflow(self) -> Result<Workflow<P>, Error> {
        Ok(self.clone())
    }
}

impl<P: KubeObject> IntoWorkflow<P> for WorkflowBuilder<P> {
    fn dependents(&self) -> Vec<(Dependent<P>, bool)> {
        self.nodes.iter().map(|node| fact(&node.any)).collect()
    }

    fn into_workflow(self) -> Result<Workflow<P>, Error> {
        self.build()
    }
}

impl<P: KubeObject> IntoWorkflow<P> for Result<Workflow<P>, Error> {
    fn dependents(&self) -> Vec<(Dependent<P>, bool)> {
        self.as_ref().map(IntoWorkflow::dependents).unwrap_or_default()
    }

    fn into_workflow(self) -> Result<Workflow<P>, Error> {
        self
    }
}
