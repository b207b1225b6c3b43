//! A controller between its declaration and its start: all parts are connected, and none of them runs.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use futures::FutureExt;

use super::{
    Controller,
    permitted::{Permitted, Places},
    running::{Parts, RunningController},
    settings::Settings,
};
#[cfg(feature = "testing")]
use crate::processor::MachineConfig;
use crate::{
    client::Clients,
    dispatcher::{Dispatcher, Runs},
    environment::Environment,
    event_source::{
        EventSink, EventSource, Given, NoPrimaries, PrimaryChange, PrimaryFilters, PrimarySource, Sharing,
        Sources, Subscriber, WatchScope, Wiring,
    },
    observe::{Cause, Observers, SourceIndex},
    operations::{Receiver, Recorder, Writer, records_manager},
    processor::{Input, Processor, ProcessorTask, RunExecutor},
    reconciler::{ControllerContext, ManagedWorkflow, WorkflowSurroundings},
    resource::{Departed, MarkNames, ObjectKey, Uid},
};

/// The parts that an operator passes to each of its controllers.
pub(crate) struct OperatorParts {
    pub(crate) clients: Clients,
    pub(crate) environment: Environment,
    pub(crate) observers: Observers,
    /// After this time, and each further one, sources that are not synced are warned about; `None` for never.
    pub(crate) cache_sync_timeout: Option<Duration>,
    /// No run starts before everything is synced.
    pub(crate) starts_as_a_whole: bool,
    /// Used instead of the namespaces that the controllers declare.
    pub(crate) namespaces: Option<WatchScope>,
    pub(crate) workflows: WorkflowSurroundings,
    /// The share by which regular delays are spread if a controller declares none.
    pub(crate) spread: f64,
    /// The places of the runs of all controllers together, if there is a limit.
    pub(crate) places: Option<Places>,
    /// Gets the Events of all controllers, too.
    pub(crate) receiver: Option<Receiver>,
    /// The keys of the marks on objects that dependents write.
    pub(crate) marks: MarkNames,
    /// Shared by the sources of several controllers.
    pub(crate) sharing: Sharing,
    /// The field managers of all controllers, whose entries the caches keep.
    pub(crate) managers: BTreeSet<String>,
    /// The existing objects, if there is no cluster to ask.
    pub(crate) given: Option<Arc<dyn Given>>,
}

debug_of!(OperatorParts: "OperatorParts");

/// The parts of a controller, none of which runs.
pub(crate) struct Wired {
    parts: Parts,
    /// How the processor decides.
    #[cfg(feature = "testing")]
    pub(crate) config: MachineConfig,
    processing: ProcessorTask,
    pub(crate) dispatcher: Dispatcher,
}

/// The same runs, each of which waits for one of the operator's places, if the operator has a limit.
fn in_their_places(runs: Arc<Runs>, controller: &Arc<str>, parts: &OperatorParts) -> Arc<dyn RunExecutor> {
    match &parts.places {
        Some(places) => Arc::new(Permitted {
            runs,
            places: places.clone(),
            controller: Arc::clone(controller),
            observers: parts.observers.clone(),
        }),
        None => runs,
    }
}

impl Controller {
    pub(crate) fn start(&self, parts: &OperatorParts) -> RunningController {
        let wired = self.wire(parts);
        let runs = in_their_places(Arc::new(Runs(Arc::new(wired.dispatcher))), &self.name, parts);
        RunningController::start(wired.parts, wired.processing.run(runs).boxed())
    }

