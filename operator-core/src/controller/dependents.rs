//! How a controller is given its workflows, and separate dependents.

use std::sync::Arc;

use super::{ControllerBuilder, Mistake, Mistakes, check::Node, unfinished::Unfinished};
use crate::{
    dependent::{AnyDependent, Standalone},
    reconciler::Reconciler,
    workflow::{AnyWorkflow, Declaring, IntoWorkflow, Stage},
};

impl<R: Reconciler> ControllerBuilder<R> {
    /// Runs a workflow for each primary: a tuple of nodes, `.workflow((html, web.after(html)))`, or a
    /// [`Workflow`](crate::Workflow). It runs before `reconcile`, unless it is declared as invoked explicitly, and
    /// before `cleanup`. This also adds its event sources, and the finalizer if something has to be deleted. A workflow
    /// may be given unfinished, as its builder. A controller has one workflow; tuples may be given several times and
    /// are combined into one. JOSDK: `@Workflow`.
    pub fn workflow<M>(mut self, workflow: impl IntoWorkflow<R::Primary, M>) -> Self {
        self.said.take_workflow(workflow.declared());
        self
    }

    /// Adds the event sources of a workflow that the reconciler calls itself, and the rights it needs. If some of its
    /// objects have to be deleted before the primary is removed, the reconciler has to be a [`Cleaner`](crate::Cleaner)
    /// that deletes them. JOSDK: `EventSourceUtils.eventSourcesFromWorkflow`.
    pub fn event_sources_of<M>(mut self, workflow: impl IntoWorkflow<R::Primary, M>) -> Self {
        if let Some(workflow) = self.said.declared(workflow.declared(), Duty::Reconciler) {
            self.said.settings.further_access.extend(workflow.access());
        }
        self
    }

    /// Adds the event sources of a dependent that the reconciler calls itself, and the rights it needs. If it has to be
    /// deleted before the primary is removed, the reconciler has to be a [`Cleaner`](crate::Cleaner) that deletes it.
    pub fn dependent(mut self, dependent: &Standalone<R::Primary>) -> Self {
        self.said.sources.add_dependent(dependent.event_sources());
        self.said.settings.further_access.extend(dependent.access());
        self.said.nodes.push(Node {
            cleaned_up_by_hand: dependent.any().capabilities().needs_cleanup(),
            ..node(dependent.any())
        });
        self
    }
}

impl Unfinished {
    /// Takes the controller's own workflow, or nodes of it.
    fn take_workflow(&mut self, workflow: Declaring) {
        match workflow.0 {
            // What is wrong with them is told when all of them are there.
            Stage::Nodes(nodes) => self.wired.extend(nodes),
            other => {
                if let Some(workflow) = self.declared(Declaring(other), Duty::Framework) {
                    self.set_workflow(workflow);
                }
            }
        }
    }

    /// Makes a workflow of the nodes that were given separately.
    pub(super) fn take_nodes(&mut self) {
        let nodes = std::mem::take(&mut self.wired);
        if nodes.is_empty() {
            return;
        }
        if let Some(workflow) = self.declared(Declaring(Stage::Nodes(nodes)), Duty::Framework) {
            self.set_workflow(workflow);
        }
    }

    fn set_workflow(&mut self, workflow: AnyWorkflow) {
        if self.settings.workflow.is_some() {
            self.mistakes.push(Mistake::new(
                "it has two workflows",
                "the second would take the place of the first, whose dependents would never run",
                "one `.workflow(…)` with the nodes of both, or `.event_sources_of(…)` for one that the reconciler calls",
            ));
            return;
        }
        self.settings.workflow = Some(workflow);
    }

    /// Takes what every workflow has; `None` if it contradicts itself.
    fn declared(&mut self, workflow: Declaring, duty: Duty) -> Option<AnyWorkflow> {
        let dependents = workflow.dependents();
        let mut nodes: Vec<Node> = dependents.iter().map(node).collect();
        let workflow = workflow.finish();
        if let (Ok(workflow), Duty::Reconciler) = (&workflow, duty) {
            for node in &mut nodes {
                node.cleaned_up_by_hand = workflow.deletable().any(|name| *name == *node.name);
            }
        }
        self.nodes.extend(nodes);
        match workflow {
            Ok(workflow) => {
                self.sources.add_workflow(workflow.event_sources());
                self.settings.outlines.push(workflow.outline());
                self.takes.extend(workflow.data().map(|(node, data)| (node.to_owned(), data)));
                Some(workflow)
            }
            Err(error) => {
                // What the other nodes read may come from one of these.
                let sources = dependents.iter().flat_map(AnyDependent::event_sources);
                self.sources.add_dependent(sources.collect());
                self.mistakes.extend(Mistakes::from(error));
                None
            }
        }
    }
}

/// Who has to ensure that the objects of a workflow are deleted before its primary is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Duty {
    Framework,
    Reconciler,
}

fn node(dependent: &AnyDependent) -> Node {
    let (name, declaration) = (dependent.shared_name(), Arc::clone(dependent.declaration()));
    Node { name, declaration, cleaned_up_by_hand: false }
}
