//! A context without a cluster: for tests of code that uses contexts, in the library and in operators.

use std::{marker::PhantomData, sync::Arc};

use super::{AnyContext, Context, ControllerContext, RunContext};
use crate::reconciler::WorkflowSurroundings;
use crate::{
    client::{Clients, TransportHook},
    environment::Environment,
    event_source::{
        EventSink, InformerConfiguration, NoPrimaries, PrimaryChange, PrimaryFilters, PrimarySource, Sharing,
        SourceDeclaration, Sources, WatchScope, Wiring,
    },
    observe::{Cause, Causes, Observers, SourceIndex},
    operations::{Recorder, Writer},
    processor::{MachineConfig, Processor},
    resource::{Departed, KubeObject, ObjectKey, ResourceType, Uid},
};

/// The shared parts of the contexts of one controller, without a cluster: nothing is read from a cluster, and writes fail.
pub(crate) struct Offline<P: KubeObject> {
    pub(crate) shared: Arc<ControllerContext>,
    of: PhantomData<fn(P)>,
}

/// The parts of such a controller.
pub(crate) struct OfflineParts {
    /// Answers instead of a server that doesn't exist.
    pub(crate) hooks: Vec<TransportHook>,
    pub(crate) finalizer: Option<Arc<str>>,
    pub(crate) sources: Vec<Arc<dyn SourceDeclaration>>,
    /// Event sources that run only while they are needed.
    pub(crate) conditional: Vec<Arc<dyn SourceDeclaration>>,
    /// Where events go.
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) workflows: WorkflowSurroundings,
    pub(crate) observers: Observers,
}

impl Default for OfflineParts {
    fn default() -> Self {
        Self {
            hooks: Vec::new(),
            finalizer: None,
            sources: Vec::new(),
            conditional: Vec::new(),
            sink: Arc::new(Nobody),
            workflows: WorkflowSurroundings::default(),
            observers: Observers::default(),
        }
    }
}

struct Nobody;

impl EventSink for Nobody {
    fn primary_changed(&self, _: PrimaryChange<'_>) {}
    fn primary_deleted(&self, _: &ObjectKey, _: &str, _: Option<Departed>) {}
    fn related_changed(&self, _: &ObjectKey, _: Cause) {}
}

impl<P: KubeObject<DynamicType: Default>> Offline<P> {
    /// Must be called inside a tokio runtime's context.
    pub(crate) fn new(parts: OfflineParts) -> Self {
        let config = kube::Config::new(http::Uri::from_static("http://127.0.0.1:1"));
        let environment = Environment::real();
        let clients = Clients::new(&config, &parts.hooks, None, &environment)
            .expect("a client without credentials can always be made");
        let wiring = Wiring {
            controller: Arc::from("offline"),
            primary_type: ResourceType::of::<P>(),
            scope: WatchScope::All,
            own_managers: vec!["offline".to_owned()],
            sharing: Sharing::default(),
            marks: Arc::default(),
            clients: clients.clone(),
            environment: environment.clone(),
            observers: parts.observers.clone(),
            primaries: Arc::new(NoPrimaries),
            scopes: Arc::default(),
            named: Arc::default(),
            sink: parts.sink,
            given: None,
        };
        let primaries = InformerConfiguration::of::<P>(ResourceType::of::<P>());
        let primary = PrimarySource::new(&primaries, PrimaryFilters::default(), false, &wiring);
        let mut sources = Sources::offline();
        let mut indexes = (0..).map(SourceIndex);
        for (declaration, index) in parts.sources.iter().zip(&mut indexes) {
            declaration.build(index, &wiring, &mut sources);
        }
        for (declaration, index) in parts.conditional.into_iter().zip(&mut indexes) {
            sources.add_conditional(declaration, index, &wiring);
        }
        // It knows no primary, and nothing drives it.
        let (processor, _) = Processor::new(
            MachineConfig::default(),
            environment.clone(),
            Observers::default(),
            Arc::from("offline"),
        );
        let writer = Writer {
            clients,
            controller: Arc::from("offline"),
            field_manager: Arc::from("offline"),
            environment,
            observers: parts.observers,
            undeclared: Arc::default(),
        };
        let shared = Arc::new(ControllerContext {
            primary,
            sources,
            events: Recorder::new(writer.clone(), Arc::clone(&wiring.scopes), true, None),
            writer,
            applies: true,
            all_events: false,
            own_finalizer: parts.finalizer.clone().unwrap_or_default(),
            finalizer: parts.finalizer,
            marks: Arc::default(),
            workflow: None,
            scopes: wiring.scopes,
            workflows: parts.workflows,
            processor,
        });
        Self { shared, of: PhantomData }
    }

    /// The context of a run of `primary`, which its cache contains from now on; values that only a server could have
    /// set are made up.
    pub(crate) fn context(&self, primary: &P) -> Context<P> {
        let mut primary = primary.clone();
        let meta = primary.meta_mut();
        let uid = Uid::new(meta.uid.get_or_insert_with(|| "offline".to_owned()));
        meta.resource_version.get_or_insert_with(|| "1".to_owned());
        let key = ObjectKey::of(&primary);
        let informer = self.shared.primary.informer();
        informer.remember_answer(informer.answer_of(Arc::new(primary)));
        self.shared.scopes.seen(&key, uid.as_str());
        let run = RunContext { key, uid, causes: Causes::NONE, retry: None, departed: None };
        Context::of_any(AnyContext::new(run, Arc::clone(&self.shared)))
    }
}
