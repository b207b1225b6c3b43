//! A run's view and means, without the type of its primary: the part of a [`Context`](super::Context) that is compiled once.

use std::{future::Future, sync::Arc};

use futures::FutureExt;
use parking_lot::{Mutex, MutexGuard};

use super::{DataOfRun, RetryInfo, memo::Memo};
use crate::reconciler::{ManagedWorkflow, Remembered, WorkflowSurroundings};
use crate::{
    cache::{HeldObjects, Informer, Unopened},
    environment::WallClock,
    event_source::{
        AnySecondary, EventSources, PrimaryScope, PrimaryScopes, PrimarySource, RustType, Sources,
    },
    observe::Causes,
    operations::{
        About, Error, Events, Findings, PropagationPolicy, Recorder, ResourceOperations, Writer, WritingRun,
        has_set_finalizer,
    },
    processor::Processor,
    resource::{AnyObject, ControllerMarks, Departed, Object, ObjectKey, ResourceType, Uid, label_value},
};

/// What all runs of a controller share.
#[derive(Debug)]
pub(crate) struct ControllerContext {
    pub(crate) primary: PrimarySource,
    pub(crate) sources: Sources,
    pub(crate) writer: Writer,
    pub(crate) events: Arc<Recorder>,
    /// Whether primaries are written by server-side apply; otherwise by JSON patch.
    pub(crate) applies: bool,
    /// Whether the reconciler handles everything about primaries: their deletion marks, ends and finalizers.
    pub(crate) all_events: bool,
    /// The finalizer, if the controller uses one.
    pub(crate) finalizer: Option<Arc<str>>,
    /// The name of its finalizer, also if it doesn't use one any more.
    pub(crate) own_finalizer: Arc<str>,
    /// The marks that its nodes put on what they write.
    pub(crate) marks: Arc<ControllerMarks>,
    /// The workflow, if the controller has one.
    pub(crate) workflow: Option<Arc<dyn ManagedWorkflow>>,
    /// The scopes of its primaries.
    pub(crate) scopes: Arc<PrimaryScopes>,
    /// Shared by the workflows of the operator.
    pub(crate) workflows: WorkflowSurroundings,
    /// Knows whether another run of a primary follows anyway.
    pub(crate) processor: Processor,
}

/// What distinguishes one run from another.
#[derive(Clone, Debug)]
pub(crate) struct RunContext {
    /// The primary of the run.
    pub key: ObjectKey,
    /// Its incarnation.
    pub uid: Uid,
    /// Why the run happens.
    pub causes: Causes,
    /// The number of the retry; `None` for a run that doesn't follow a failure.
    pub retry: Option<RetryInfo>,
    /// The last state of the primary, if it is gone and the run is to see that.
    pub departed: Option<Arc<Departed>>,
}

/// Passed to each part of the library that works for a run.
pub(crate) struct AnyContext {
    run: RunContext,
    shared: Arc<ControllerContext>,
    /// What its writes have shown about the primary.
    findings: Mutex<Findings>,
    /// The state of the primary that user code is given; `None` before there is one.
    own_primary: Mutex<Option<AnyObject>>,
    /// The results of the workflow in this run.
    workflow_results: Mutex<Remembered>,
    /// The desired states of its dependents, computed once.
    memo: Memo,
    /// The data that user code has put into it for its nodes.
    data: DataOfRun,
    /// The objects that bounded event sources hold in full for the run.
    held: HeldObjects,
    /// Its nodes write the primary one after the other; otherwise they would conflict with each other.
    pub(crate) primary_writes: tokio::sync::Mutex<()>,
}

impl AnyContext {
    pub(crate) fn new(run: RunContext, shared: Arc<ControllerContext>) -> Arc<Self> {
        Arc::new(Self {
            run,
            shared,
            findings: Mutex::default(),
            own_primary: Mutex::default(),
            workflow_results: Mutex::default(),
            memo: Memo::default(),
            data: DataOfRun::default(),
            held: HeldObjects::default(),
            primary_writes: tokio::sync::Mutex::default(),
        })
    }

    /// Makes an informer hold these objects in full until the run ends; nothing to do for most informers.
    pub(crate) async fn hold(&self, informer: &Informer, keys: Vec<ObjectKey>) -> Result<(), Error> {
        let Some(key) = keys.first().cloned() else { return Ok(()) };
        self.held.hold(informer, keys).await.map_err(|source| {
            let kind = informer.resource_type().clone();
            Error::NotFetched { kind, key, source }
        })
    }

