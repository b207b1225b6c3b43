//! The declaration of a workflow.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    Error, Graph, Node, NodeId, Outline,
    ending::{self, Ending},
    mermaid::{self, Class, Label},
    run,
};
use crate::{
    dependent::{DependentSource, IntoDependent},
    reconciler::{
        Context,
        workflow::{NodeState, WorkflowResult},
    },
    resource::{Access, KubeObject},
};

/// A workflow, ready to be given to a controller or to be called by hand. Cheap to clone; built once, it serves all
/// primaries. JOSDK's `Workflow`.
pub struct Workflow<P: KubeObject>(pub(super) Arc<Declared<P>>);

pub(super) struct Declared<P: KubeObject> {
    /// Tells the nodes of one workflow from those of another, for the event sources that both need.
    pub(super) id: u64,
    pub(super) graph: Graph,
    /// In the order of the graph's nodes.
    pub(super) nodes: Vec<Node<P>>,
    /// What becomes of the nodes when their primary goes, in the same order.
    pub(super) endings: Vec<Ending>,
    pub(super) explicit: bool,
    pub(super) keeps_errors: bool,
}

impl<P: KubeObject> Workflow<P> {
    /// Starts the declaration of a workflow.
    pub fn builder() -> WorkflowBuilder<P> {
        WorkflowBuilder { nodes: Vec::new(), explicit: false, keeps_errors: false }
    }

    /// Reconciles everything that can be; what went wrong is in the result. For standalone workflows; a controller's own
    /// is invoked by [`Context::workflow`].
    pub async fn reconcile(&self, primary: &Arc<P>, context: &Context<P>) -> WorkflowResult {
        run::reconcile(&self.0, primary, context, &drop).await
    }

    /// Deletes everything that has to be deleted before the primary goes. While the result isn't
    /// [`all_deleted`](WorkflowResult::all_deleted) the primary keeps its finalizer, whatever the cleaner says.
    pub async fn cleanup(&self, primary: &Arc<P>, context: &Context<P>) -> WorkflowResult {
        run::cleanup(&self.0, primary, context, &drop).await
    }

    /// The names of the nodes, in the order of their declaration.
    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.0.graph.nodes().map(|node| self.0.graph.name(node))
    }

    /// Whether something has to be deleted before the primary goes, so that it needs a finalizer.
    #[must_use]
    pub fn has_deletable(&self) -> bool {
        self.0.endings.iter().any(|ending| ending.is_deleted())
    }

    /// The names of the nodes that have to be deleted before the primary goes, in the order of their declaration.
    pub(crate) fn deletable(&self) -> impl Iterator<Item = &str> {
        self.node_names().zip(&self.0.endings).filter(|(_, ending)| ending.is_deleted()).map(|(name, _)| name)
    }

    /// The nodes with their conditions and how they depend on one another, as text that [Mermaid](https://mermaid.js.org) draws.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        self.outline().mermaid()
    }

    /// The same with what became of each node.
    #[must_use]
    pub fn to_mermaid_with(&self, result: &WorkflowResult) -> String {
        let graph = &self.0.graph;
        let label = |node: NodeId| {
            let state = &result.node(graph.name(node))?.state;
            Some((node, Label { state: state.to_string(), class: Some(class_of(state)) }))
        };
        mermaid::flowchart(graph, &graph.nodes().filter_map(label).collect())
    }

    /// The event sources of its dependents.
    pub(crate) fn event_sources(&self) -> WorkflowSources {
        let mut sources = WorkflowSources::default();
        for node in &self.0.nodes {
            let needed =
                if node.activation.is_some() { &mut sources.conditional } else { &mut sources.always };
            needed.extend(node.dependent.event_sources());
        }
        sources
    }

    /// What can be said about it without running it.
    #[must_use]
    pub fn outline(&self) -> Outline {
        let conditions = self.0.nodes.iter().map(Node::conditions).collect();
        Outline { graph: self.0.graph.clone(), conditions, endings: self.0.endings.clone() }
    }

    /// The rights that its dependents need to write, and its conditions to answer. The right to delete is needed only where the workflow itself deletes:
    /// what the garbage collector removes, and no condition, is not deleted by the operator, unless it is one of several.
    #[must_use]
    pub fn access(&self) -> Vec<Access> {
        let graph = &self.0.graph;
        let mut removable: BTreeSet<NodeId> = BTreeSet::new();
        let mut access = Vec::new();
        for id in graph.in_order() {
            let node = &self.0.nodes[id.index()];
            // What depends on a node is removed before it.
            if node.may_be_removed() || graph.dependencies_of(id).any(|above| removable.contains(&above)) {
                removable.insert(id);
            }
            access.extend(node.asks.iter().cloned());
            let dependent = &node.dependent;
            let deletes = removable.contains(&id)
                || self.0.endings[id.index()].is_deleted()
                || dependent.deletes_while_reconciling();
            access.extend(node.dependent.access().into_iter().map(|mut right| {
                right.verbs.retain(|verb| deletes || *verb != "delete");
                right
            }));
        }
        access
    }
}

