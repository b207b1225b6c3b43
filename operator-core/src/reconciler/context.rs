//! The means of a run to read and write.

use std::sync::Arc;

use kube::Client;
use tracing::Level;

use super::{AnyContext, Data, RetryInfo, distinct::distinct};
use crate::{
    cache::{ResourceCache, Unopened},
    environment::WallClock,
    event_source::{AnySecondary, EventSources, ExternalSource, RustType, SecondarySource},
    observe::Causes,
    operations::{Applied, Error, Events, ResourceOperations},
    resource::{AnyObject, KubeObject, ObjectKey, ResourceType, owner_reference},
};

/// Passed to each call of user code: reads from the caches, writes through the operator. JOSDK: `Context`.
///
/// All reads come from caches that the operator keeps up to date by watching, and that show the operator's own writes
/// at once. Objects are shared: clone an object before changing it. Objects of the workflow's nodes that aren't wanted any
/// more are answered as if they were gone, from the moment at which the run knows.
pub struct Context<P: KubeObject> {
    any: Arc<AnyContext>,
    primaries: ResourceCache<P>,
    /// The node whose function it was made for.
    node: Option<Arc<str>>,
}

/// What each part of a run is given: the primary that it works on, and its context.
#[derive(Clone, Copy)]
pub(crate) struct AnyGiven<'r> {
    pub(crate) primary: &'r AnyObject,
    pub(crate) context: &'r Arc<AnyContext>,
}

impl AnyGiven<'_> {
    /// What user code gets: the type of the primary is restored here, as all primaries of a controller have the same.
    pub(crate) fn typed<P: KubeObject>(self) -> Result<(Arc<P>, Context<P>), AnotherType> {
        let primary = AnyObject::clone(self.primary).typed().ok_or(AnotherType)?;
        Ok((primary, Context::of_any(Arc::clone(self.context))))
    }
}

debug_of!(Context<P> [P: KubeObject]: "Context", |it| run: it.any.run());

impl<P: KubeObject> Context<P> {
    /// The context for user code, if the caller knows the type of the primaries.
    pub(crate) fn of_any(any: Arc<AnyContext>) -> Self {
        let primaries = ResourceCache::of(any.shared().primary.informer().clone());
        Self { any, primaries, node: None }
    }

    /// The same for the function of a node.
    pub(crate) fn of_node(self, node: &str) -> Self {
        Self { node: Some(Arc::from(node)), ..self }
    }

    /// The node whose function it was made for.
    pub(crate) fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// The same for primaries of any type.
    pub(crate) fn any(&self) -> &Arc<AnyContext> {
        &self.any
    }

    /// The primary of the run.
    #[must_use]
    pub fn primary_key(&self) -> &ObjectKey {
        self.any.primary_key()
    }

    /// The newest known state of the primary of the run; `None` once it is gone or replaced.
    #[must_use]
    pub fn primary(&self) -> Option<Arc<P>> {
        self.any.primary()?.typed()
    }

    /// The primary that a reconciler has borrowed, as an owned value: the one that it was given, or a copy of another
    /// state.
    pub(crate) fn shared_primary(&self, primary: &P) -> AnyObject {
        let given = self.any.own_primary();
        let same =
            given.filter(|given| given.typed_ref::<P>().is_some_and(|given| std::ptr::eq(given, primary)));
        same.unwrap_or_else(|| Arc::new(primary.clone()))
    }

    /// The type of the primary.
    #[must_use]
    pub fn primary_type(&self) -> &ResourceType {
        self.any.shared().primary.resource_type()
    }

    /// The controller's name.
    #[must_use]
    pub fn controller_name(&self) -> &str {
        &self.any.shared().writer.controller
    }

    /// Why the run happens.
    #[must_use]
    pub fn causes(&self) -> Causes {
        self.any.run().causes
    }

    /// Which retry the run is; `None` if no failure preceded it.
    #[must_use]
    pub fn retry_info(&self) -> Option<&RetryInfo> {
        self.any.run().retry.as_ref()
    }

    /// Whether the primary is gone, and this run was started to see that: `reconcile` got its last known state. Only a
    /// controller with [`trigger_on_all_events`](crate::ControllerBuilder::trigger_on_all_events) has such runs. JOSDK:
    /// `isPrimaryResourceDeleted`.
    #[must_use]
    pub fn primary_is_deleted(&self) -> bool {
        self.any.run().departed.is_some()
    }

