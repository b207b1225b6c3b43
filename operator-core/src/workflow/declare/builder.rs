//! The declaration of a workflow.

use std::{
    collections::HashMap,
    fmt,
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    AnyNodes, Nodes, Resolved, Start,
    any_node::AnyNode,
    ending::{self, Deleting, Ending},
    group::AnyGroup,
};
use crate::workflow::{
    BuildError, Graph, NodeId, Outline, OutlinedGroup,
    mermaid::{self, Class, Label},
    run::{self, pruning},
};
use crate::{
    dependent::{self, AnyDependent, Declaration, DependentSource, External, FormerSets, Records, function},
    reconciler::{AnyGiven, AnyRun, Context, Run},
    resource::{Access, KubeObject},
    results::{NodeKey, WorkflowResult},
};

/// A workflow, ready to be given to a controller or to be called by hand. Cheap to clone; it is built once and serves
/// all primaries. JOSDK's `Workflow`.
pub struct Workflow<P: KubeObject> {
    any: AnyWorkflow,
    of: PhantomData<fn(P)>,
}

#[cfg(feature = "testing")]
thread_local! {
    /// Whether the nodes of the workflows that this thread builds are declared the other way round.
    pub(crate) static NODES_ARE_REVERSED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The same for primaries of any type.
#[derive(Clone)]
pub(crate) struct AnyWorkflow(pub(in crate::workflow) Arc<Declared>);

pub(in crate::workflow) struct Declared {
    /// Distinguishes the nodes of one workflow from those of another, for the event sources that both need.
    pub(in crate::workflow) id: u64,
    pub(in crate::workflow) graph: Graph,
    /// The names of the nodes that are functions or values.
    pub(in crate::workflow) names: HashMap<NodeKey, Arc<str>>,
    /// In the order of the graph's nodes.
    pub(in crate::workflow) nodes: Vec<AnyNode>,
    /// How the nodes end when their primary is deleted, in the same order.
    pub(in crate::workflow) endings: Vec<Ending>,
    pub(in crate::workflow) groups: Vec<AnyGroup>,
    pub(in crate::workflow) starts: Vec<Start>,
    pub(in crate::workflow) settings: WorkflowSettings,
    /// The fields of the primary's status in which nodes keep ids.
    pub(in crate::workflow) own_fields: Vec<Arc<str>>,
}

/// The settings that concern no present node.
#[derive(Default)]
pub(in crate::workflow) struct WorkflowSettings {
    /// Former nodes, of kinds that no other node writes.
    pub(in crate::workflow) retired: Vec<AnyDependent>,
    /// Former nodes whose records were in other systems.
    pub(in crate::workflow) retired_records: Vec<AnyDependent>,
    /// Removes what former nodes with several kinds have left.
    pub(in crate::workflow) former_sets: FormerSets,
    /// Whether the leftovers of such nodes are removed even if data is lost with them.
    pub(in crate::workflow) prunes_data: bool,
    pub(in crate::workflow) explicit: bool,
    pub(in crate::workflow) keeps_errors: bool,
}

impl<P: KubeObject> Workflow<P> {
    /// Starts the declaration of a workflow.
    pub fn builder() -> WorkflowBuilder<P> {
        WorkflowBuilder::new()
    }

    /// Reconciles everything that can be reconciled; errors are in the result. For standalone workflows;
    /// [`Context::run`] runs a controller's own.
    pub async fn reconcile(&self, primary: &P, context: &Context<P>) -> Run<P> {
        self.run(primary, context, false).await
    }

    /// Deletes everything that has to be deleted before the primary is. Until [all is deleted](Run::all_deleted), the
    /// primary keeps its finalizer, whatever the cleaner returns.
    pub async fn cleanup(&self, primary: &P, context: &Context<P>) -> Run<P> {
        self.run(primary, context, true).await
    }

    async fn run(&self, primary: &P, context: &Context<P>, is_cleanup: bool) -> Run<P> {
        let (primary, invoker) = (context.shared_primary(primary), run::Invoker::Reconciler);
        let given = AnyGiven { primary: &primary, context: context.any() };
        let result = run::run(&self.any.0, is_cleanup, given, &drop, invoker).await;
        let workflow = Arc::new(self.any.clone());
        let run = AnyRun::of_standalone(context.any(), primary, workflow, result, is_cleanup);
        Run::of_any(Arc::new(run))
    }

    /// The names of the nodes, in the order of their declaration.
    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.any.node_names()
    }

    /// Whether something has to be deleted before the primary is, which needs a finalizer.
    #[must_use]
    pub fn has_deletable(&self) -> bool {
        self.any.has_deletable()
    }

    /// The nodes with their conditions and dependencies, as text that [Mermaid](https://mermaid.js.org) draws.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        self.any.outline().mermaid()
    }

    /// The same with the outcome of each node.
    #[must_use]
    pub fn to_mermaid_with(&self, run: &Run<P>) -> String {
        run.result().map_or_else(|| self.to_mermaid(), |result| self.any.to_mermaid_with(result))
    }

    /// A description of the workflow that needs no run, as text: a line for each node, below the nodes that it comes
    /// after. The command `graph` prints the same.
    #[must_use]
    pub fn outline(&self) -> impl fmt::Display + use<P> {
        self.any.outline()
    }

    /// The rights that its dependents need to write, and its conditions to evaluate. A dependent that may delete its
    /// objects gets the right to, even if the garbage collector deletes them in the end: objects with another name, and
    /// those of a former node, are deleted by nothing else.
    #[must_use]
    pub fn access(&self) -> Vec<Access> {
        self.any.access()
    }

    pub(in crate::workflow) fn of_any(any: AnyWorkflow) -> Self {
        Self { any, of: PhantomData }
    }

    /// The same for primaries of any type.
    pub(crate) fn any(&self) -> &AnyWorkflow {
        &self.any
    }
}

