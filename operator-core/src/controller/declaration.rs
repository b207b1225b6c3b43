//! A declared controller, and what it is made of when it starts.

use std::{fmt, sync::Arc};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::{
    dispatcher::{Dispatcher, RetiredFinalizers, UserCode},
    event_source::{
        EventSink, EventSource, NoPrimaries, PrimaryFollower, PrimarySource, SourceDeclaration, Sources,
        Subscriber, Wiring,
    },
    observe::{Cause, SourceIndex},
    operations::{Writer, access_to_events},
    processor::Processor,
    reconciler::{ControllerContext, Expectations, ManagedWorkflow, Reconciler},
    resource::{Access, ControllerMarks, KubeObject, MarkNames, ResourceType, is_job},
    workflow::AnyWorkflow,
};

use super::{
    ControllerBuilder, Mistakes, NoReconciler, OperatorParts, running::RunningController, settings::Settings,
    wired::Wired,
};
use super::{definition::HasDefinition, kept::count_kept};

/// A declared controller, ready to be registered with an operator. JOSDK: `Controller`.
pub struct Controller(pub(super) Box<Declaration>);

impl Controller {
    /// Starts the declaration of a controller for `reconciler`.
    pub fn builder<R>(reconciler: R) -> ControllerBuilder<R>
    where
        R: Reconciler,
        <R::Primary as kube::Resource>::DynamicType: Default,
    {
        ControllerBuilder::new(reconciler)
    }

    /// Starts the declaration of a controller that needs no reconciler: its workflow determines what should exist for a
    /// primary of type `P`. By default it is named after the kind, in lower case.
    ///
    /// The operator includes the definition of that kind: its command `crd` prints it, and `dev` installs it, unless
    /// [`OperatorBuilder::crd`](crate::OperatorBuilder::crd) gives another definition with that name, for example one
    /// with several versions.
    pub fn of<P: KubeObject<DynamicType: Default> + HasDefinition>() -> ControllerBuilder<NoReconciler<P>> {
        ControllerBuilder::of(Some(P::definition))
    }

    /// The same for primaries whose definition doesn't belong to this operator: a built-in kind, or someone else's.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    /// use operator_core::prelude::*;
    ///
    /// fn map(_: &Pod) -> ConfigMap {
    ///     ConfigMap::default()
    /// }
    ///
    /// fn keys(pod: &Pod) -> Option<Secret> {
    ///     pod.spec.is_some().then(Secret::default)
    /// }
    ///
    /// let controller = Controller::of_existing::<Pod>().workflow((map, keys.after(map)));
    /// ```
    pub fn of_existing<P: KubeObject<DynamicType: Default>>() -> ControllerBuilder<NoReconciler<P>> {
        ControllerBuilder::of(None)
    }

    /// The name, unique within an operator.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The type of the primaries.
    #[must_use]
    pub fn resource_type(&self) -> &ResourceType {
        self.0.resource_type()
    }

    /// The rights that the controller needs for its primaries, their status and its event sources. Rights for anything
    /// else that a reconciler writes depend on its code.
    #[must_use]
    pub fn access(&self) -> Vec<Access> {
        self.0.access()
    }

    /// The workflows of the controller: its own, and those that the reconciler calls itself.
    #[cfg(feature = "cli")]
    pub(crate) fn outlines(&self) -> &[crate::workflow::Outline] {
        self.0.outlines()
    }

    /// The definition of its primaries, if it belongs to the operator.
    pub(crate) fn definition(&self) -> Option<CustomResourceDefinition> {
        self.0.settings.definition.map(|definition| definition())
    }

    pub(crate) fn start(&self, parts: &OperatorParts) -> RunningController {
        self.0.wire(parts).start(parts)
    }

    /// Its parts, of which nothing runs.
    #[cfg(feature = "testing")]
    pub(crate) fn wire(&self, parts: &OperatorParts) -> Wired {
        self.0.wire(parts)
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name())
            .field("primary", self.resource_type())
            .finish()
    }
}

/// What can be registered with an operator as a controller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a controller",
    note = "register `Controller::builder(reconciler)`, finished or not, or add `#[derive(ControllerConfiguration)]` to the reconciler"
)]
pub trait IntoController {
    /// Finishes the declaration.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    fn into_controller(self) -> Result<Controller, Mistakes>;
}

