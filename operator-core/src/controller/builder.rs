//! The declaration of a controller.

use std::{collections::btree_map::Entry, fmt, sync::Arc, time::Duration};

use futures::FutureExt;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{
    Controller, IntoController, IntoRateLimiter, IntoRetry, Mistake, Mistakes, settings::Settings,
    unfinished::Unfinished, without::NoReconciler,
};
use crate::{
    cache::opening,
    dispatcher::{CleanupFn, Code},
    event_source::{InformerEventSource, References, SourceDeclaration, WatchScope, filter_methods},
    processor::{FencedRateLimiter, FencedRetry},
    reconciler::{Cleaner, DataType, Reconciler, StatusFunction, erased},
    resource::{KubeObject, ObjectKey, ResourceType, label_value},
};

/// Runs of one controller that may be under way at the same time, unless it says otherwise.
pub(super) const DEFAULT_MAX_CONCURRENT_RECONCILES: usize = 50;

/// How long a primary goes without a run, unless its controller says otherwise: ten hours.
pub(super) const DEFAULT_MAX_RECONCILIATION_INTERVAL: Duration = Duration::from_secs(10 * 60 * 60);

/// Declares a controller. JOSDK: `ControllerConfiguration`.
///
/// Nothing needs to be said: the name is the reconciler's type name, all namespaces are watched, and failures are
/// retried with growing delays.
#[must_use = "a controller does nothing until it is registered with an operator"]
pub struct ControllerBuilder<R: Reconciler> {
    reconciler: R,
    cleanup: Option<CleanupFn<R>>,
    pub(super) said: Unfinished,
}

impl<R> ControllerBuilder<R>
where
    R: Reconciler,
    <R::Primary as kube::Resource>::DynamicType: Default,
{
    pub(super) fn new(reconciler: R) -> Self {
        let type_name = std::any::type_name::<R>();
        let type_name = type_name.split('<').next().unwrap_or(type_name);
        let name = type_name.rsplit("::").next().unwrap_or(type_name).to_lowercase();
        let settings = Settings::new::<R::Primary>(ResourceType::of::<R::Primary>());
        Self { reconciler, cleanup: None, said: Unfinished::new(name, settings) }
    }
}

impl<P: KubeObject<DynamicType: Default>> ControllerBuilder<NoReconciler<P>> {
    /// Called like the kind of its primaries.
    pub(super) fn of(definition: Option<fn() -> CustomResourceDefinition>) -> Self {
        let mut builder = Self::new(NoReconciler::new());
        builder.said.name = builder.said.settings.primary_type.kind().to_lowercase();
        builder.said.settings.definition = definition;
        builder.said.needs_workflow = true;
        builder
    }
}

impl<P: KubeObject> ControllerBuilder<NoReconciler<P>> {
    /// Has a reconciler called for each primary, after the controller's workflow, or to run it. What was said before stays, also the
    /// name and the definition of the primaries.
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
        let mut said = self.said;
        said.needs_workflow = false;
        ControllerBuilder { reconciler, cleanup: None, said }
    }
}

impl<R: Reconciler> ControllerBuilder<R> {
    /// The primaries have this definition, which the operator brings.
    pub(super) fn defined_by(mut self, definition: fn() -> CustomResourceDefinition) -> Self {
        self.said.settings.definition = Some(definition);
        self
    }

