//! The declaration of a controller.

use std::{collections::btree_map::Entry, sync::Arc, time::Duration};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{
    Controller, IntoController, IntoRateLimiter, IntoRetry, Mistake, Mistakes, NoReconciler,
    check::Node,
    draft::{Draft, Duty, node},
    settings::Settings,
};
use crate::{
    cache::opening,
    dependent::Standalone,
    dispatcher::Code,
    event_source::{
        Filtered, InformerEventSource, References, SourceDeclaration, WatchScope, filter_methods,
        informer_methods,
    },
    reconciler::{DataType, Reconciler, StatusFunction, erased},
    resource::{KubeObject, ObjectKey, ResourceType, label_value},
    workflow::IntoWorkflow,
};

/// Declares a controller. JOSDK: `ControllerConfiguration`.
///
/// Every setting has a default: the name is the reconciler's type name, all namespaces are watched, and failures are
/// retried with growing delays.
#[must_use = "a controller does nothing until it is registered with an operator"]
pub struct ControllerBuilder<R: Reconciler> {
    reconciler: R,
    pub(super) draft: Draft,
}

impl<R> ControllerBuilder<R>
where
    R: Reconciler,
    <R::Primary as kube::Resource>::DynamicType: Default,
{
    pub(super) fn new(reconciler: R) -> Self {
        let settings = Settings::new::<R::Primary>(ResourceType::of::<R::Primary>());
        Self { reconciler, draft: Draft::new(type_name::<R>(), settings) }
    }
}

/// The last word of a type's name, in lower case.
fn type_name<R>() -> String {
    let full = std::any::type_name::<R>();
    let path = full.split('<').next().unwrap_or(full);
    path.rsplit("::").next().unwrap_or(path).to_lowercase()
}

impl<P: KubeObject<DynamicType: Default>> ControllerBuilder<NoReconciler<P>> {
    /// Named after the kind of its primaries.
    pub(super) fn of(definition: Option<fn() -> CustomResourceDefinition>) -> Self {
        let mut builder = Self::new(NoReconciler::new());
        builder.draft.default_name = builder.draft.settings.primaries.resource_type().kind().to_lowercase();
        builder.draft.settings.definition = definition;
        builder.draft.needs_workflow = true;
        builder
    }
}

impl<P: KubeObject> ControllerBuilder<NoReconciler<P>> {
    /// Sets the reconciler. It is called for each primary, after the controller's workflow, or to run it. Earlier
    /// settings stay, including the name and the definition of the primaries.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Pod;
    /// use operator_core::prelude::*;
    ///
    /// # fn declared(pods: impl Reconciler<Primary = Pod>) {
    /// # let _ =
    /// Controller::of_existing::<Pod>().reconciler(pods);
    /// # }
    /// ```
    pub fn reconciler<R: Reconciler<Primary = P>>(self, reconciler: R) -> ControllerBuilder<R> {
        let mut draft = self.draft;
        draft.needs_workflow = false;
        ControllerBuilder { reconciler, draft }
    }
}

impl<R: Reconciler> ControllerBuilder<R> {
    /// Sets the definition of the primaries, which the operator includes.
    pub(super) fn defined_by(mut self, definition: fn() -> CustomResourceDefinition) -> Self {
        self.draft.settings.definition = Some(definition);
        self
    }

    /// Sets the default name; before there was a reconciler, the default was another.
    pub(super) fn called_like_its_type(mut self) -> Self {
        self.draft.default_name = type_name::<R>();
        self
    }