    /// Whether the deletion of the primary itself was missed, for example while no watch was open: its real last
    /// state may have been another one. JOSDK: `isPrimaryResourceFinalStateUnknown`.
    #[must_use]
    pub fn final_state_unknown(&self) -> bool {
        self.any.run().departed.as_ref().is_some_and(|departed| departed.final_state_unknown)
    }

    /// The one secondary of type `K` that belongs to the primary; the first by name if there are several.
    ///
    /// Also empty while the only event source for `K` is that of an inactive workflow node.
    ///
    /// # Errors
    /// [`Error::NoEventSource`] if the controller has no event source for `K`: then it would never find one. JOSDK:
    /// `NoEventSourceForClassException`. [`Error::Undecodable`] if a secondary can't be decoded and would otherwise be
    /// taken for missing. Both apply to all reads of secondaries.
    pub fn secondary<K: KubeObject>(&self) -> Result<Option<Arc<K>>, Error> {
        Ok(self.secondaries()?.into_iter().next())
    }

    /// The secondary of type `K` with that name that belongs to the primary.
    ///
    /// # Errors
    /// If the controller has no event source for `K`.
    pub fn secondary_named<K: KubeObject>(&self, name: &str) -> Result<Option<Arc<K>>, Error> {
        Ok(self.secondaries::<K>()?.into_iter().find(|object| object.meta().name.as_deref() == Some(name)))
    }

    /// All secondaries of type `K` that belong to the primary, from all event sources for `K`, in the order of their
    /// keys within each source. An object that several sources have comes once, in its newest state.
    /// JOSDK: `getSecondaryResources(type, true)`.
    ///
    /// # Errors
    /// If the controller has no event source for `K`.
    pub fn secondaries<K: KubeObject>(&self) -> Result<Vec<Arc<K>>, Error> {
        self.of_primary(self.any.watched(RustType::of::<K>())?)
    }