impl IntoController for Controller {
    fn into_controller(self) -> Result<Controller, Mistakes> {
        Ok(self)
    }
}

/// For functions that declare a controller and may fail.
impl<C: IntoController, E: Into<Mistakes>> IntoController for Result<C, E> {
    fn into_controller(self) -> Result<Controller, Mistakes> {
        self.map_err(Into::into)?.into_controller()
    }
}

/// A finished declaration.
pub(super) struct Declaration {
    pub(super) code: Arc<dyn UserCode>,
    pub(super) name: Arc<str>,
    pub(super) finalizer: Option<Arc<str>>,
    pub(super) retired_finalizers: Arc<RetiredFinalizers>,
    pub(super) field_manager: Arc<str>,
    /// Those that earlier versions have used.
    pub(super) retired_managers: Arc<[String]>,
    pub(super) sources: Vec<Arc<dyn SourceDeclaration>>,
    /// Those that run only while some primary needs them.
    pub(super) conditional_sources: Vec<Arc<dyn SourceDeclaration>>,
    pub(super) settings: Settings,
}

impl Declaration {
    /// In the order of their indexes.
    pub(super) fn all_sources(&self) -> impl Iterator<Item = &Arc<dyn SourceDeclaration>> {
        self.sources.iter().chain(&self.conditional_sources)
    }

    /// In the order of their indexes; the last one triggers primaries when kinds appear in the cluster, or are removed.
    fn source_names(&self) -> Arc<[String]> {
        let discovery = "CustomResourceDefinition".to_owned();
        self.all_sources().map(|source| source.name()).chain([discovery]).collect()
    }