    /// Names the controller. By default it is the reconciler's type name in lower case.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.said.name = name.into();
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
        self.said.finalizer = Some(finalizer.into());
        self
    }

    /// Names finalizers that earlier versions of this controller have put on primaries, and this one doesn't use: they are
    /// taken off. The default one is, wherever this controller has put it, without being named.
    pub fn retired_finalizers(mut self, finalizers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.said.retired_finalizers.extend(finalizers.into_iter().map(Into::into));
        self
    }

    /// Names that this controller had before: what it has made under them is its own, as [`MarkNames`](crate::resource::MarkNames)
    /// say it, and is marked with its present name in the next run. Otherwise it is another controller's. What it has applied under
    /// them, by default, is taken over as with [`retired_field_managers`](Self::retired_field_managers).
    pub fn formerly(mut self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        for name in names {
            self.said.settings.former_names.insert(label_value(name.as_ref()));
            self.said.former_names.insert(name.as_ref().to_owned());
        }
        self
    }

    /// Under which name the controller owns the fields it applies; by default the controller's name. Where it was another one before,
    /// and not the default one, [`retired_field_managers`](Self::retired_field_managers) says so.
    pub fn field_manager(mut self, field_manager: impl Into<String>) -> Self {
        self.said.field_manager = Some(field_manager.into());
        self
    }

    /// Names field managers that earlier versions of this controller have applied under, and this one doesn't use: what they have
    /// applied to its objects, its primaries and their status becomes this one's, so that what isn't wanted any more goes. The
    /// controller's own name and its [former ones](Self::formerly) count without being named. Nobody else may use such a name.
    ///
    /// Objects that aren't the controller's are left alone, and so is what a reconciler has applied by itself elsewhere.
    pub fn retired_field_managers(mut self, managers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.said.retired_field_managers.extend(managers.into_iter().map(Into::into));
        self
    }

    /// Watches these namespaces instead of all.
    pub fn namespaces<N: Into<String>>(mut self, namespaces: impl IntoIterator<Item = N>) -> Self {
        self.said.settings.scope = WatchScope::Namespaces(namespaces.into_iter().map(Into::into).collect());
        self
    }

    /// Works only on primaries that the label selector matches, for example `app=web,tier!=cache`.
    pub fn label_selector(mut self, selector: impl Into<String>) -> Self {
        self.said.settings.label_selector = Some(selector.into());
        self
    }

    /// Works only on primaries that the field selector matches, for example `metadata.name=web`.
    pub fn field_selector(mut self, selector: impl Into<String>) -> Self {
        self.said.settings.field_selector = Some(selector.into());
        self
    }

    filter_methods!(
        said.settings.user_filters: R::Primary, "primaries",
        "What passes must pass the default filters as well, unless [`ControllerBuilder::default_filters`] takes \
         them away. Filters are closures and compose with `&&`, `||` and `!`; \
         [`updates`](crate::event_source::updates) has some to begin with."
    );

    /// Whether updates that leave the generation as it is (labels, annotations, status) are ignored; by default they
    /// are.
    pub fn generation_aware(mut self, generation_aware: bool) -> Self {
        self.said.settings.generation_aware = generation_aware;
        self
    }

    /// Whether there are filters of the framework's beside the user's own; by default there are: an update counts when
    /// the generation grew, when it marks the primary for deletion, or when the finalizer is missing.
    ///
    /// Without them the user's filters decide alone. One that doesn't let the mark for deletion pass keeps `cleanup` from
    /// being called. Creation, deletion and replacement are not affected, and the operator's own writes still cause no
    /// run. JOSDK: `defaultFilters`.
    pub fn default_filters(mut self, default_filters: bool) -> Self {
        self.said.settings.default_filters = default_filters;
        self
    }

    /// Adds an index over the primaries, under `name`: `values` says under which values a primary is found. Read it by
    /// `context.primary_cache().by_index(…)`, and in a mapper by `primaries.by_index(…)`.
    /// JOSDK: `addIndexers`.
    pub fn index(
        mut self,
        name: impl Into<String>,
        values: impl Fn(&R::Primary) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        match self.said.settings.indexers.entry(name.into()) {
            Entry::Vacant(entry) => {
                entry.insert(opening::<R::Primary>(Arc::new(values)));
            }
            Entry::Occupied(entry) => self.said.mistakes.push(Mistake::new(
                format!("two indexes are called `{}`", entry.key()),
                "an index is found by its name, so the second would take the place of the first",
                "`.index(\"…\", …)` with another name for one of them",
            )),
        }
        self
    }

    /// How failures are retried; by default five times with growing delays.
    pub fn retry(mut self, retry: impl IntoRetry) -> Self {
        match retry.into_retry() {
            Ok(retry) => self.said.settings.machine.retry = Arc::new(FencedRetry(retry)),
            Err(error) => self.said.mistakes.extend(Mistakes::from(error)),
        }
        self
    }

    /// How often one primary may run; by default as often as it has to.
    pub fn rate_limiter(mut self, rate_limiter: impl IntoRateLimiter) -> Self {
        match rate_limiter.into_rate_limiter() {
            Ok(limiter) => {
                let limiter = Arc::new(FencedRateLimiter(limiter));
                self.said.settings.machine.rate_limiter = Some(limiter);
            }
            Err(error) => self.said.mistakes.extend(Mistakes::from(error)),
        }
        self
    }

    /// The longest time that a primary goes without a run, counted from the end of the last one; `None` for no limit.
    pub fn max_reconciliation_interval(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.said.settings.machine.max_reconciliation_interval = interval.into();
        self
    }

    /// How many runs may be under way at the same time.
    pub fn max_concurrent_reconciles(mut self, runs: usize) -> Self {
        self.said.settings.machine.max_concurrent = runs;
        self
    }

    /// Whether finalizer, object and status of primaries are written by server-side apply; by default they are. Otherwise
    /// they are written by JSON patch: what a run's answer changes in the primary that it was given is sent, so that what
    /// it leaves out is removed, and other managers' fields can be changed. JOSDK: `useSSAToPatchPrimaryResource`.
    pub fn use_ssa_to_patch_primary(mut self, use_ssa: bool) -> Self {
        self.said.settings.use_ssa_to_patch_primary = use_ssa;
        self
    }

    /// How long a run may take, its writes included; by default as long as it wants. A run that passes the limit is
    /// dropped at its next await, counts as failed and is retried. What it had in flight may still take effect. The writing
    /// of its status has the same time once more. JOSDK has no such limit.
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.said.settings.reconcile_timeout = Some(timeout);
        self
    }

    /// Has `function` make the status of a primary at each end of a run: success, failure, deadline and panic, and while a clean-up
    /// waits. It is `fn(&P, &Run<P>) -> S`, where `S` is the status, any part of it, or an `Option` of one, of which `None` leaves
    /// the status as it is.
    ///
    /// The status is written where it differs from what is there, as a server-side apply by the controller's field manager, or as
    /// [`use_ssa_to_patch_primary`](Self::use_ssa_to_patch_primary) says. A run whose status can't be written has failed.
    ///
    /// JOSDK: has nothing of the kind; its reconcilers answer with the status, and with that of an error elsewhere.
    pub fn status(mut self, function: impl StatusFunction<R::Primary>) -> Self {
        if self.said.settings.status.replace(erased(function)).is_some() {
            self.said.mistakes.push(Mistake::new(
                "there are two status functions",
                "each would write the whole status, so that the second would take the place of the first",
                "one `.status(…)`, whose function calls the other one",
            ));
        }
        self
    }

    /// Says that the reconciler puts data of type `T` into its runs, by [`Context::put`](crate::Context::put), before it runs its
    /// workflow. Dependents and conditions may take it as [`Data<T>`](crate::Data) then; without this word the declaration is wrong.
    /// An `Option<Data<T>>` may be taken in any case.
    pub fn puts<T: Send + Sync + 'static>(mut self) -> Self {
        self.said.puts.push(DataType::of::<T>());
        self
    }

    /// Watches the objects of type `K` that have an owner reference to a primary.
    pub fn owns<K: KubeObject<DynamicType: Default>>(self) -> Self {
        self.watches(InformerEventSource::<K>::new())
    }

    /// Watches objects that primaries refer to, such as a Secret named in a spec: `references` gives their keys, which
    /// need not exist. Any number of primaries may refer to one object. JOSDK: `PrimaryToSecondaryMapper`
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
        self.said.settings.indexers.insert(index, indexer);
        self.watches(source.references(references))
    }

    /// Watches the objects of type `K` that primaries refer to: a change of one wakes those primaries that it finds by an index over
    /// what the function says of each. [`watches_referenced`](Self::watches_referenced) takes an informer of one's own.
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
        // Not the one of that kind's dependents, which shows what the controller has made.
        let name = format!("{} referred to", SourceDeclaration::name(&source));
        self.watches_referenced(source.name(name), references)
    }

    /// Adds an event source: an [`InformerEventSource`], a
    /// [`FunctionEventSource`](crate::FunctionEventSource), or one of the user's own.
    pub fn watches(mut self, source: impl SourceDeclaration + 'static) -> Self {
        self.said.sources.add(Arc::new(source));
        self
    }

    /// Finishes the declaration.
    ///
    /// # Errors
    /// When it contradicts itself, or a name in it can't be used; with everything that is wrong.
    pub fn build(self) -> Result<Controller, Mistakes> {
        let Self { reconciler, cleanup, said } = self;
        said.finish(Arc::new(Code { reconciler, cleanup }))
    }
}

impl<R: Reconciler> IntoController for ControllerBuilder<R> {
    fn into_controller(self) -> Result<Controller, Mistakes> {
        self.build()
    }
}

impl<R: Reconciler> fmt::Debug for ControllerBuilder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerBuilder")
            .field("name", &self.said.name)
            .field("primary", &self.said.settings.primary_type)
            .field("sources", &self.said.sources)
            .finish_non_exhaustive()
    }
}