    /// Names the controller. By default it is the reconciler's type name in lower case.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.draft.name = Some(name.into());
        self
    }

    /// Whether a reconciler that is a [`Cleaner`](crate::Cleaner) is called before a primary is deleted, and a finalizer
    /// added to each primary for it; by default both are done. It has no effect on other reconcilers.
    pub fn cleaner(mut self, called: bool) -> Self {
        self.draft.cleaner = called;
        self
    }

    /// The finalizer's name; by default `<plural>.<group>/finalizer`. It is used only with a cleaner. A finalizer with
    /// another name stays on its primaries: remove it before the name changes.
    pub fn finalizer(mut self, finalizer: impl Into<String>) -> Self {
        self.draft.finalizer = Some(finalizer.into());
        self
    }

    /// Names that this controller had before. Objects that it has made under them, as
    /// [`MarkNames`](crate::resource::MarkNames) show, count as its own and are marked with its current name in the
    /// next run. Otherwise they would belong to another controller.
    pub fn formerly(mut self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.draft.settings.former_names.extend(names.into_iter().map(|name| label_value(name.as_ref())));
        self
    }

    /// The name under which the controller owns the fields it applies; by default the controller's name. A field that was
    /// applied under another name before stays that name's, too: it isn't removed when it is no longer wanted.
    pub fn field_manager(mut self, field_manager: impl Into<String>) -> Self {
        self.draft.field_manager = Some(field_manager.into());
        self
    }

    filter_methods!(
        draft.settings.filters.user: R::Primary, "primaries",
        "What passes must pass the default filters as well, unless [`ControllerBuilder::default_filters`] takes \
         them away. Filters are closures and compose with `&&`, `||` and `!`; \
         [`updates`](crate::event_source::updates) has some to begin with."
    );

    /// Whether updates that don't change the generation (labels, annotations, status) are ignored; by default they are.
    pub fn generation_aware(mut self, generation_aware: bool) -> Self {
        self.draft.settings.filters.generation_aware = generation_aware;
        self
    }

    /// Whether the framework's filters apply besides the user's own; by default they do: an update counts if the
    /// generation grew, if it marks the primary for deletion, or if the finalizer is missing.
    ///
    /// Without them the user's filters alone decide. A filter that doesn't let the mark for deletion pass prevents
    /// `cleanup` from being called. Creation, deletion and replacement are not affected, and the operator's own writes
    /// still cause no run. JOSDK: `defaultFilters`.
    pub fn default_filters(mut self, default_filters: bool) -> Self {
        self.draft.settings.filters.default_filters = default_filters;
        self
    }

    /// Adds an index over the primaries, named `name`: `values` returns the values under which a primary is found. Read
    /// it with `context.primary_cache().by_index(…)`, and in a mapper with `primaries.by_index(…)`. JOSDK:
    /// `addIndexers`.
    pub fn index(
        mut self,
        name: impl Into<String>,
        values: impl Fn(&R::Primary) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        match self.draft.settings.primaries.indexers.entry(name.into()) {
            Entry::Vacant(entry) => {
                entry.insert(opening::<R::Primary>(Arc::new(values)));
            }
            Entry::Occupied(entry) => self.draft.mistakes.push(Mistake::new(
                format!("two indexes are called `{}`", entry.key()),
                "an index is found by its name, so the second would replace the first",
                "`.index(\"…\", …)` with another name for one of them",
            )),
        }
        self
    }

    /// How failures are retried; by default without end, with delays that grow to four and a half minutes.
    pub fn retry(mut self, retry: impl IntoRetry) -> Self {
        self.draft.settings.retry = retry.generic();
        match retry.into_retry() {
            Ok(retry) => self.draft.settings.machine.retry = retry,
            Err(error) => self.draft.mistakes.extend(Mistakes::from(error)),
        }
        self
    }

    /// The maximum rate of runs of one primary; by default there is no limit.
    pub fn rate_limiter(mut self, rate_limiter: impl IntoRateLimiter) -> Self {
        match rate_limiter.into_rate_limiter() {
            Ok(limiter) => self.draft.settings.machine.rate_limiter = Some(limiter),
            Err(error) => self.draft.mistakes.extend(Mistakes::from(error)),
        }
        self
    }

    /// The longest time that a primary stays without a run, counted from the end of the last one; `None` for no limit.
    pub fn max_reconciliation_interval(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.draft.settings.machine.max_reconciliation_interval = interval.into();
        self
    }

    /// The maximum number of runs that may be in progress at the same time.
    pub fn max_concurrent_reconciles(mut self, runs: usize) -> Self {
        self.draft.settings.machine.max_concurrent = runs;
        self
    }

    /// Whether finalizer, object and status of primaries are written by server-side apply; by default they are.
    /// Otherwise they are written by JSON patch: the difference between the returned primary and the one that the run
    /// was given is sent, so fields left out are removed, and other managers' fields can be changed. JOSDK:
    /// `useSSAToPatchPrimaryResource`.
    pub fn use_ssa_to_patch_primary(mut self, use_ssa: bool) -> Self {
        self.draft.settings.use_ssa_to_patch_primary = use_ssa;
        self
    }

    /// How long a run may take, including its writes; by default there is no limit. A run that passes the limit is
    /// dropped at its next await, counts as failed and is retried. Requests that were in flight may still take effect.
    /// Writing its status gets the same amount of time again. JOSDK has no such limit.
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.draft.settings.reconcile_timeout = Some(timeout);
        self
    }

    /// Sets the function that makes the status of a primary at the end of each run: success, failure, deadline and
    /// panic, and while a clean-up waits. It is `fn(&P, &Run<P>) -> S`, where `S` is the status, any part of it, or an
    /// `Option` of one; `None` leaves the status as it is.
    ///
    /// The status is written if it differs from the current one, as a server-side apply by the controller's field
    /// manager, or as set by [`use_ssa_to_patch_primary`](Self::use_ssa_to_patch_primary). A run whose status can't be
    /// written fails.
    ///
    /// JOSDK: has no counterpart; its reconcilers return the status, and the status of an error elsewhere.
    pub fn status<M>(mut self, function: impl StatusFunction<R::Primary, M>) -> Self {
        if self.draft.settings.status.replace(erased(function)).is_some() {
            self.draft.mistakes.push(Mistake::new(
                "there are two status functions",
                "each would write the whole status, so the second would replace the first",
                "one `.status(…)`, whose function calls the other one",
            ));
        }
        self
    }

    /// Declares that the reconciler puts data of type `T` into its runs, with [`Context::put`](crate::Context::put),
    /// before it runs its workflow. Dependents and conditions may then take it as [`Data<T>`](crate::Data); without
    /// this call that would be a mistake in the declaration. An `Option<Data<T>>` needs no declaration.
    pub fn puts<T: Send + Sync + 'static>(mut self) -> Self {
        self.draft.puts.push(DataType::of::<T>());
        self
    }

    /// Watches the objects of type `K` that have an owner reference to a primary.
    pub fn owns<K: KubeObject<DynamicType: Default>>(self) -> Self {
        self.watches(InformerEventSource::<K>::new())
    }

    /// Watches objects that primaries refer to, such as a Secret named in a spec: `references` returns their keys,
    /// which need not exist. Any number of primaries may refer to one object. JOSDK: `PrimaryToSecondaryMapper`
    /// together with its `SecondaryToPrimaryMapper`.
    ///
    /// The secondaries of a primary are then the objects that it refers to at the time of the read, and a change to one
    /// of them triggers all primaries that refer to it. If the source has its own mapper, that decides which primaries
    /// are triggered.
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
        self.draft.settings.primaries.indexers.insert(index, indexer);
        self.watches(source.references(references))
    }

    /// Watches the objects of type `K` that primaries refer to: a change to one triggers the primaries for which the
    /// function returns its key; an index finds them. [`watches_referenced`](Self::watches_referenced) takes your own
    /// informer.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{ConfigMap, Service};
    /// use operator_core::prelude::*;
    ///
    /// fn team(service: &Service) -> Vec<ObjectKey> {
    ///     let team = service.metadata.labels.iter().filter_map(|labels| labels.get("team"));
    ///     team.map(|team| ObjectKey::namespaced("teams", team)).collect()
    /// }
    ///
    /// let controller = Controller::of_existing::<Service>().refers_to::<ConfigMap>(team);
    /// ```
    pub fn refers_to<K: KubeObject<DynamicType: Default>>(
        self,
        references: impl Fn(&R::Primary) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        let source = InformerEventSource::<K>::new();
        // Not the source of that kind's dependents, which only shows objects that the controller has made.
        let name = format!("{} referred to", SourceDeclaration::name(&source));
        self.watches_referenced(source.name(name), references)
    }

    /// Adds an event source: an [`InformerEventSource`], a [`FunctionEventSource`](crate::FunctionEventSource), or your
    /// own.
    pub fn watches(mut self, source: impl SourceDeclaration + 'static) -> Self {
        self.draft.sources.add(Arc::new(source));
        self
    }

    informer_methods!(draft.settings.primaries: R::Primary, "primaries");

    /// Watches these namespaces instead of all: `["shop", "bank"]`, or a [`WatchScope`] such as
    /// [`WatchScope::Current`], the one that the operator runs in. By default those of the operator:
    /// [`OperatorBuilder::namespaces`](crate::OperatorBuilder::namespaces).
    pub fn namespaces(mut self, scope: impl Into<WatchScope>) -> Self {
        self.draft.settings.primaries.scope = Some(scope.into());
        self
    }

    /// Whether `reconcile` is called for everything that happens to a primary: also once it is marked for deletion, with
    /// or without a finalizer, and once it is gone. In that last run it gets the last known state, and
    /// [`Context::primary_is_deleted`](crate::Context::primary_is_deleted) is true; nothing can be written to the primary
    /// any more, and a reschedule is ignored. By default it isn't called for these. JOSDK: `triggerReconcilerOnAllEvents`.
    ///
    /// Filters, retries and limits apply as usual. The framework handles no finalizer in this mode; the reconciler may
    /// do so with [`add_finalizer`](crate::operations::ResourceOperations::add_finalizer) and
    /// [`remove_finalizer`](crate::operations::ResourceOperations::remove_finalizer). Such a controller can have
    /// neither a [`Cleaner`](crate::Cleaner) nor a workflow.
    ///
    /// A deletion is reported to exactly one run, before any run for a new object of the same name. If all its
    /// attempts fail, the next event of a secondary or the maximum interval leads to another run, unless there
    /// is a new object. Deletions while no operator works aren't reported: if a deletion must not be missed,
    /// use a finalizer.
    pub fn trigger_on_all_events(mut self, all: bool) -> Self {
        self.draft.settings.all_events = all;
        self
    }

    /// The share by which regular runs are spread: runs that began together don't stay together. By default 0.1.
    /// The maximum interval is shortened by at most this share of it, and a reschedule is lengthened by at most this
    /// share; 0 keeps both exact, and the most is 0.5. Delays after failures have their own.
    ///
    /// In an operator of tests ([`TestOperator`](crate::testing::TestOperator)) and in simulations the default is 0,
    /// and a dry run returns delays as they are before they are spread. JOSDK has no counterpart.
    pub fn jitter(mut self, share: f64) -> Self {
        self.draft.settings.spread = Some(share);
        self
    }

    /// Runs a workflow for each primary: a tuple of nodes, `.workflow((html, web.after(html)))`, or a
    /// [`Workflow`](crate::Workflow). It runs before `reconcile`, unless it is declared as invoked explicitly, and
    /// before `cleanup`. This also adds its event sources, and the finalizer if something has to be deleted. A workflow
    /// may be given unfinished, as its builder. A controller has one workflow; tuples may be given several times and
    /// are combined into one. JOSDK: `@Workflow`.
    pub fn workflow<M>(mut self, workflow: impl IntoWorkflow<R::Primary, M>) -> Self {
        self.draft.take_workflow(workflow.declared());
        self
    }

    /// Adds the event sources of a workflow that the reconciler calls itself, and the rights it needs. If some of its
    /// objects have to be deleted before the primary is removed, the reconciler has to be a [`Cleaner`](crate::Cleaner)
    /// that deletes them. JOSDK: `EventSourceUtils.eventSourcesFromWorkflow`.
    pub fn event_sources_of<M>(mut self, workflow: impl IntoWorkflow<R::Primary, M>) -> Self {
        if let Some(workflow) = self.draft.declared(workflow.declared(), Duty::Reconciler) {
            self.draft.settings.further_access.extend(workflow.access());
        }
        self
    }

    /// Adds the event sources of a dependent that the reconciler calls itself, and the rights it needs. If it has to be
    /// deleted before the primary is removed, the reconciler has to be a [`Cleaner`](crate::Cleaner) that deletes it.
    pub fn dependent(mut self, dependent: &Standalone<R::Primary>) -> Self {
        self.draft.sources.add_dependent(dependent.event_sources());
        self.draft.settings.further_access.extend(dependent.access());
        self.draft.nodes.push(Node {
            cleaned_up_by_hand: dependent.any().capabilities().needs_cleanup(),
            ..node(dependent.any())
        });
        self
    }

    /// Declares whether the controller writes Events about its primaries, with
    /// [`Context::events`](crate::Context::events); by default it doesn't. [`Controller::access`](crate::Controller::access)
    /// then lists the rights for them: `get`, `create` and `patch` on `events` of the core group, in the primaries'
    /// namespaces, or in `default` for cluster-scoped primaries.
    pub fn records_events(mut self, records: bool) -> Self {
        self.draft.settings.records_events = records;
        self
    }

    /// Leaves a primary alone while the function is true: neither workflow nor reconciler runs, and nothing is written, except for
    /// one status when the pause begins. [`Run::is_paused`](crate::Run::is_paused) is true then, and of
    /// [`Run::conditions`](crate::Run::conditions) `Ready` is false with the reason `Suspended`. The end of a primary is handled as
    /// ever.
    ///
    /// A change that begins or ends a pause causes a run, whatever the filters say. The function is called for each update of a
    /// primary; if it panics, the run fails.
    pub fn paused_when(mut self, paused: impl Fn(&R::Primary) -> bool + Send + Sync + 'static) -> Self {
        self.draft.settings.filters.paused_when = Some(Filtered::<R::Primary>::on_object(paused));
        self
    }

    /// Finishes the declaration.
    ///
    /// # Errors
    /// If the declaration contradicts itself, or a name in it can't be used. The error has all mistakes.
    pub fn build(self) -> Result<Controller, Mistakes> {
        let Self { reconciler, draft } = self;
        let cleanup = R::cleanup_fn().filter(|_| draft.cleaner);
        draft.finish(Arc::new(Code { reconciler, cleanup }))
    }
}

impl<R: Reconciler> IntoController for ControllerBuilder<R> {
    fn into_controller(self) -> Result<Controller, Mistakes> {
        self.build()
    }
}

debug_of!(ControllerBuilder<R> [R: Reconciler]: "ControllerBuilder", |it|
    name: it.draft.name(), primary: it.draft.settings.primaries.resource_type(), sources: it.draft.sources);