impl AnyWorkflow {
    /// The names of the nodes, in the order of their declaration.
    pub(crate) fn node_names(&self) -> impl Iterator<Item = &str> {
        self.0.graph.nodes().map(|node| self.0.graph.name(node))
    }

    /// Whether something has to be deleted before the primary is, which needs a finalizer.
    pub(crate) fn has_deletable(&self) -> bool {
        self.0.endings.iter().any(|ending| ending.is_deleted())
    }

    /// The names of the nodes that have to be deleted before the primary is, in the order of their declaration.
    pub(crate) fn deletable(&self) -> impl Iterator<Item = &str> {
        self.node_names().zip(&self.0.endings).filter(|(_, ending)| ending.is_deleted()).map(|(name, _)| name)
    }

    /// The dependent of a node.
    #[cfg(feature = "testing")]
    pub(crate) fn dependent(&self, key: &NodeKey) -> Option<&AnyDependent> {
        let name = self.0.names.get(key)?;
        self.0.nodes.iter().map(|node| &node.dependent).find(|dependent| dependent.name() == &**name)
    }

    /// The same with the outcome of each node.
    pub(crate) fn to_mermaid_with(&self, result: &WorkflowResult) -> String {
        let graph = &self.0.graph;
        let label = |node: NodeId| {
            let state = &result.node(graph.name(node))?.state;
            Some((node, Label { state: state.to_string(), class: Some(Class::from(state)) }))
        };
        mermaid::flowchart(graph, &graph.nodes().filter_map(label).collect(), &self.outlined_groups())
    }

    /// The event sources of its dependents.
    pub(crate) fn event_sources(&self) -> WorkflowSources {
        let mut sources = WorkflowSources::default();
        for node in &self.0.nodes {
            let needed = if node.terms.activations.is_empty() {
                &mut sources.always
            } else {
                &mut sources.conditional
            };
            needed.extend(node.dependent.event_sources());
        }
        sources.conditional.extend(self.0.settings.retired.iter().flat_map(AnyDependent::event_sources));
        sources.always.extend(self.0.settings.retired_records.iter().flat_map(AnyDependent::event_sources));
        sources
    }

