//! What a controller is told of its workflows, and of dependents beside them.

use std::sync::Arc;

use super::{ControllerBuilder, Mistake, Mistakes, check::Node};
use crate::{
    dependent::{AnyDependent, Dependent},
    reconciler::Reconciler,
    workflow::{AnyWorkflow, IntoWorkflow},
};

impl<R: Reconciler> ControllerBuilder<R> {
    /// Runs a workflow for each primary: before `reconcile`, unless it is declared as invoked explicitly, and before
    /// `cleanup`. Its event sources come with it, and the finalizer where something has to be deleted. It may be given
    /// unfinished, as its builder. A controller has one.
    /// JOSDK: `@Workflow`.
    pub fn workflow(mut self, workflow: impl IntoWorkflow<R::Primary>) -> Self {
        let Some(workflow) = self.declared(workflow, Duty::Framework) else { return self };
        if self.said.settings.workflow.is_some() {
            self.said.mistakes.push(Mistake::new(
                "it has two workflows",
                "the second would take the place of the first, whose dependents would never run",
                "one `.workflow(…)` with the nodes of both, or `.event_sources_of(…)` for one that the reconciler calls",
            ));
            return self;
        }
        self.said.settings.workflow = Some(workflow);
        self
    }

    /// Adds the event sources of a workflow that the reconciler calls by itself, and the rights it needs. Where something of
    /// it has to be deleted before the primary goes, the reconciler has to be a [`Cleaner`](crate::Cleaner) that does it.
    /// JOSDK: `EventSourceUtils.eventSourcesFromWorkflow`.
    pub fn event_sources_of(mut self, workflow: impl IntoWorkflow<R::Primary>) -> Self {
        if let Some(workflow) = self.declared(workflow, Duty::Reconciler) {
            self.said.settings.further_access.extend(workflow.access());
        }
        self
    }

    /// Adds the event sources of a dependent that the reconciler calls by itself, and the rights it needs. Where it has to be
    /// deleted before the primary goes, the reconciler has to be a [`Cleaner`](crate::Cleaner) that does it.
    pub fn dependent(mut self, dependent: &Dependent<R::Primary>) -> Self {
        self.said.sources.add_dependent(dependent.event_sources());
        self.said.settings.further_access.extend(dependent.access());
        self.said.nodes.push(Node {
            cleaned_up_by_hand: dependent.capabilities().needs_cleanup(),
            ..node(dependent.any(), false)
        });
        self
    }

    /// Takes what every workflow has; `None` where it contradicts itself.
    fn declared(&mut self, workflow: impl IntoWorkflow<R::Primary>, duty: Duty) -> Option<AnyWorkflow> {
        let dependents = workflow.dependents();
        let mut nodes: Vec<Node> =
            dependents.iter().map(|(dependent, conditional)| node(dependent.any(), *conditional)).collect();
        let workflow = workflow.into_workflow().map(|workflow| workflow.any().clone());
        if let (Ok(workflow), Duty::Reconciler) = (&workflow, duty) {
            for node in &mut nodes {
                node.cleaned_up_by_hand = workflow.deletable().any(|name| *name == *node.name);
            }
        }
        self.said.nodes.extend(nodes);
        match workflow {
            Ok(workflow) => {
                self.said.sources.add_workflow(workflow.event_sources());
                self.said.settings.outlines.push(workflow.outline());
                Some(workflow)
            }
            Err(error) => {
                // What the other nodes read may come from one of these.
                let sources = dependents.iter().flat_map(|(dependent, _)| dependent.event_sources());
                self.said.sources.add_dependent(sources.collect());
                self.said.mistakes.extend(Mistakes::from(error));
                None
            }
        }
    }
}

/// Who has to see to it that what a workflow has made is deleted before its primary goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Duty {
    Framework,
    Reconciler,
}

fn node(dependent: &AnyDependent, conditional: bool) -> Node {
    let (name, declaration) = (dependent.shared_name(), Arc::clone(dependent.declaration()));
    Node { name, declaration, conditional, cleaned_up_by_hand: false }
}