    /// Any object of type `K` that the controller watches, whatever it belongs to.
    ///
    /// # Errors
    /// If the controller has no event source for `K`.
    pub fn get<K: KubeObject>(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, Error> {
        self.newest(self.any.watched(RustType::of::<K>())?, key)
    }

    /// Any object of type `K` that the controller watches, as [`Context::get`]; if its event source is bounded and
    /// doesn't hold it in full, it is read from the server, by one request. It is held until the run ends.
    ///
    /// # Errors
    /// As [`Context::get`], and if it can't be read.
    pub async fn fetch<K: KubeObject>(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, Error> {
        let of = RustType::of::<K>();
        for source in self.any.watched(of)? {
            self.any.hold(source.informer(), vec![key.clone()]).await?;
        }
        self.get(key)
    }

    /// All secondaries of type `K` that belong to the primary, as [`Context::secondaries`]; those that a bounded event
    /// source doesn't hold in full are read from the server, by one request each. They are held until the run ends.
    ///
    /// # Errors
    /// As [`Context::secondaries`], and if they can't be read.
    pub async fn fetch_secondaries<K: KubeObject>(&self) -> Result<Vec<Arc<K>>, Error> {
        for source in self.any.watched(RustType::of::<K>())? {
            if source.informer().is_bounded() {
                self.any.hold(source.informer(), source.keys_of(self.any.primary_key())).await?;
            }
        }
        self.secondaries()
    }

    /// All secondaries of exactly this kind that belong to the primary. For types such as `DynamicObject`, which stand
    /// for any kind: a controller may have several sources of them, and [`Context::secondaries`] reads them all.
    ///
    /// # Errors
    /// If the controller has no event source for this kind.
    pub fn secondaries_of_kind<K: KubeObject>(&self, kind: &ResourceType) -> Result<Vec<Arc<K>>, Error> {
        self.of_primary(self.any.watched_kind(RustType::of::<K>(), kind)?)
    }

    /// Any object of exactly this kind that the controller watches, whatever it belongs to.
    ///
    /// # Errors
    /// If the controller has no event source for this kind.
    pub fn get_of_kind<K: KubeObject>(
        &self,
        kind: &ResourceType,
        key: &ObjectKey,
    ) -> Result<Option<Arc<K>>, Error> {
        self.newest(self.any.watched_kind(RustType::of::<K>(), kind)?, key)
    }

    /// All objects of type `K` for which the named index has `value`, whatever they belong to, from all event sources
    /// that have such an index. For an index over the primaries see [`Context::primary_cache`].
    ///
    /// # Errors
    /// If the controller has no event source for `K`.
    pub fn by_index<K: KubeObject>(&self, index: &str, value: &str) -> Result<Vec<Arc<K>>, Error> {
        typed(self.any.watched(RustType::of::<K>())?, |source| source.by_index(index, value).collect())
    }

    /// All objects of these sources that belong to the primary.
    fn of_primary<K: KubeObject>(
        &self,
        sources: impl Iterator<Item = Arc<AnySecondary>>,
    ) -> Result<Vec<Arc<K>>, Error> {
        let (node, primary) = (self.node.as_deref(), self.any.primary_key());
        let sources = self.any.asked(sources, None, node);
        typed(sources, |source| self.any.shown(source, source.secondaries_of(primary), node))
    }

    /// The object with that key, in the newest state that a source has.
    fn newest<K: KubeObject>(
        &self,
        sources: impl Iterator<Item = Arc<AnySecondary>>,
        key: &ObjectKey,
    ) -> Result<Option<Arc<K>>, Error> {
        let node = self.node.as_deref();
        let read =
            |source: &AnySecondary| self.any.shown(source, source.get(key).transpose().into_iter(), node);
        let found = distinct(self.any.asked(sources, Some(key), node), read)?;
        Ok(found.into_iter().find_map(|object| object.typed()))
    }

    /// The event source for objects of type `K` and of exactly this kind; the first one if there are several.
    #[must_use]
    pub fn event_source_of_kind<K: KubeObject>(
        &self,
        kind: &ResourceType,
    ) -> Option<Arc<SecondarySource<K>>> {
        self.any.shared().sources.of_kind(kind, self.any.primary_key()).next()
    }

    /// The event source with that name for objects of type `K`.
    #[must_use]
    pub fn event_source<K: KubeObject>(&self, name: &str) -> Option<Arc<SecondarySource<K>>> {
        self.any.shared().sources.named(name, self.any.primary_key())
    }

    /// Adds and removes event sources while the controller runs: for kinds that are known only at run time.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
    /// use operator_core::{BoxError, Context, InformerEventSource};
    ///
    /// fn follow(context: &Context<Pod>, kind: &GroupVersionKind) -> Result<bool, BoxError> {
    ///     let source = InformerEventSource::<DynamicObject>::of_type(ApiResource::from_gvk(kind));
    ///     // If not, this run ends here: the next one comes when everything has been seen.
    ///     Ok(context.event_sources().add(source)?)
    /// }
    /// ```
    #[must_use]
    pub fn event_sources(&self) -> EventSources<'_> {
        self.any.event_sources()
    }

    /// The known resources of type `R` in another system that belong to the primary, from all event sources for `R`, in
    /// the order of their ids within each source. Nothing is fetched: if a run is the first to need them, see
    /// [`ExternalStore::fetch_now`](crate::event_source::ExternalStore::fetch_now).
    #[must_use]
    pub fn external<R: 'static>(&self) -> Vec<Arc<R>> {
        let sources = self.any.shared().sources.external::<R>(self.any.primary_key());
        sources.flat_map(|source| source.get(self.any.primary_key())).collect()
    }