    /// The same for the primary of the run.
    pub(crate) async fn hold_primary(&self) -> Result<(), Error> {
        let primaries = self.shared.primary.informer();
        if !primaries.is_bounded() {
            return Ok(());
        }
        self.hold(primaries, vec![self.run.key.clone()]).boxed().await
    }

    pub(crate) fn run(&self) -> &RunContext {
        &self.run
    }

    /// Keeps data about the primary of the run for its later runs.
    pub(crate) fn scope(&self) -> PrimaryScope<'_> {
        self.shared.scopes.of_incarnation(&self.run.key, &self.run.uid)
    }

    /// The primary of the run.
    pub(crate) fn primary_key(&self) -> &ObjectKey {
        &self.run.key
    }

    /// The newest known state of the primary of the run; `None` once it is gone or replaced.
    pub(crate) fn primary(&self) -> Option<AnyObject> {
        let newest = self.shared.primary.informer().get(&self.run.key)?;
        (newest.meta().uid.as_deref() == Some(self.run.uid.as_str())).then_some(newest)
    }

    /// The newest known state of the primary, which shows what this run has written itself; this one once it is gone or
    /// replaced.
    pub(crate) fn newest(&self, primary: &AnyObject) -> AnyObject {
        self.primary().unwrap_or_else(|| AnyObject::clone(primary))
    }

    /// The type of the primary.
    pub(crate) fn primary_type(&self) -> &ResourceType {
        self.shared.primary.resource_type()
    }

    /// The sources of objects of this type; there has to be at least one.
    pub(crate) fn watched(&self, of: RustType) -> Result<impl Iterator<Item = Arc<AnySecondary>>, Error> {
        let watched = self.shared.sources.watch(of);
        let unwatched = || Error::NoEventSource { kind: of.name().to_owned() };
        watched.then(|| self.shared.sources.of(of, &self.run.key)).ok_or_else(unwatched)
    }

    /// The same for one kind.
    pub(crate) fn watched_kind(
        &self,
        of: RustType,
        kind: &ResourceType,
    ) -> Result<impl Iterator<Item = Arc<AnySecondary>>, Error> {
        let watched = self.shared.sources.watch_kind(of, kind);
        let unwatched = || Error::NoEventSource { kind: kind.kind().to_owned() };
        watched.then(|| self.shared.sources.of_this_kind(of, kind, &self.run.key)).ok_or_else(unwatched)
    }

    /// These objects of a source, for the function of a node if there is one, without those that are going: a node of the run
    /// has made them for the primary, and no node wants them any more.
    pub(crate) fn shown(
        self: &Arc<Self>,
        source: &AnySecondary,
        objects: impl Iterator<Item = Result<AnyObject, Unopened>>,
        node: Option<&str>,
    ) -> Result<Vec<AnyObject>, Unopened> {
        let is_shown = |object: &Result<AnyObject, Unopened>| {
            let Ok(object) = object else { return true };
            let Some(maker) = self.maker(&**object) else { return true };
            if let Some(node) = node {
                self.remembered().lock().note_read(node, maker);
            }
            !self.is_going(source.resource_type(), &**object, maker)
        };
        objects.filter(is_shown).collect()
    }

    /// The node that has made an object for the primary of the run, by the value of its label.
    fn maker<'o>(&self, object: &'o dyn Object) -> Option<&'o str> {
        let (labels, names) = (object.meta().labels.as_ref()?, self.shared.marks.names());
        let is_own = *labels.get(names.owner())? == label_value(self.run.uid.as_str());
        labels.get(names.node()).filter(|_| is_own).map(String::as_str)
    }

    fn is_going(self: &Arc<Self>, kind: &ResourceType, object: &dyn Object, maker: &str) -> bool {
        let Some(workflow) = &self.shared.workflow else { return false };
        let takes_no_part = self.remembered().lock().is_going(maker) == Some(false);
        let Some(primary) = self.own_primary().filter(|_| !takes_no_part) else { return false };
        let wants = workflow.wants(kind, &ObjectKey::in_meta(object.meta()), &primary, self);
        wants.iter().all(|one| one.wants != Some(true))
            && wants.iter().any(|one| one.node == maker && one.wants == Some(false))
    }

    /// The same sources, which the function of a node asks for the object with that key, or for all of the primary.
    pub(crate) fn asked(
        &self,
        sources: impl Iterator<Item = Arc<AnySecondary>>,
        key: Option<&ObjectKey>,
        node: Option<&str>,
    ) -> impl Iterator<Item = Arc<AnySecondary>> {
        sources.inspect(move |source| {
            if let Some(node) = node {
                self.findings.lock().note_asked(source.resource_type(), key, node);
            }
        })
    }

    /// The event source of that name for objects of this type.
    pub(crate) fn event_source(&self, of: RustType, name: &str) -> Option<Arc<AnySecondary>> {
        self.shared.sources.named_of(of, name, &self.run.key)
    }

    /// Adds and removes event sources.
    pub(crate) fn event_sources(&self) -> EventSources<'_> {
        let shared = &self.shared;
        EventSources { sources: &shared.sources, scope: self.scope() }
    }

    /// Writes secondaries, and the primary in addition to what the run returns.
    pub(crate) fn resource_operations(&self) -> ResourceOperations<'_> {
        ResourceOperations::new(self.writing_run())
    }

    /// Writes Events about the primary, also when it is gone.
    pub(crate) fn events(&self) -> Events<'_> {
        let version = self.own_primary().and_then(|primary| primary.meta().resource_version.clone());
        let kind = self.shared.primary.resource_type().clone();
        let about =
            About { kind, key: self.run.key.clone(), uid: self.run.uid.clone(), version, primary: None };
        Events::new(&self.shared.events, about)
    }

    /// The time of day, for values that people read.
    pub(crate) fn wall_clock(&self) -> &dyn WallClock {
        self.shared.writer.environment.wall_clock()
    }

    pub(crate) fn remembered(&self) -> &Mutex<Remembered> {
        &self.workflow_results
    }

    /// Lets a dependent do something, once the operator's limit for concurrent calls allows it.
    ///
    /// Boxed, because most runs don't need it.
    pub(crate) fn permitted<'r, T: 'r>(
        &'r self,
        call: impl Future<Output = T> + Send + 'r,
    ) -> impl Future<Output = T> + Send + 'r {
        self.shared.workflows.permitted(call.boxed())
    }

    /// Sets this state of the primary as the one that the run, and its workflow, work on from now on.
    pub(crate) fn work_on(&self, primary: &AnyObject) {
        *self.own_primary.lock() = Some(AnyObject::clone(primary));
    }

    /// The state of the primary that the run works on; the newest known one if none was set. `None` once the primary is
    /// gone or replaced.
    pub(crate) fn own_primary(&self) -> Option<AnyObject> {
        let newest = self.primary()?;
        Some(self.own_primary.lock().clone().unwrap_or(newest))
    }

    /// The data that user code has put into the run.
    pub(crate) fn data(&self) -> &DataOfRun {
        &self.data
    }

    pub(crate) fn memo(&self) -> &Memo {
        &self.memo
    }

    pub(crate) fn writing_run(&self) -> WritingRun<'_> {
        let is_going = |primary: &AnyObject| primary.meta().deletion_timestamp.is_some();
        let is_cleanup = self.own_primary.lock().as_ref().is_some_and(is_going);
        WritingRun {
            key: &self.run.key,
            uid: self.run.uid.as_str(),
            is_cleanup,
            finalizer: self.finalizer(),
            own_annotations: self.shared.marks.names().of_primaries(),
            own_fields: self.shared.workflow.as_ref().map_or(&[], |workflow| workflow.own_fields()),
            findings: &self.findings,
            held: &self.held,
            propagation: &PropagationPolicy::Background,
            primaries: &self.shared.primary,
            sources: &self.shared.sources,
            writer: &self.shared.writer,
        }
    }

    /// The controller's finalizer, if it uses one, or if an earlier version has put one on the primary.
    pub(crate) fn finalizer(&self) -> Option<&str> {
        let shared = &self.shared;
        let is_set =
            |of: &AnyObject| has_set_finalizer(&**of, &shared.own_finalizer, &shared.writer.field_manager);
        let former =
            || self.own_primary.lock().as_ref().is_some_and(is_set).then_some(&*shared.own_finalizer);
        shared.finalizer.as_deref().or_else(former)
    }

    pub(crate) fn findings(&self) -> MutexGuard<'_, Findings> {
        self.findings.lock()
    }

    pub(crate) fn shared(&self) -> &Arc<ControllerContext> {
        &self.shared
    }
}