    /// The former nodes whose records were in other systems.
    pub(crate) fn retired_records(&self) -> impl Iterator<Item = (&str, &Arc<Declaration>)> {
        self.0.settings.retired_records.iter().map(|node| (node.name(), node.declaration()))
    }

    fn outlined_groups(&self) -> Vec<OutlinedGroup> {
        self.0.groups.iter().map(OutlinedGroup::of).collect()
    }

    /// A description of the workflow that needs no run.
    pub(crate) fn outline(&self) -> Outline {
        let conditions = self.0.nodes.iter().map(AnyNode::conditions).collect();
        let frozen = self.0.nodes.iter().map(|node| {
            let can = node.dependent.capabilities();
            can.creates && !can.updates
        });
        let frozen = frozen.collect();
        let mixed = self.0.nodes.iter().map(|node| node.dependent.declaration().of_any_kind).collect();
        let groups = self.outlined_groups();
        Outline {
            graph: self.0.graph.clone(),
            conditions,
            endings: self.0.endings.clone(),
            frozen,
            mixed,
            groups,
        }
    }

    /// The rights that its dependents need to write, and its conditions to evaluate. A dependent that may delete its
    /// objects gets the right to, even if the garbage collector deletes them in the end: objects with another name, and
    /// those of a former node, are deleted by nothing else.
    pub(crate) fn access(&self) -> Vec<Access> {
        let asks = self.0.nodes.iter().flat_map(|node| node.terms.asks.iter().cloned());
        let retired = self.0.settings.retired.iter().chain(&self.0.settings.retired_records);
        let asks = asks.chain(pruning::asks(&self.0.settings.retired));
        let dependents = self.0.nodes.iter().map(|node| &node.dependent).chain(retired);
        asks.chain(dependents.flat_map(AnyDependent::access)).collect()
    }
}

impl<P: KubeObject> Clone for Workflow<P> {
    fn clone(&self) -> Self {
        Self { any: self.any.clone(), of: PhantomData }
    }
}

impl<P: KubeObject> fmt::Debug for Workflow<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

debug_of!(AnyWorkflow: "Workflow", |it| nodes: it.0.nodes);

/// The event sources of a workflow's nodes.
#[derive(Debug, Default)]
pub(crate) struct WorkflowSources {
    /// Those of nodes that always take part.
    pub(crate) always: Vec<DependentSource>,
    /// Those of nodes that need a capability of the cluster: they run only while such a node is active for some
    /// primary.
    pub(crate) conditional: Vec<DependentSource>,
}

/// Declares a workflow. JOSDK's `WorkflowBuilder`.
#[must_use = "a workflow has to be built"]
pub struct WorkflowBuilder<P: KubeObject> {
    pub(in crate::workflow) any: AnyBuilder,
    of: PhantomData<fn(P)>,
}

/// The same for primaries of any type.
#[derive(Default)]
pub(crate) struct AnyBuilder {
    pub(in crate::workflow) nodes: AnyNodes,
    settings: WorkflowSettings,
}

impl<P: KubeObject> WorkflowBuilder<P> {
    fn new() -> Self {
        Self { any: AnyBuilder::default(), of: PhantomData }
    }

    /// Adds nodes that are functions or values, in a tuple of up to sixteen: `.nodes((html, web.after(html)))`. May be
    /// called several times. The order doesn't matter.
    pub fn nodes<M>(mut self, nodes: impl Nodes<P, M>) -> Self {
        self.any.add(nodes);
        self
    }

    /// Adds one without any settings: called by the derive, and no error contains a tuple.
    #[doc(hidden)]
    pub fn wired<M: 'static, D>(self, dependent: D) -> Self
    where
        D: function::Dependent<P, M, Shape: function::ShapeOf<function::OfType>>,
    {
        self.nodes((dependent,))
    }

    /// Declares that an earlier version had a node of that name, whose objects were of type `K`, which no node writes
    /// any more: its leftovers, recognised by their marks, are removed. This adds the event source and the rights for
    /// it.
    ///
    /// Nodes whose kind is still written by another node don't need this: their leftovers are removed automatically.
    pub fn retired<K: KubeObject<DynamicType: Default>>(self, node: &str) -> Self {
        self.retired_of_type::<K>(node, K::DynamicType::default())
    }

