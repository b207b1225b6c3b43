//! A builder's settings of a controller and its workflows, compiled once for all types of primaries.

use std::sync::Arc;

use super::{
    Controller, Mistake, Mistakes,
    check::{Facts, Node, check},
    names::default_finalizer,
    settings::Settings,
    sources::{DeclaredSources, Finished},
};
use crate::{
    dependent::AnyDependent,
    dispatcher::UserCode,
    reconciler::{DataType, ManagedWorkflow},
    resource::Nodes,
    workflow::{AnyBuilder, AnyWorkflow, Declaring, Stage},
};

/// A controller that is being declared, without the type of its primaries.
pub(super) struct Draft {
    pub(super) name: Option<String>,
    pub(super) default_name: String,
    pub(super) finalizer: Option<String>,
    /// Whether a cleaner is called, if the reconciler is one.
    pub(super) cleaner: bool,
    pub(super) field_manager: Option<String>,
    pub(super) sources: DeclaredSources,
    pub(super) settings: Settings,
    /// The dependents of all its workflows, and those outside them.
    pub(super) nodes: Vec<Node>,
    /// Nodes of the controller's own workflow that were given separately.
    pub(super) wired: AnyBuilder,
    /// The data that its reconciler puts into runs.
    pub(super) puts: Vec<DataType>,
    /// The data that nodes of its workflows take, with their names.
    pub(super) takes: Vec<(String, DataType)>,
    /// Whether it has nothing to do without a workflow: it has no reconciler.
    pub(super) needs_workflow: bool,
    /// The mistakes that were found during the declaration; all others are found at the end.
    pub(super) mistakes: Vec<Mistake>,
}

impl Draft {
    pub(super) fn new(default_name: String, settings: Settings) -> Self {
        Self {
            name: None,
            default_name,
            finalizer: None,
            cleaner: true,
            field_manager: None,
            sources: DeclaredSources::default(),
            settings,
            nodes: Vec::new(),
            wired: AnyBuilder::default(),
            puts: Vec::new(),
            takes: Vec::new(),
            needs_workflow: false,
            mistakes: Vec::new(),
        }
    }

    pub(super) fn name(&self) -> &str {
        self.name.as_ref().unwrap_or(&self.default_name)
    }

    /// Each node has to find its data in the run.
    fn check_data(&mut self) {
        let is_put = |data: &DataType| self.puts.iter().any(|put| put.id == data.id);
        for (node, data) in self.takes.iter().filter(|(_, data)| !is_put(data)) {
            let name = data.short();
            let write = match self.needs_workflow {
                true => format!(
                    "`Option<Data<{name}>>` in the function, or a reconciler that puts a `{name}`: without a reconciler nothing is put"
                ),
                false => format!(
                    "`.puts::<{name}>()` on the controller (`puts({name})` in an attribute), whose reconciler calls `cx.put(…)`; or `Option<Data<{name}>>` in the function"
                ),
            };
            self.mistakes.push(Mistake::new(
                format!("node `{node}` takes a `Data<{name}>`, which nothing puts into the run"),
                "it would fail in each run",
                write,
            ));
        }
    }

    /// Checks it, and finishes the declaration.
    pub(super) fn finish(mut self, code: Arc<dyn UserCode>) -> Result<Controller, Mistakes> {
        self.take_nodes();
        if self.needs_workflow && self.settings.workflow.is_none() && self.mistakes.is_empty() {
            self.mistakes.push(Mistake::new(
                "it has neither a workflow nor a reconciler",
                "it would watch its primaries, and do nothing",
                "`.workflow((…))` with its dependents, or `.reconciler(…)`",
            ));
        }
        if self.needs_workflow && self.settings.workflow.as_ref().is_some_and(ManagedWorkflow::is_explicit) {
            self.mistakes.push(Mistake::new(
                "its workflow is invoked explicitly, but there is no reconciler that could do so",
                "nothing would ever run",
                "`explicit_invocation` left out, or a `Reconciler` that calls `cx.run()`",
            ));
        }
        self.check_data();
        let name: Arc<str> = Arc::from(self.name());
        let field_manager = self.field_manager.clone().unwrap_or_else(|| String::from(&*name));
        let mut mistakes = std::mem::take(&mut self.mistakes);
        let sources = std::mem::take(&mut self.sources).finish();
        let known: Vec<_> = sources.facts().collect();
        let has_cleaner = code.cleans_up();
        mistakes.extend(check(&Facts {
            name: &name,
            field_manager: &field_manager,
            draft: &self,
            has_cleaner,
            sources: &known,
        }));
        let Finished { always, conditional, mistakes: of_sources } = sources;
        mistakes.extend(of_sources);
        Mistakes::check(mistakes).map_err(|mistakes| mistakes.of(&name))?;
        let mut nodes: Nodes = self.nodes.iter().filter_map(Node::written).collect();
        let retired = self.settings.workflow.iter().flat_map(AnyWorkflow::retired_records);
        let all = self.nodes.iter().map(|node| (&*node.name, &node.declaration));
        for (name, declaration) in all.chain(retired) {
            if declaration.of_any_kind {
                nodes.add_of_any_kind(name);
            }
            declaration
                .outside
                .iter()
                .for_each(|of| nodes.add_records(name, *of, declaration.keeps.as_ref()));
        }
        self.settings.nodes = nodes;
        let cleans_up =
            has_cleaner || self.settings.workflow.as_ref().is_some_and(AnyWorkflow::has_deletable);
        let default = || default_finalizer(self.settings.primaries.resource_type());
        let own_finalizer: Arc<str> = Arc::from(self.finalizer.unwrap_or_else(default));
        Ok(Controller {
            code,
            name,
            finalizer: cleans_up.then(|| Arc::clone(&own_finalizer)),
            own_finalizer,
            field_manager: Arc::from(field_manager),
            sources: always,
            conditional_sources: conditional,
            settings: Box::new(self.settings),
        })
    }
}

impl Draft {
    /// Takes the controller's own workflow, or nodes of it.
    pub(super) fn take_workflow(&mut self, workflow: Declaring) {
        match workflow.0 {
            // Their mistakes are reported when all of them are there.
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
                "the second would replace the first, whose dependents would never run",
                "one `.workflow(…)` with the nodes of both, or `.event_sources_of(…)` for one that the reconciler calls",
            ));
            return;
        }
        self.settings.workflow = Some(workflow);
    }

    /// Takes what every workflow has; `None` if it contradicts itself.
    pub(super) fn declared(&mut self, workflow: Declaring, duty: Duty) -> Option<AnyWorkflow> {
        let dependents = workflow.dependents();
        self.takes.extend(workflow.data());
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
                Some(workflow)
            }
            Err(error) => {
                // The other nodes may read from one of these sources.
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
pub(super) enum Duty {
    Framework,
    Reconciler,
}

pub(super) fn node(dependent: &AnyDependent) -> Node {
    let (name, declaration) = (dependent.shared_name(), Arc::clone(dependent.declaration()));
    Node { name, declaration, cleaned_up_by_hand: false }
}
