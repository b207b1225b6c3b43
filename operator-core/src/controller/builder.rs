//! The declaration of a controller.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use futures::FutureExt;

use super::{
    Controller, Declaration, Error, IntoController,
    names::{check_field_manager, check_finalizer, check_name, default_finalizer},
    sources::DeclaredSources,
};
use crate::{
    cache::Indexer,
    dependent::Dependent,
    dispatcher::CleanupFn,
    event_source::{Filters, InformerEventSource, References, SourceDeclaration, WatchScope},
    processor::{GenericRetry, RateLimiter, Retry},
    reconciler::{Cleaner, Reconciler},
    resource::{Access, KubeObject, ObjectKey, ResourceType},
    workflow::{Outline, Workflow},
};

/// Runs of one controller that may be under way at the same time, unless it says otherwise.
pub const DEFAULT_MAX_CONCURRENT_RECONCILES: usize = 50;

/// How long a primary goes without a run, unless its controller says otherwise: ten hours.
pub const DEFAULT_MAX_RECONCILIATION_INTERVAL: Duration = Duration::from_secs(10 * 60 * 60);

/// Declares a controller. Answers to JOSDK's `ControllerConfiguration`.
///
/// Nothing needs to be said: the name is the reconciler's type name, all namespaces are watched, and failures are
/// retried with growing delays.
#[must_use = "a controller does nothing until it is registered with an operator"]
pub struct ControllerBuilder<R: Reconciler> {
    reconciler: R,
    primary_type: ResourceType,
    name: String,
    cleanup: Option<CleanupFn<R>>,
    finalizer: Option<String>,
    field_manager: Option<String>,
    scope: WatchScope,
    label_selector: Option<String>,
    field_selector: Option<String>,
    indexers: BTreeMap<String, Indexer<R::Primary>>,
    user_filters: Filters<R::Primary>,
    default_filters: bool,
    generation_aware: bool,
    retry: Arc<dyn Retry>,
    rate_limiter: Option<Arc<dyn RateLimiter>>,
    max_reconciliation_interval: Option<Duration>,
    max_concurrent_reconciles: usize,
    use_ssa_to_patch_primary: bool,
    reconcile_timeout: Option<Duration>,
    sources: DeclaredSources,
    workflow: Option<Workflow<R::Primary>>,
    /// Its own workflow, and those that the reconciler calls by itself.
    outlines: Vec<Outline>,
    /// What standalone workflows need to write.
    further_access: Vec<Access>,
}

impl<R> ControllerBuilder<R>
where
    R: Reconciler,
    <R::Primary as kube::Resource>::DynamicType: Default,
{
    pub(super) fn new(reconciler: R) -> Self {
        let type_name = std::any::type_name::<R>();
        let type_name = type_name.split('<').next().unwrap_or(type_name);
        Self {
            reconciler,
            primary_type: ResourceType::of::<R::Primary>(),
            name: type_name.rsplit("::").next().unwrap_or(type_name).to_lowercase(),
            cleanup: None,
            finalizer: None,
            field_manager: None,
            scope: WatchScope::All,
            label_selector: None,
            field_selector: None,
            indexers: BTreeMap::new(),
            user_filters: Filters::new(),
            default_filters: true,
            generation_aware: true,
            retry: Arc::new(GenericRetry::default()),
            rate_limiter: None,
            max_reconciliation_interval: Some(DEFAULT_MAX_RECONCILIATION_INTERVAL),
            max_concurrent_reconciles: DEFAULT_MAX_CONCURRENT_RECONCILES,
            use_ssa_to_patch_primary: true,
            reconcile_timeout: None,
            sources: DeclaredSources::default(),
            workflow: None,
            outlines: Vec::new(),
            further_access: Vec::new(),
        }
    }
}

impl<R: Reconciler> ControllerBuilder<R> {
    /// Names the controller. By default it is the reconciler's type name in lower case.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Has the reconciler's [`Cleaner`] called before a primary goes, and puts a finalizer on each primary for it.
    pub fn with_cleaner(mut self) -> Self
    where
        R: Cleaner,
    {
        self.cleanup = Some(|reconciler, primary, context| reconciler.cleanup(primary, context).boxed());
        self
    }

    /// The finalizer's name; by default `<plural>.<group>/finalizer`. It is used only with a cleaner.
    pub fn finalizer(mut self, finalizer: impl Into<String>) -> Self {
        self.finalizer = Some(finalizer.into());
        self
    }

    /// Under which name the controller owns the fields it applies; by default the controller's name.
    pub fn field_manager(mut self, field_manager: impl Into<String>) -> Self {
        self.field_manager = Some(field_manager.into());
        self
    }

    /// Watches these namespaces instead of all.
    pub fn namespaces<N: Into<String>>(mut self, namespaces: impl IntoIterator<Item = N>) -> Self {
        self.scope = WatchScope::Namespaces(namespaces.into_iter().map(Into::into).collect());
        self
    }

