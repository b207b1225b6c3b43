//! What a run can see and do.

use std::{fmt, future::Future, sync::Arc};

use kube::Client;
use parking_lot::Mutex;

use super::{
    RetryInfo,
    memo::Memo,
    workflow::{ManagedWorkflow, Remembered, WorkflowHandle, WorkflowSurroundings},
};
use crate::{
    cache::Informer,
    client::Clients,
    environment::WallClock,
    event_source::{ExternalSource, PrimarySource, RustType, SecondarySource, Sources},
    observe::Causes,
    operations::{Error, Findings, ResourceOperations, Writer, WritingRun},
    processor::Processor,
    resource::{ControllerMarks, KubeObject, ObjectKey, ResourceType, Uid, owner_reference},
};

/// What all runs of a controller share.
#[derive(Debug)]
pub(crate) struct ControllerContext<P: KubeObject> {
    pub(crate) controller: Arc<str>,
    pub(crate) primary: PrimarySource<P>,
    pub(crate) sources: Sources,
    pub(crate) writer: Writer,
    pub(crate) clients: Clients,
    /// The finalizer, where the controller uses one.
    pub(crate) finalizer: Option<Arc<str>>,
    /// How what its nodes have written says so.
    pub(crate) marks: Arc<ControllerMarks>,
    /// The workflow, where the controller has one.
    pub(crate) workflow: Option<Arc<dyn ManagedWorkflow<P>>>,
    /// What the workflows of the operator share.
    pub(crate) workflows: WorkflowSurroundings,
    /// Knows whether another run of a primary is to come anyway.
    pub(crate) processor: Processor,
}

/// What distinguishes one run from another.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// The primary that the run is about.
    pub key: ObjectKey,
    /// Its incarnation.
    pub uid: Uid,
    /// Why the run happens.
    pub causes: Causes,
    /// Which retry it is; `None` for a run that no failure went before.
    pub retry: Option<RetryInfo>,
}

/// Given to each call of user code: reads from the caches, writes through the operator. JOSDK: `Context`.
///
/// All reads come from caches that the operator keeps up to date by watching, and that see the operator's own writes at
/// once. Objects are shared: clone one before changing it.
pub struct Context<P: KubeObject> {
    run: RunContext,
    shared: Arc<ControllerContext<P>>,
    /// What its writes have found out about the primary.
    findings: Findings,
    /// The state of the primary that user code is given; `None` before there is one.
    own_primary: Mutex<Option<Arc<P>>>,
    /// What the workflow did in this run.
    workflow_results: Mutex<Remembered>,
    /// What its dependents want, computed once.
    memo: Memo,
}

impl<P: KubeObject> fmt::Debug for Context<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("run", &self.run).finish_non_exhaustive()
    }
}

impl<P: KubeObject> Context<P> {
    pub(crate) fn new(run: RunContext, shared: Arc<ControllerContext<P>>) -> Self {
        Self {
            run,
            shared,
            findings: Findings::default(),
            own_primary: Mutex::default(),
            workflow_results: Mutex::default(),
            memo: Memo::default(),
        }
    }

    /// The primary that the run is about.
    #[must_use]
    pub fn primary_key(&self) -> &ObjectKey {
        &self.run.key
    }

    /// The newest known state of the primary that the run is about; `None` once it is gone or replaced.
    #[must_use]
    pub fn primary(&self) -> Option<Arc<P>> {
        let newest = self.primary_cache().get(&self.run.key)?;
        (newest.meta().uid.as_deref() == Some(self.run.uid.as_str())).then_some(newest)
    }

    /// The type of the primary.
    #[must_use]
    pub fn primary_type(&self) -> &ResourceType {
        self.shared.primary.resource_type()
    }

    /// The controller's name.
    #[must_use]
    pub fn controller_name(&self) -> &str {
        &self.shared.controller
    }

    /// Why the run happens.
    #[must_use]
    pub fn causes(&self) -> Causes {
        self.run.causes
    }

    /// Which retry the run is; `None` when no failure went before.
    #[must_use]
    pub fn retry_info(&self) -> Option<&RetryInfo> {
        self.run.retry.as_ref()
    }