const fn class_of(state: &NodeState) -> Class {
    match state {
        NodeState::Ready(_) => Class::Ready,
        NodeState::Failed { .. } => Class::Failed,
        NodeState::Inactive { .. } | NodeState::Deleted | NodeState::Left { .. } => Class::Absent,
        NodeState::NotReady { .. }
        | NodeState::Waiting { .. }
        | NodeState::Pending { .. }
        | NodeState::Blocked { .. }
        | NodeState::Held { .. }
        | NodeState::Deleting { .. } => Class::Waiting,
    }
}

impl<P: KubeObject> Clone for Workflow<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: KubeObject> fmt::Debug for Workflow<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workflow").field("nodes", &self.0.nodes).finish_non_exhaustive()
    }
}

/// The event sources of a workflow's nodes.
#[derive(Debug, Default)]
pub(crate) struct WorkflowSources {
    /// Those of nodes that always take part.
    pub(crate) always: Vec<DependentSource>,
    /// Those of nodes with an activation condition: they run only while such a node is active for some primary.
    pub(crate) conditional: Vec<DependentSource>,
}

/// Declares a workflow. JOSDK's `WorkflowBuilder`.
#[must_use = "a workflow has to be built"]
pub struct WorkflowBuilder<P: KubeObject> {
    pub(super) nodes: Vec<Node<P>>,
    explicit: bool,
    keeps_errors: bool,
}

impl<P: KubeObject> WorkflowBuilder<P> {
    /// Adds a node. The order doesn't matter.
    pub fn node(mut self, node: Node<P>) -> Self {
        self.nodes.push(node);
        self
    }

    /// Adds a dependent that depends on nothing, without conditions.
    pub fn dependent(self, dependent: impl IntoDependent<P>) -> Self {
        self.node(Node::new(dependent))
    }

    /// The workflow runs only when the reconciler calls `context.workflow().reconcile()`; otherwise a managed workflow runs
    /// before `reconcile`. JOSDK's `explicitInvocation`.
    pub fn explicit_invocation(mut self) -> Self {
        self.explicit = true;
        self
    }

    /// Errors of nodes stay in the result for the reconciler to look at; otherwise they fail the run. JOSDK's
    /// `handleExceptionsInReconciler`.
    pub fn handle_errors_in_reconciler(mut self) -> Self {
        self.keeps_errors = true;
        self
    }

    /// Finishes the declaration.
    ///
    /// # Errors
    /// When two nodes have one name, one depends on an unknown one, or some depend on one another in a circle; with
    /// everything that is wrong.
    pub fn build(self) -> Result<Workflow<P>, Error> {
        static WORKFLOWS: AtomicU64 = AtomicU64::new(0);
        let Self { mut nodes, explicit, keeps_errors } = self;
        let graph = Graph::new(nodes.iter().map(|node| (node.dependent.name(), &node.depends_on)))?;
        for node in &mut nodes {
            if node.activation.is_some() {
                let sources = node.dependent.event_sources().into_iter();
                node.sources = sources.map(|source| source.declaration.name()).collect();
            }
        }
        let endings = ending::endings(&graph, |id| {
            let node = &nodes[id.index()];
            (node.dependent.capabilities(), node.deleted.is_some())
        });
        let id = WORKFLOWS.fetch_add(1, Ordering::Relaxed);
        Ok(Workflow(Arc::new(Declared { id, graph, nodes, endings, explicit, keeps_errors })))
    }
}

impl<P: KubeObject> fmt::Debug for WorkflowBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkflowBuilder").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}
