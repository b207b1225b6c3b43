//! A controller between its builder and its finished declaration, compiled once for all types of primaries.

use std::sync::Arc;

use super::{
    Controller, Mistake, Mistakes,
    check::{Facts, Node, check},
    declaration::Declaration,
    names::default_finalizer,
    settings::Settings,
    sources::{DeclaredSources, Finished},
};
use crate::{
    dispatcher::UserCode,
    reconciler::DataType,
    workflow::{AnyBuilder, AnyWorkflow},
};

/// The settings of a controller, whatever the type of its primaries.
pub(super) struct Unfinished {
    pub(super) name: Option<String>,
    pub(super) default_name: String,
    pub(super) finalizer: Option<String>,
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

impl Unfinished {
    pub(super) fn new(default_name: String, settings: Settings) -> Self {
        Self {
            name: None,
            default_name,
            finalizer: None,
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
                    "`Option<Data<{name}>>` in the function, or a reconciler that puts a `{name}`: without one nothing is put"
                ),
                false => format!(
                    "`.puts::<{name}>()` on the controller (`puts({name})` in an attribute), whose reconciler says `cx.put(…)`; or `Option<Data<{name}>>` in the function"
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
        if self.needs_workflow && self.settings.workflow.as_ref().is_some_and(AnyWorkflow::is_explicit) {
            self.mistakes.push(Mistake::new(
                "its workflow is invoked explicitly, but there is no reconciler that could do so",
                "nothing would ever run",
                "`explicit_invocation` left out, or a `Reconciler` that says `cx.run()`",
            ));
        }
        self.check_data();
        let name: Arc<str> = Arc::from(self.name());
        let field_manager = self.field_manager.unwrap_or_else(|| String::from(&*name));
        let (mut mistakes, sources) = (self.mistakes, self.sources.finish());
        let known: Vec<_> = sources.facts().collect();
        mistakes.extend(check(&Facts {
            name: &name,
            field_manager: &field_manager,
            finalizer: self.finalizer.as_deref(),
            primary: self.settings.of,
            primary_kind: &self.settings.primary_type,
            scope: self.settings.scope(),
            contradictions: self.settings.contradictions(),
            max_concurrent: self.settings.machine.max_concurrent,
            reconcile_timeout: self.settings.reconcile_timeout,
            spread: self.settings.spread,
            max_interval: self.settings.machine.max_reconciliation_interval,
            all_events: self.settings.all_events,
            has_workflow: self.settings.workflow.is_some(),
            has_cleaner: code.cleans_up(),
            sources: &known,
            nodes: &self.nodes,
        }));
        let Finished { always, conditional, mistakes: of_sources } = sources;
        mistakes.extend(of_sources);
        Mistakes::check(mistakes).map_err(|mistakes| mistakes.of(&name))?;
        self.settings.nodes = self.nodes.iter().filter_map(Node::written).collect();
        let cleans_up =
            code.cleans_up() || self.settings.workflow.as_ref().is_some_and(AnyWorkflow::has_deletable);
        let finalizer = || self.finalizer.unwrap_or_else(|| default_finalizer(&self.settings.primary_type));
        let finalizer = cleans_up.then(|| Arc::from(finalizer()));
        Ok(Controller(Box::new(Declaration {
            code,
            name,
            finalizer,
            field_manager: Arc::from(field_manager),
            sources: always,
            conditional_sources: conditional,
            settings: self.settings,
        })))
    }
}
