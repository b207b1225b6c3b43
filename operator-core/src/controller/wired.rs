//! A controller between its declaration and its start: all parts are connected, and none of them runs.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use futures::FutureExt;

use super::{
    permitted::{Permitted, Places},
    running::RunningController,
    starting::Start,
};
#[cfg(feature = "testing")]
use crate::processor::MachineConfig;
use crate::{
    client::Clients,
    dispatcher::{Dispatcher, Runs},
    environment::Environment,
    event_source::{ConditionalSources, Divisions, EventSource, Given, Sharing, WatchScope},
    observe::Observers,
    processor::{Processor, ProcessorTask, RunExecutor},
    reconciler::WorkflowSurroundings,
    resource::{MarkNames, ResourceType},
};

/// What an operator passes to each of its controllers.
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
    /// The share by which regular delays are spread where a controller says nothing else.
    pub(crate) spread: f64,
    /// Those of the runs of all controllers together, if there is a limit.
    pub(crate) places: Option<Places>,
    /// The keys of the marks on what dependents write.
    pub(crate) marks: MarkNames,
    /// What sources of several controllers share.
    pub(crate) sharing: Sharing,
    /// The field managers of all controllers, whose entries the caches keep.
    pub(crate) managers: BTreeSet<String>,
    /// Where sources look instead of following anything.
    pub(crate) given: Option<Arc<dyn Given>>,
}

impl fmt::Debug for OperatorParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorParts").finish_non_exhaustive()
    }
}

/// The parts of a controller.
pub(crate) struct Wired {
    pub(super) name: Arc<str>,
    /// Those that always run.
    pub(super) sources: Vec<Arc<dyn EventSource>>,
    pub(super) conditional: Arc<ConditionalSources>,
    pub(super) scope: WatchScope,
    pub(super) primary_type: ResourceType,
    /// How the processor decides.
    #[cfg(feature = "testing")]
    pub(crate) config: MachineConfig,
    pub(super) processor: Processor,
    pub(super) processing: ProcessorTask,
    pub(crate) dispatcher: Dispatcher,
}

impl Wired {
    /// Starts everything.
    pub(super) fn start(self, parts: &OperatorParts) -> RunningController {
        let events = Some(Arc::clone(&self.dispatcher.shared.events));
        let runs = Arc::new(Runs(Arc::new(self.dispatcher)));
        let runs = in_their_places(runs, &self.name, parts);
        let (scope, primary_type) = (self.scope.clone(), self.primary_type.clone());
        let own = match parts.starts_as_a_whole {
            true => BTreeSet::new(),
            false => Divisions::of_controller(&self.scope, &self.primary_type),
        };
        RunningController::start(
            self.name,
            (self.sources, self.conditional),
            (scope, primary_type),
            (self.processor, self.processing.run(runs).boxed()),
            &parts.environment,
            parts.observers.clone(),
            Start {
                term: parts.clients.term().cloned(),
                cache_sync_timeout: parts.cache_sync_timeout,
                own,
                as_a_whole: parts.starts_as_a_whole,
                events,
            },
        )
    }
}

/// The same runs, each of which waits for one of the operator's places, if it has a limit.
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