    /// Works only on primaries that the label selector matches, for example `app=web,tier!=cache`.
    pub fn label_selector(mut self, selector: impl Into<String>) -> Self {
        self.label_selector = Some(selector.into());
        self
    }

    /// Works only on primaries that the field selector matches, for example `metadata.name=web`.
    pub fn field_selector(mut self, selector: impl Into<String>) -> Self {
        self.field_selector = Some(selector.into());
        self
    }

    /// Ignores new primaries that don't pass.
    pub fn on_add(mut self, accept: impl Fn(&R::Primary) -> bool + Send + Sync + 'static) -> Self {
        self.user_filters.on_add = Some(Arc::new(accept));
        self
    }

    /// Ignores updates of primaries that don't pass; the arguments are the new and the old state. What passes must pass
    /// the default filters as well, unless [`ControllerBuilder::default_filters`] takes them away. Filters are closures and
    /// compose with `&&`, `||` and `!`; [`updates`](crate::event_source::updates) has some to begin with.
    pub fn on_update(
        mut self,
        accept: impl Fn(&R::Primary, &R::Primary) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.user_filters.on_update = Some(Arc::new(accept));
        self
    }

    /// Ignores new primaries and updates whose newest state doesn't pass.
    pub fn generic_filter(mut self, accept: impl Fn(&R::Primary) -> bool + Send + Sync + 'static) -> Self {
        self.user_filters.generic = Some(Arc::new(accept));
        self
    }

    /// Whether updates that leave the generation as it is (labels, annotations, status) are ignored; by default they
    /// are.
    pub fn generation_aware(mut self, generation_aware: bool) -> Self {
        self.generation_aware = generation_aware;
        self
    }

    /// Whether there are filters of the framework's beside the user's own; by default there are: an update counts when
    /// the generation grew, when it marks the primary for deletion, or when the finalizer is missing.
    ///
    /// Without them the user's filters decide alone. One that doesn't let the mark for deletion pass keeps `cleanup` from
    /// being called. Creation, deletion and replacement are not affected, nor is it that the operator's own writes cause
    /// no run. JOSDK's `defaultFilters`.
    pub fn default_filters(mut self, default_filters: bool) -> Self {
        self.default_filters = default_filters;
        self
    }

    /// Adds an index over the primaries, under `name`: `values` says under which values a primary is found. Read it by
    /// `context.primary_cache().by_index(…)`, and in a mapper by `primaries.by_index(…)`. Answers to JOSDK's
    /// `addIndexers`.
    pub fn index(
        mut self,
        name: impl Into<String>,
        values: impl Fn(&R::Primary) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.indexers.insert(name.into(), Arc::new(values));
        self
    }

    /// How failures are retried; by default five times with growing delays.
    pub fn retry(mut self, retry: impl Retry + 'static) -> Self {
        self.retry = Arc::new(retry);
        self
    }

    /// How often one primary may run; by default as often as it has to.
    pub fn rate_limiter(mut self, rate_limiter: impl RateLimiter + 'static) -> Self {
        self.rate_limiter = Some(Arc::new(rate_limiter));
        self
    }

    /// How long a primary goes without a run at the most, counted from the end of the last one; `None` for no limit.
    pub fn max_reconciliation_interval(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.max_reconciliation_interval = interval.into();
        self
    }

    /// How many runs may be under way at the same time.
    pub fn max_concurrent_reconciles(mut self, runs: usize) -> Self {
        self.max_concurrent_reconciles = runs;
        self
    }

    /// Whether finalizer, object and status of primaries are written by server-side apply; by default they are. Otherwise
    /// they are written by JSON patch: what a run's answer changes in the primary that it was given is sent, so that what
    /// it leaves out is removed, and other managers' fields can be changed. JOSDK's `useSSAToPatchPrimaryResource`.
    pub fn use_ssa_to_patch_primary(mut self, use_ssa: bool) -> Self {
        self.use_ssa_to_patch_primary = use_ssa;
        self
    }