    /// The same for a type that is known only at run time.
    pub fn retired_of_type<K: KubeObject>(mut self, node: &str, dynamic: K::DynamicType) -> Self {
        self.any.settings.retired.push(dependent::retired::<K>(node, &dynamic));
        self
    }

    /// Declares that an earlier version had a node of that name whose records were made by `external`: they are deleted.
    /// Their ids are found in the status or in a ConfigMap, their tokens are searched, and notes of creates without an answer
    /// wait for a person. Without this declaration, a primary with such ids or notes stays when it is deleted, and its run
    /// fails. For ids that were kept in a Secret, keep the node, and let its `want` return nothing.
    pub fn retired_records(mut self, node: &str, external: impl External<P>) -> Self {
        self.any.settings.retired_records.push(Records::<_, P>::former(external).declared(node.into()));
        self
    }

    /// Removes the leftovers of nodes that this version doesn't declare even if data is lost with them: by default
    /// their PersistentVolumeClaims, Namespaces and definitions are kept, with a warning.
    pub fn prune_data(mut self) -> Self {
        self.any.settings.prunes_data = true;
        self
    }

    /// The workflow runs only when the reconciler calls [`Context::run`]; otherwise a managed workflow runs
    /// before `reconcile`. JOSDK's `explicitInvocation`.
    pub fn explicit_invocation(mut self) -> Self {
        self.any.settings.explicit = true;
        self
    }

    /// Errors of nodes stay in the result for the reconciler to inspect; otherwise they fail the run. JOSDK's
    /// `handleExceptionsInReconciler`.
    pub fn handle_errors_in_reconciler(mut self) -> Self {
        self.any.settings.keeps_errors = true;
        self
    }

    /// Finishes the declaration.
    ///
    /// # Errors
    /// If two nodes have the same name, one depends on an unknown one, or some depend on one another in a cycle. The
    /// error names everything that is wrong.
    pub fn build(self) -> Result<Workflow<P>, BuildError> {
        Ok(Workflow::of_any(self.any.build()?))
    }
}

impl AnyBuilder {
    pub(in crate::workflow) fn add<P: KubeObject, M>(&mut self, nodes: impl Nodes<P, M>) {
        let mut all = AnyNodes::default();
        nodes.add_to(&mut all);
        self.nodes.extend(all);
    }

    /// Adds the nodes of another one, which has no settings of its own.
    pub(crate) fn extend(&mut self, further: Self) {
        self.nodes.extend(further.nodes);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.nodes.is_empty()
    }

    /// The checked declaration.
    pub(crate) fn build(self) -> Result<AnyWorkflow, BuildError> {
        static WORKFLOWS: AtomicU64 = AtomicU64::new(0);
        let Self { nodes: all, settings } = self;
        #[cfg(feature = "testing")]
        let all = if NODES_ARE_REVERSED.get() { all.reversed() } else { all };
        let AnyNodes { mut nodes, groups, .. } = all;
        let Resolved { graph, names, starts } = super::resolve(&nodes, &groups)?;
        for node in &mut nodes {
            if !node.terms.activations.is_empty() {
                let sources = node.dependent.event_sources().into_iter();
                node.sources = sources.map(|source| source.declaration.name()).collect();
            }
        }
        let endings = ending::endings(&graph, |id| {
            let node = &nodes[id.index()];
            let (by, says_gone) = (node.dependent.capabilities(), !node.terms.deleted.is_empty());
            Deleting { by, says_gone, first: node.terms.first }
        });
        let id = WORKFLOWS.fetch_add(1, Ordering::Relaxed);
        let own_fields = nodes.iter().filter_map(|node| node.dependent.declaration().keeps.clone()).collect();
        let declared = Declared { id, graph, names, nodes, endings, groups, starts, settings, own_fields };
        Ok(AnyWorkflow(Arc::new(declared)))
    }
}

debug_of!(WorkflowBuilder<P> [P: KubeObject]: "WorkflowBuilder", |it| nodes: it.any.nodes.nodes);