    /// The event source with that name for another system's resources of type `R`; without a name the first one. A run
    /// also notifies it of what it has written to the other system.
    #[must_use]
    pub fn external_source<R: 'static>(&self, name: Option<&str>) -> Option<ExternalSource<R>> {
        let mut sources = self.any.shared().sources.external(self.any.primary_key());
        sources.find(|source| name.is_none_or(|name| source.name() == name))
    }

    /// The cache of all primaries.
    #[must_use]
    pub fn primary_cache(&self) -> &ResourceCache<P> {
        &self.primaries
    }

    /// Whether something has happened since the run began: then another run follows it. A write that would be valid
    /// only for a moment, such as a status, may be left to that run. Events that the sources have not delivered yet are
    /// not counted. JOSDK's `isNextReconciliationImminent`.
    #[must_use]
    pub fn another_follows(&self) -> bool {
        self.any.shared().processor.next_reconciliation_imminent(self.any.primary_key())
    }

    /// Brings an object into this state: creates it, or changes the fields that it contains, and sends nothing if
    /// nothing differs. This is [`ResourceOperations::server_side_apply`]. An object that should be deleted with the
    /// primary needs its [`owner_reference`](Self::owner_reference); this method adds neither that nor a mark.
    ///
    /// # Errors
    /// See [`ResourceOperations`].
    pub async fn apply<K: KubeObject>(&self, object: &K) -> Result<Applied<K>, Error> {
        self.resource_operations().server_side_apply(object).await
    }

    /// Deletes an object; an object that is gone counts as deleted. This is [`ResourceOperations::delete`].
    ///
    /// # Errors
    /// See [`ResourceOperations`].
    pub async fn delete<K: KubeObject>(&self, object: &K) -> Result<(), Error> {
        self.resource_operations().delete(object).await
    }

    /// Writes secondaries, and the primary in addition to what the run returns.
    pub fn resource_operations(&self) -> ResourceOperations<'_> {
        self.any.resource_operations()
    }

    /// Writes Events of Kubernetes about the primary, for `kubectl describe`. The controller declares this with
    /// [`records_events`](crate::ControllerBuilder::records_events). JOSDK: `eventRecorder`.
    #[must_use]
    pub fn events(&self) -> Events<'_> {
        self.any.events()
    }

    /// Logs something about the primary, and records it as an Event of Kubernetes, by one call: [`Level::ERROR`] and [`Level::WARN`]
    /// as a warning, all others as a normal Event. What is of [`Level::DEBUG`] or [`Level::TRACE`] isn't
    /// [forwarded](crate::OperatorBuilder::forward_events). `reason` and `text` are those of [`Events::normal`].
    pub fn tell(&self, level: Level, reason: impl Into<String>, text: impl Into<String>) {
        let (reason, text) = (reason.into(), text.into());
        match level {
            Level::ERROR => tracing::error!(reason, "{text}"),
            Level::WARN => tracing::warn!(reason, "{text}"),
            Level::INFO => tracing::info!(reason, "{text}"),
            Level::DEBUG => tracing::debug!(reason, "{text}"),
            Level::TRACE => tracing::trace!(reason, "{text}"),
        }
        self.events().at(level, reason, text);
    }

    /// Puts data into the run, for dependents and conditions that take it as [`Data`]. Earlier data of this type is
    /// replaced. It has to be put before the workflow runs; a reconciler that invokes the workflow itself can make
    /// sure of that.
    pub fn put<T: Send + Sync + 'static>(&self, data: T) {
        self.any.data().put(data);
    }

    /// The data of type `T` that was put into the run.
    #[must_use]
    pub fn data<T: Send + Sync + 'static>(&self) -> Option<Data<T>> {
        self.any.data().get().ok()
    }

    /// An owner reference to `primary`, for the metadata of its children.
    #[must_use]
    pub fn owner_reference(
        &self,
        primary: &P,
    ) -> Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference> {
        owner_reference(primary, self.primary_type())
    }

    /// A client for anything that the framework doesn't offer; each request is sent once. A write through it
    /// counts as another writer's: it isn't filtered, and isn't visible in the caches before the watch has delivered
    /// it.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.any.shared().writer.clients.direct
    }

    /// The time of day, for values that people read, such as transition times.
    #[must_use]
    pub fn wall_clock(&self) -> &dyn WallClock {
        self.any.shared().writer.environment.wall_clock()
    }
}

/// The results of `read` in the sources.
fn typed<K: KubeObject>(
    sources: impl Iterator<Item = Arc<AnySecondary>>,
    read: impl Fn(&AnySecondary) -> Result<Vec<AnyObject>, Unopened>,
) -> Result<Vec<Arc<K>>, Error> {
    Ok(distinct(sources, read)?.into_iter().filter_map(|object| object.typed()).collect())
}

/// User code is called for a primary that is not of its type.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the primary is of another type")]
pub(crate) struct AnotherType;