    /// Connects its parts, none of which runs.
    pub(crate) fn wire(&self, parts: &OperatorParts) -> Wired {
        let mut config = self.settings.machine.clone();
        config.spread = self.settings.spread.unwrap_or(parts.spread);
        if let Some(places) = &parts.places {
            config.max_concurrent = config.max_concurrent.min(places.all);
        }
        let never_retries = config.retry.is_last(&config.retry.begin());
        let (name, environment) = (Arc::clone(&self.name), parts.environment.clone());
        let (processor, processing) = Processor::new(config, environment, parts.observers.clone(), name);
        let sink: Arc<dyn EventSink> = Arc::new(processor.clone());
        // Shared caches keep the fields of all controllers' field managers.
        let all_managers: BTreeSet<String> = std::iter::once(self.field_manager())
            .chain(parts.managers.iter().map(String::as_str))
            .flat_map(|manager| [manager.to_owned(), records_manager(manager)])
            .collect();
        let marks = Arc::new(self.marks(parts.marks.clone()));
        let mut wiring = Wiring {
            controller: Arc::clone(&self.name),
            primary_type: self.settings.primaries.resource_type().clone(),
            scope: parts
                .namespaces
                .as_ref()
                .or(self.settings.primaries.scope.as_ref())
                .unwrap_or(&WatchScope::All)
                .in_place(parts.clients.direct.default_namespace()),
            own_managers: all_managers.into_iter().collect(),
            sharing: parts.sharing.clone(),
            marks: Arc::clone(&marks),
            clients: parts.clients.clone(),
            environment: parts.environment.clone(),
            observers: parts.observers.clone(),
            primaries: Arc::new(NoPrimaries),
            scopes: Arc::default(),
            named: Arc::default(),
            sink,
            given: parts.given.clone(),
        };
        let filters = PrimaryFilters { finalizer: self.finalizer.clone(), ..self.settings.filters.clone() };
        let Settings { primaries, all_events, .. } = &*self.settings;
        let primary = PrimarySource::new(primaries, filters, *all_events, &wiring);
        wiring.primaries = Arc::new(primary.informer().clone());
        wiring.scopes.follow(primary.informer());
        let mut sources = Sources::none_in(&wiring);
        for (index, declaration) in SourceIndex::all().zip(&self.sources) {
            declaration.build(index, &wiring, &mut sources);
        }
        for (index, declaration) in (self.sources.len()..).zip(&self.conditional_sources) {
            let index = SourceIndex(u8::try_from(index).unwrap_or(u8::MAX));
            sources.add_conditional(Arc::clone(declaration), index, &wiring);
        }
        // Its index comes after these, and after that of the definitions.
        sources.accept_more(&wiring, self.all_sources().count() + 1);
        let conditional = Arc::clone(sources.conditional());
        // Its index comes after all event sources: it isn't the controller's, but triggers the controller's primaries.
        let discovery = u8::try_from(self.all_sources().count()).unwrap_or(u8::MAX);
        let subscriber = Subscriber {
            controller: Arc::clone(&self.name),
            primaries: Arc::clone(&wiring.primaries),
            sink: Arc::clone(&wiring.sink),
            cause: Cause::Source(SourceIndex(discovery)),
        };
        let mut all: Vec<Arc<dyn EventSource>> = vec![Arc::new(primary.informer().clone())];
        all.extend(sources.all().cloned());

        if let Some(discovery) = parts.workflows.known_kinds() {
            discovery.follow_primaries(primary.resource_type(), &subscriber);
        }
        let workflows = parts.workflows.subscribed_by(subscriber);
        let workflow =
            self.settings.workflow.clone().map(|workflow| Arc::new(workflow) as Arc<dyn ManagedWorkflow>);
        let writer = Writer {
            clients: parts.clients.clone(),
            controller: Arc::clone(&self.name),
            field_manager: Arc::clone(&self.field_manager),
            environment: parts.environment.clone(),
            observers: parts.observers.clone(),
            undeclared: Arc::default(),
        };
        let (scopes, declared) = (Arc::clone(&wiring.scopes), self.settings.records_events);
        let events = Recorder::new(writer.clone(), scopes, declared, parts.receiver.clone());
        let shared = Arc::new(ControllerContext {
            primary,
            sources,
            events: Arc::clone(&events),
            writer,
            all_events: self.settings.all_events,
            applies: self.settings.use_ssa_to_patch_primary,
            finalizer: self.finalizer.clone(),
            own_finalizer: Arc::clone(&self.own_finalizer),
            marks,
            workflow,
            scopes: Arc::clone(&wiring.scopes),
            workflows,
            processor: processor.clone(),
        });
        let dispatcher = Dispatcher {
            code: Arc::clone(&self.code),
            status: self.settings.status.clone(),
            never_retries,
            paused_when: self.settings.filters.paused_when.clone(),
            timeout: self.settings.reconcile_timeout,
            source_names: self.source_names(),
            shared,
        };
        let parts = Parts {
            wiring,
            sources: all,
            conditional,
            processor,
            events: Some(events),
            cache_sync_timeout: parts.cache_sync_timeout,
            as_a_whole: parts.starts_as_a_whole,
            has_begun: AtomicBool::new(false),
        };
        Wired {
            parts,
            #[cfg(feature = "testing")]
            config: self.settings.machine.clone(),
            processing,
            dispatcher,
        }
    }
}

/// Event sources don't know the processor.
impl EventSink for Processor {
    fn primary_changed(&self, change: PrimaryChange<'_>) {
        let PrimaryChange { key, uid, cause, deleting } = change;
        self.send(Input::PrimaryChanged { key: key.clone(), uid: Uid::new(uid), cause, deleting });
    }

    fn primary_deleted(&self, key: &ObjectKey, uid: &str, last: Option<Departed>) {
        let last = last.map(Arc::new);
        self.send(Input::PrimaryDeleted { key: key.clone(), uid: Uid::new(uid), last });
    }

    fn related_changed(&self, primary: &ObjectKey, cause: Cause) {
        self.send(Input::Related { key: primary.clone(), cause });
    }

    fn redefined(&self, cause: Cause) {
        self.send(Input::Redefined { cause });
    }
}