    /// The one secondary of type `K` that belongs to the primary; the first by name if there are several.
    ///
    /// Empty, too, while the only event source for `K` is that of a workflow's node which is inactive.
    ///
    /// # Errors
    /// When the controller has no event source for `K`, so that it could never find one: [`Error::NoEventSource`]. That is so
    /// for all reads of secondaries. JOSDK: `NoEventSourceForClassException`.
    pub fn secondary<K: KubeObject>(&self) -> Result<Option<Arc<K>>, Error> {
        Ok(self.secondaries()?.into_iter().next())
    }

    /// The secondary of type `K` and that name which belongs to the primary.
    ///
    /// # Errors
    /// When the controller has no event source for `K`.
    pub fn secondary_named<K: KubeObject>(&self, name: &str) -> Result<Option<Arc<K>>, Error> {
        Ok(self.secondaries::<K>()?.into_iter().find(|object| object.meta().name.as_deref() == Some(name)))
    }

    /// All secondaries of type `K` that belong to the primary, from all event sources for `K`, in the order of their
    /// keys within each source.
    ///
    /// # Errors
    /// When the controller has no event source for `K`.
    pub fn secondaries<K: KubeObject>(&self) -> Result<Vec<Arc<K>>, Error> {
        let all =
            self.watched()?.flat_map(|source: Arc<SecondarySource<K>>| source.secondaries_of(&self.run.key));
        Ok(all.collect())
    }

    /// Any object of type `K` that the controller watches, whomever it belongs to.
    ///
    /// # Errors
    /// When the controller has no event source for `K`.
    pub fn get<K: KubeObject>(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, Error> {
        Ok(self.watched()?.find_map(|source: Arc<SecondarySource<K>>| source.informer().get(key)))
    }

    /// All secondaries of this very kind that belong to the primary. For types such as `DynamicObject`, which stand for
    /// any kind: a controller may have several sources of them, and [`Context::secondaries`] reads them all.
    ///
    /// # Errors
    /// When the controller has no event source for this kind.
    pub fn secondaries_of_kind<K: KubeObject>(&self, kind: &ResourceType) -> Result<Vec<Arc<K>>, Error> {
        let sources = self.watched_kind::<K>(kind)?;
        Ok(sources.flat_map(|source| source.secondaries_of(&self.run.key)).collect())
    }

    /// Any object of this very kind that the controller watches, whomever it belongs to.
    ///
    /// # Errors
    /// When the controller has no event source for this kind.
    pub fn get_of_kind<K: KubeObject>(
        &self,
        kind: &ResourceType,
        key: &ObjectKey,
    ) -> Result<Option<Arc<K>>, Error> {
        Ok(self.watched_kind::<K>(kind)?.find_map(|source| source.informer().get(key)))
    }

    /// All objects of type `K` for which the named index gives `value`, whomever they belong to, from all event sources
    /// that have such an index. For an index over the primaries see [`Context::primary_cache`].
    ///
    /// # Errors
    /// When the controller has no event source for `K`.
    pub fn by_index<K: KubeObject>(&self, index: &str, value: &str) -> Result<Vec<Arc<K>>, Error> {
        let all = self
            .watched()?
            .flat_map(|source: Arc<SecondarySource<K>>| source.informer().by_index(index, value));
        Ok(all.collect())
    }

    /// The sources of objects of type `K`, of which there has to be one.
    fn watched<K: KubeObject>(&self) -> Result<impl Iterator<Item = Arc<SecondarySource<K>>>, Error> {
        let kind = || RustType::of::<K>().name().to_owned();
        let watched = self.shared.sources.watch::<K>();
        watched
            .then(|| self.shared.sources.of_type(&self.run.key))
            .ok_or_else(|| Error::NoEventSource { kind: kind() })
    }

    /// The same of one kind.
    fn watched_kind<K: KubeObject>(
        &self,
        kind: &ResourceType,
    ) -> Result<impl Iterator<Item = Arc<SecondarySource<K>>>, Error> {
        let watched = self.shared.sources.watch_kind::<K>(kind);
        let unwatched = || Error::NoEventSource { kind: kind.kind().to_owned() };
        watched.then(|| self.shared.sources.of_kind(kind, &self.run.key)).ok_or_else(unwatched)
    }

    /// The event source for objects of type `K` and of this very kind; the first one if there are several.
    #[must_use]
    pub fn event_source_of_kind<K: KubeObject>(
        &self,
        kind: &ResourceType,
    ) -> Option<Arc<SecondarySource<K>>> {
        self.shared.sources.of_kind(kind, &self.run.key).next()
    }

    /// The event source of that name for objects of type `K`.
    #[must_use]
    pub fn event_source<K: KubeObject>(&self, name: &str) -> Option<Arc<SecondarySource<K>>> {
        self.shared.sources.named(name, &self.run.key)
    }

    /// What is known of another system's resources of type `R` that belong to the primary, from all event sources for
    /// `R`, in the order of their ids within each source. Nothing is fetched: where a run is the first to need them, see
    /// [`ExternalStore::fetch_now`](crate::event_source::ExternalStore::fetch_now).
    #[must_use]
    pub fn external<R: 'static>(&self) -> Vec<Arc<R>> {
        let sources = self.shared.sources.external::<R>(&self.run.key);
        sources.flat_map(|source| source.get(&self.run.key)).collect()
    }