    /// How long a run may take, its writes included; by default as long as it wants. A run that passes the limit is
    /// dropped at its next await, counts as failed and is retried. What it had in flight may still take effect. The error
    /// status that follows has the same time. JOSDK has no such limit.
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.reconcile_timeout = Some(timeout);
        self
    }

    /// Watches the objects of type `K` that have an owner reference to a primary.
    pub fn owns<K: KubeObject<DynamicType: Default>>(self) -> Self {
        self.watches(InformerEventSource::<K>::new())
    }

    /// Watches objects that primaries refer to, such as a Secret named in a spec: `references` gives their keys, which
    /// need not exist. Any number of primaries may refer to one object. Answers to JOSDK's `PrimaryToSecondaryMapper`
    /// together with the `SecondaryToPrimaryMapper` that goes with it.
    ///
    /// The secondaries of a primary are then what it refers to at the time of the question, and a change of one of them
    /// wakes all primaries that refer to it. If the source has a mapper of its own, that says which primaries are woken.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{Pod, Secret};
    /// use operator_core::{Controller, InformerEventSource, ObjectKey, Reconciler};
    ///
    /// # fn declared(reconciler: impl Reconciler<Primary = Pod>) {
    /// # let _ =
    /// Controller::builder(reconciler).watches_referenced(InformerEventSource::<Secret>::new(), |pod: &Pod| {
    ///     let pulls = pod.spec.iter().flat_map(|spec| spec.image_pull_secrets.iter().flatten());
    ///     let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    ///     pulls.map(|secret| ObjectKey::namespaced(namespace, &secret.name)).collect()
    /// });
    /// # }
    /// ```
    pub fn watches_referenced<K: KubeObject>(
        mut self,
        source: InformerEventSource<K>,
        references: impl Fn(&R::Primary) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        let (references, index, indexer) = References::new(&SourceDeclaration::name(&source), references);
        self.indexers.insert(index, indexer);
        self.watches(source.references(references))
    }

    /// Adds an event source: an [`InformerEventSource`], a
    /// [`FunctionEventSource`](crate::event_source::FunctionEventSource), or one of the user's own.
    pub fn watches(mut self, source: impl SourceDeclaration + 'static) -> Self {
        self.sources.add(Arc::new(source));
        self
    }

    /// Runs a workflow for each primary: before `reconcile`, unless it is declared as invoked explicitly, and before
    /// `cleanup`. Its event sources come with it, and the finalizer where something has to be deleted. Answers to JOSDK's
    /// `@Workflow`.
    pub fn workflow(mut self, workflow: &Workflow<R::Primary>) -> Self {
        self.sources.add_workflow(workflow.event_sources());
        self.outlines.push(workflow.outline());
        self.workflow = Some(workflow.clone());
        self
    }

    /// Adds the event sources of a workflow that the reconciler calls by itself, and the rights it needs. Answers to JOSDK's
    /// `EventSourceUtils.eventSourcesFromWorkflow`.
    pub fn event_sources_of(mut self, workflow: &Workflow<R::Primary>) -> Self {
        self.sources.add_workflow(workflow.event_sources());
        self.outlines.push(workflow.outline());
        self.further_access.extend(workflow.access());
        self
    }

    /// Adds the event sources of a dependent that the reconciler calls by itself, and the rights it needs.
    pub fn dependent(mut self, dependent: &Dependent<R::Primary>) -> Self {
        self.sources.add_dependent(dependent.event_sources());
        self.further_access.extend(dependent.access());
        self
    }

    /// Finishes the declaration.
    ///
    /// # Errors
    /// When it contradicts itself, or a name in it can't be used.
    pub fn build(self) -> Result<Controller, Error> {
        let field_manager = self.field_manager.unwrap_or_else(|| self.name.clone());
        check_name(&self.name)?;
        check_field_manager(&field_manager)?;
        if self.max_concurrent_reconciles == 0 {
            return Err(Error::NoConcurrency);
        }
        if self.reconcile_timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(Error::NoTime);
        }
        if matches!(&self.scope, WatchScope::Namespaces(namespaces) if namespaces.is_empty()) {
            return Err(Error::NoNamespaces);
        }
        let (sources, conditional_sources) = self.sources.finish()?;
        let cleans_up = self.cleanup.is_some() || self.workflow.as_ref().is_some_and(Workflow::has_deletable);
        let finalizer = match cleans_up {
            false => None,
            true => {
                let finalizer = self.finalizer.unwrap_or_else(|| default_finalizer(&self.primary_type));
                check_finalizer(&finalizer)?;
                Some(Arc::from(finalizer))
            }
        };
        Ok(Controller(Box::new(Declaration {
            reconciler: Arc::new(self.reconciler),
            name: Arc::from(self.name),
            primary_type: self.primary_type,
            cleanup: self.cleanup,
            finalizer,
            field_manager: Arc::from(field_manager),
            scope: self.scope,
            label_selector: self.label_selector,
            field_selector: self.field_selector,
            indexers: self.indexers,
            user_filters: self.user_filters,
            default_filters: self.default_filters,
            generation_aware: self.generation_aware,
            retry: self.retry,
            rate_limiter: self.rate_limiter,
            max_reconciliation_interval: self.max_reconciliation_interval,
            max_concurrent_reconciles: self.max_concurrent_reconciles,
            use_ssa_to_patch_primary: self.use_ssa_to_patch_primary,
            reconcile_timeout: self.reconcile_timeout,
            sources,
            conditional_sources,
            workflow: self.workflow,
            outlines: self.outlines,
            further_access: self.further_access,
        })))
    }
}

impl<R: Reconciler> IntoController for ControllerBuilder<R> {
    fn into_controller(self) -> Result<Controller, Error> {
        self.build()
    }
}

impl<R: Reconciler> fmt::Debug for ControllerBuilder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerBuilder")
            .field("name", &self.name)
            .field("primary", &self.primary_type)
            .field("sources", &self.sources)
            .finish_non_exhaustive()
    }
}