    /// The marks on what its nodes write.
    pub(super) fn marks(&self, names: MarkNames) -> ControllerMarks {
        let (former, nodes) = (self.settings.former_names.clone(), self.settings.nodes.clone());
        ControllerMarks::new(names, &self.name, former, nodes)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn resource_type(&self) -> &ResourceType {
        &self.settings.primary_type
    }

    fn access(&self) -> Vec<Access> {
        let right = |subresource, verbs: &[&'static str]| Access {
            resource_type: self.settings.primary_type.clone(),
            subresource,
            verbs: verbs.to_vec(),
        };
        let mut access = vec![right(None, &["get", "list", "watch"]), right(Some("status"), &["patch"])];
        // Without a finalizer nothing but the status is written to a primary, unless the reconciler asks for it. What a retired
        // field manager has applied is taken over by a write of the object itself, even where it is the status.
        let inherits = self.settings.use_ssa_to_patch_primary && !self.retired_managers.is_empty();
        let of_workflow: Vec<_> = self.settings.workflow.iter().flat_map(AnyWorkflow::access).collect();
        // Which of them were done is an annotation of their primary.
        let makes_jobs =
            of_workflow.iter().any(|right| is_job(&right.resource_type) && right.verbs.contains(&"create"));
        if self.finalizer.is_some() || inherits || makes_jobs {
            access.push(right(None, &["patch"]));
        }
        access.extend(self.all_sources().flat_map(|source| source.access()));
        access.extend(of_workflow);
        access.extend(self.settings.further_access.iter().cloned());
        access.extend(self.settings.records_events.then(access_to_events));
        access
    }

    #[cfg(feature = "cli")]
    fn outlines(&self) -> &[crate::workflow::Outline] {
        &self.settings.outlines
    }

    fn wire(&self, parts: &OperatorParts) -> Wired {
        let OperatorParts {
            clients,
            environment,
            observers,
            namespaces,
            workflows,
            sharing,
            managers,
            marks,
            given,
            spread,
            ..
        } = parts;
        let mut config = self.settings.machine.clone();
        config.spread = self.settings.spread.unwrap_or(*spread);
        if let Some(places) = &parts.places {
            config.max_concurrent = config.max_concurrent.min(places.all());
        }
        let never_retries = config.retry.is_last(&config.retry.begin());
        let name = Arc::clone(&self.name);
        let (processor, processing) = Processor::new(config, environment.clone(), observers.clone(), name);
        let sink: Arc<dyn EventSink> = Arc::new(processor.clone());
        let marks = Arc::new(self.marks(marks.clone()));
        let mut wiring = Wiring {
            controller: Arc::clone(&self.name),
            primary_type: self.settings.primary_type.clone(),
            scope: namespaces
                .as_ref()
                .unwrap_or(self.settings.scope())
                .in_place(clients.direct.default_namespace()),
            own_managers: self.all_managers(managers),
            sharing: sharing.clone(),
            marks: Arc::clone(&marks),
            clients: clients.clone(),
            environment: environment.clone(),
            observers: observers.clone(),
            primaries: Arc::new(NoPrimaries),
            sink,
            given: given.clone(),
        };
        let primary = PrimarySource::new(self.settings.primary_source(self.finalizer.as_deref()), &wiring);
        wiring.primaries = Arc::new(primary.informer().clone());
        let mut sources = Sources::none_in(&wiring);
        for (index, declaration) in SourceIndex::all().zip(&self.sources) {
            declaration.build(index, &wiring, &mut sources);
        }
        for (index, declaration) in (self.sources.len()..).zip(&self.conditional_sources) {
            let index = SourceIndex(u8::try_from(index).unwrap_or(u8::MAX));
            sources.add_conditional(Arc::clone(declaration), index, &wiring);
        }
        // Behind these, and behind that of definitions.
        sources.accept_more(&wiring, self.all_sources().count() + 1);
        let conditional = Arc::clone(sources.conditional());
        // Behind all event sources: it is none of the controller's, but wakes its primaries.
        let discovery = u8::try_from(self.all_sources().count()).unwrap_or(u8::MAX);
        let subscriber = Subscriber {
            controller: Arc::clone(&self.name),
            primaries: Arc::clone(&wiring.primaries),
            sink: Arc::clone(&wiring.sink),
            cause: Cause::Source(SourceIndex(discovery)),
        };
        let mut all: Vec<Arc<dyn EventSource>> = vec![Arc::new(primary.informer().clone())];
        all.extend(sources.all().cloned());

        let workflows = workflows.subscribed_by(subscriber);
        // What these keep about a primary goes with it.
        let expectations: Arc<Expectations> = Arc::default();
        let followers: [Arc<dyn PrimaryFollower>; 4] = [
            Arc::clone(&expectations) as _,
            Arc::clone(&conditional) as _,
            Arc::clone(&workflows.latest) as _,
            Arc::clone(&workflows.leaving) as _,
        ];
        for follower in &followers {
            wiring.primaries.follow(Arc::downgrade(follower));
        }
        let workflow =
            self.settings.workflow.clone().map(|workflow| Arc::new(workflow) as Arc<dyn ManagedWorkflow>);
        count_kept(&wiring, &conditional, &expectations, &workflows, workflow.clone());
        let writer = Writer {
            clients: clients.clone(),
            controller: Arc::clone(&self.name),
            field_manager: Arc::clone(&self.field_manager),
            retired_managers: Arc::clone(&self.retired_managers),
            environment: environment.clone(),
            observers: observers.clone(),
        };
        let shared = Arc::new(ControllerContext {
            controller: Arc::clone(&self.name),
            primary,
            sources,
            events: self.recorder(&writer, &wiring),
            writer,
            clients: clients.clone(),
            all_events: self.settings.all_events,
            applies: self.settings.use_ssa_to_patch_primary,
            finalizer: self.finalizer.clone(),
            marks,
            workflow,
            expectations,
            workflows,
            processor: processor.clone(),
        });
        let dispatcher = Dispatcher {
            code: Arc::clone(&self.code),
            status: self.settings.status.clone(),
            never_retries,
            timeout: self.settings.reconcile_timeout,
            source_names: self.source_names(),
            shared,
            retired_finalizers: Arc::clone(&self.retired_finalizers),
        };
        Wired {
            name: Arc::clone(&self.name),
            sources: all,
            conditional,
            scope: wiring.scope,
            primary_type: wiring.primary_type,
            #[cfg(feature = "testing")]
            config: self.settings.machine.clone(),
            processor,
            processing,
            dispatcher,
        }
    }
}