    /// The event source of that name for another system's resources of type `R`; without a name the first one. It is also
    /// told there what the run has written to the other system.
    #[must_use]
    pub fn external_source<R: 'static>(&self, name: Option<&str>) -> Option<ExternalSource<R>> {
        self.shared
            .sources
            .external(&self.run.key)
            .find(|source| name.is_none_or(|name| source.name() == name))
    }

    /// The cache of all primaries.
    #[must_use]
    pub fn primary_cache(&self) -> &Informer<P> {
        self.shared.primary.informer()
    }

    /// Whether something has happened since the run began, so that another one follows it: what this one would write
    /// only for the moment (a status, say) may be left to that one. What event sources have not delivered yet is not
    /// seen. JOSDK's `isNextReconciliationImminent`.
    #[must_use]
    pub fn next_reconciliation_imminent(&self) -> bool {
        self.shared.processor.next_reconciliation_imminent(&self.run.key)
    }

    /// Writes secondaries, and the primary beside what the run answers.
    pub fn resource_operations(&self) -> ResourceOperations<'_> {
        ResourceOperations::new(self.writing_run())
    }

    /// The controller's workflow: what it did in this run, and the way to invoke it where it is declared as explicit.
    pub fn workflow(&self) -> WorkflowHandle<'_, P> {
        WorkflowHandle {
            context: self,
            workflow: self.shared.workflow.as_ref(),
            remembered: &self.workflow_results,
        }
    }

    /// An owner reference to `primary`, for the metadata of its children.
    #[must_use]
    pub fn owner_reference(
        &self,
        primary: &P,
    ) -> Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference> {
        owner_reference(primary, self.primary_type())
    }

    /// A client for what the framework has no word for; each request is sent once. What is written through it counts as
    /// somebody else's: it is not filtered, and not read back before the watch has seen it.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.shared.clients.direct
    }

    /// The time of day, for what people read, such as transition times.
    #[must_use]
    pub fn wall_clock(&self) -> &dyn WallClock {
        self.shared.writer.environment.wall_clock()
    }

    pub(crate) fn remembered(&self) -> &Mutex<Remembered> {
        &self.workflow_results
    }

    /// Has a dependent do something, as far as the operator lets so many at the same time.
    pub(crate) async fn permitted<T>(&self, call: impl Future<Output = T>) -> T {
        self.shared.workflows.permitted(call).await
    }

    /// The run is about this state of its primary from now on: its workflow is, too.
    pub(crate) fn work_on(&self, primary: &Arc<P>) {
        *self.own_primary.lock() = Some(Arc::clone(primary));
    }

    /// The state of the primary that the run is about; the newest known one where nobody has said. `None` once the primary
    /// is gone or replaced.
    pub(crate) fn own_primary(&self) -> Option<Arc<P>> {
        let newest = self.primary()?;
        Some(self.own_primary.lock().clone().unwrap_or(newest))
    }

    pub(crate) fn memo(&self) -> &Memo {
        &self.memo
    }

    pub(crate) fn writing_run(&self) -> WritingRun<'_> {
        WritingRun {
            key: &self.run.key,
            uid: self.run.uid.as_str(),
            finalizer: self.shared.finalizer.as_deref(),
            findings: &self.findings,
            primaries: &self.shared.primary,
            sources: &self.shared.sources,
            writer: &self.shared.writer,
        }
    }

    pub(crate) fn findings(&self) -> &Findings {
        &self.findings
    }

    pub(crate) fn shared(&self) -> &ControllerContext<P> {
        &self.shared
    }
}
