//! Objects of one type, followed and readable. Compiled once for all types: it returns objects as they are kept.

mod holding;
mod making;

use std::{
    collections::BTreeMap,
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::{
    StreamExt,
    future::{self, AbortHandle, abortable},
    stream::FuturesUnordered,
};
use http::Request;
use kube::Client;

pub(crate) use holding::HeldObjects;
pub(crate) use making::InformerPlan;

use crate::{
    cache::{
        AnyWrite, Error, Follower, KeySet,
        config::InformerSettings,
        engine::{Engine, Presence},
        list_watch::{
            Collection, barrier,
            decode::Page,
            feed::{Seat, Share},
            fetch, follow,
        },
        scopes::{ScopeIndex, WatchScope},
        text::{Answer, TextObject, View},
    },
    environment::Environment,
    observe::SourceHealth,
    resource::{AnyObject, Object, ObjectKey, ResourceType, ResourceVersion},
};

/// Follows all objects of one type, and answers reads from memory. Cheap to clone; clones share everything. JOSDK:
/// `InformerManager` and `ManagedInformerEventSource`.
///
/// Nothing runs before [`Informer::run`] is polled.
#[derive(Clone)]
pub(crate) struct Informer(Arc<Inner>);

/// An object that is known can't be read.
#[derive(Debug)]
pub(crate) struct Unopened {
    pub(crate) kind: ResourceType,
    pub(crate) key: ObjectKey,
    pub(crate) why: WhyUnopened,
}

/// Why an object can't be read.
#[derive(Debug)]
pub(crate) enum WhyUnopened {
    /// It can't be decoded: which of its fields isn't as expected.
    Undecodable(String),
    /// Its informer is bounded, and no run has asked for it.
    NotHeld,
}

struct Inner {
    settings: InformerSettings,
    client: Client,
    environment: Environment,
    view: Arc<View>,
    engine: Arc<Engine>,
    /// How it shares its list-watches, if it does.
    share: Option<Share>,
    /// It has listed its objects once, and follows nothing.
    is_given: AtomicBool,
    /// It holds only some objects in full.
    is_bounded: bool,
    /// The objects that are followed, by metadata alone, if it isn't all of them.
    only: Option<KeySet>,
}

/// How much an informer holds, for tests and diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Objects that the watch has shown.
    pub store: usize,
    /// The number of them that are held in full; all of them, except in a bounded informer.
    pub full: usize,
    /// Responses to the operator's own writes that the watch has not shown yet.
    pub overlay: usize,
    /// Objects that the operator is writing, or whose echo is awaited.
    pub windows: usize,
    /// Versions of the operator's own writes that the watch has not shown yet. Their number is limited, however long
    /// the watch is broken.
    pub awaited: usize,
    /// Distinct values in all indexes together.
    pub index_values: usize,
    /// Objects that exist and can't be decoded.
    pub undecodable: usize,
}

/// How often an object is read again because the watch has shown something newer than the answer. A server that
/// continues to do so is itself behind.
const FETCH_ATTEMPTS: usize = 3;

impl Informer {
    /// From now on `follower` is notified of every state that is stored, the operator's own writes included, before the
    /// informer's own handler is; and, before this returns, of the objects that are stored already. The caller must not
    /// hold a lock that the follower takes when it is notified.
    pub(crate) fn also_tell(&self, follower: Arc<dyn Follower>) {
        self.0.engine.also_tell(follower);
    }

    /// Follows the objects until `cancelled` resolves: one list-watch for each namespace, all inside this future.
    /// Dropping it stops everything at once, except what it shares with other informers. The caller spawns it once,
    /// through [`Environment::spawn`].
    ///
    /// It never fails: errors are reported as health, and it retries.
    pub(crate) async fn run(&self, cancelled: impl Future<Output = ()>) {
        if self.0.is_given.load(Ordering::Relaxed) {
            return cancelled.await;
        }
        let cancelled = pin!(cancelled);
        future::select(cancelled, pin!(self.follow_all())).await;
    }

    /// One list-watch for each collection that is followed now.
    async fn follow_all(&self) {
        let scopes = &self.0.engine.scopes;
        let mut loops = FuturesUnordered::new();
        let mut running: BTreeMap<ScopeIndex, AbortHandle> = BTreeMap::new();
        loop {
            let changed = scopes.changed();
            let mut left = std::mem::take(&mut running);
            for scope in scopes.indexes() {
                let handle = left.remove(&scope).unwrap_or_else(|| {
                    let (list_watch, handle) = abortable(self.follow(scope));
                    loops.push(Box::pin(list_watch));
                    handle
                });
                running.insert(scope, handle);
            }
            left.values().for_each(AbortHandle::abort);
            // They end only when they are aborted.
            let ended = async { while loops.next().await.is_some() {} };
            // Without any namespace it can only wait.
            future::select(pin!(changed), pin!(future::join(ended, future::pending::<()>()))).await;
        }
    }

    async fn follow(&self, scope: ScopeIndex) {
        let inner = &*self.0;
        let feed = inner.feed(scope);
        let selects = inner.share.as_ref().and_then(Share::selects);
        let (engine, only) = (Arc::clone(&inner.engine), inner.only.clone());
        let _seated = feed.join(Seat { engine, scope, selects, only }).await;
        follow(&feed, &inner.environment).await;
    }

    /// Follows the namespaces of its controller, which have changed, unless it has its own.
    pub(crate) fn change_namespaces(&self, scope: &WatchScope) {
        if self.0.settings.follows_controller {
            self.0.engine.follow_in(scope);
        }
    }

    /// Resolves when all namespaces have been listed once.
    pub(crate) async fn synced(&self) {
        self.0.engine.synced().await;
    }

    /// Whether all namespaces have been listed once.
    pub(crate) fn is_synced(&self) -> bool {
        self.0.engine.is_synced()
    }

    /// Resolves when the collection of `namespace` has been listed once: its own one, if the namespace is followed
    /// separately, or everything.
    pub(crate) async fn synced_in(&self, namespace: &str) {
        match self.0.engine.scopes.of_namespace(namespace) {
            Some(scope) => self.0.engine.collection_synced(scope).await,
            None => self.synced().await,
        }
    }

    /// Whether the collection of this object, now or before the namespaces changed, has been listed once. Until then, all
    /// that is read about the object is uncertain.
    pub(crate) fn is_synced_for(&self, key: &ObjectKey) -> bool {
        self.0.engine.scopes.is_known(key)
    }

    /// Lists its objects once, from a server that answers at once, and follows nothing: it is synced when this returns. A
    /// kind that can't be listed has no objects.
    pub(crate) fn list_from(&self, answer: &dyn Fn(Request<Vec<u8>>) -> Option<String>) {
        let engine = &self.0.engine;
        self.0.is_given.store(true, Ordering::Relaxed);
        for scope in engine.scopes.indexes() {
            let collection = self.collection(engine.scopes.namespace(scope).as_deref());
            let body = collection.list(None, false).ok().and_then(answer);
            let page = body.and_then(|body| Page::parse(body, &collection.settings.resource_type).ok());
            engine.list_started(scope);
            for item in page.iter().flat_map(Page::items) {
                engine.listed(scope, engine.face.take(&item));
            }
            engine.health_changed(scope, SourceHealth::Healthy);
            let version = page.as_ref().and_then(Page::version);
            engine.list_finished(scope, version.as_deref().unwrap_or("0"));
        }
    }

    /// The collections that it follows: their namespaces (`None` for everything), whether they have been listed once,
    /// and their health.
    pub(crate) fn collections(&self) -> impl Iterator<Item = (Option<String>, bool, SourceHealth)> {
        let engine = &self.0.engine;
        engine.scopes.indexes().map(|scope| {
            (
                engine.scopes.namespace(scope),
                engine.is_collection_synced(scope),
                engine.collection_health(scope),
            )
        })
    }

    /// Resolves when it was in trouble for the first time; never for objects of the operator's own cluster.
    pub(crate) async fn failed_elsewhere(&self) {
        match self.0.settings.cluster.name() {
            Some(_) => self.0.engine.failed().await,
            None => std::future::pending().await,
        }
    }

    /// Whether it can follow its objects; the worst of its namespaces counts.
    pub(crate) fn health(&self) -> SourceHealth {
        self.0.engine.health()
    }

    /// The configured name.
    pub(crate) fn name(&self) -> &str {
        &self.0.settings.name
    }

    /// The type of object that is followed.
    pub(crate) fn resource_type(&self) -> &ResourceType {
        &self.0.settings.resource_type
    }

    /// Whether objects with this key are followed at all. Label and field selectors are not considered.
    pub(crate) fn follows(&self, key: &ObjectKey) -> bool {
        self.0.engine.scopes.of(key).is_some()
    }

    /// The newest known state of an object: the response to the operator's own write until the watch has caught up with
    /// it. From a bounded informer, `None` also stands for an object that is not held in full. An object that can't be
    /// decoded is not found by any read; [`Informer::undecodable`] names it.
    pub(crate) fn get(&self, key: &ObjectKey) -> Option<AnyObject> {
        self.open(&self.kept(key)?)
    }

    /// The same for a caller that must not treat an object that can't be decoded as missing.
    pub(crate) fn try_get(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Unopened> {
        // Whether a bounded informer still has it depends on the reads of others: no caller may rely on that.
        if !self.0.engine.is_readable(key) && self.contains(key) {
            let (kind, key) = (self.resource_type().clone(), key.clone());
            return Err(Unopened { kind, key, why: WhyUnopened::NotHeld });
        }
        self.kept(key).map(|kept| self.try_open(key, &kept)).transpose()
    }

    /// The same, opened when more than its metadata is read.
    pub(crate) fn lazy(&self, key: &ObjectKey) -> Option<AnyObject> {
        Some(self.0.view.lazy(key, self.kept(key)?))
    }

    /// Whether objects are decoded when they arrive: all except those of the cluster's own kinds.
    pub(crate) fn is_checked(&self) -> bool {
        self.0.settings.is_checked
    }

    /// The same as it is kept.
    pub(crate) fn kept(&self, key: &ObjectKey) -> Option<Arc<TextObject>> {
        self.0.engine.get(key)
    }

    /// Whether an object exists as far as is known, held in full or not.
    pub(crate) fn contains(&self, key: &ObjectKey) -> bool {
        self.0.engine.contains(key)
    }

    /// The newest known state of an object, read from the server if it is known and not held in full. `None` if it
    /// doesn't exist. Needs no request for an object that is held or unknown, so never in an unbounded informer.
    ///
    /// An object that was read is held from then on, unless the watch has shown something newer in the meantime. Reads
    /// forget an object that the server doesn't have at once; the handler is notified when the watch shows its
    /// deletion. An answer may be newer than the last state that the handler was notified of. Besides list and watch, the
    /// operator needs the right to `get` these objects.
    ///
    /// # Errors
    /// [`Error::Get`]: the server refused, couldn't be reached or gave no usable answer within a minute, or the object
    /// changed again and again in the meantime.
    pub(crate) async fn fetch(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
        let engine = &self.0.engine;
        let collection = self.contents(key.namespace());
        for _ in 0..FETCH_ATTEMPTS {
            let asked = match engine.held(key) {
                Presence::Full(kept) => return Ok(self.open(&kept)),
                Presence::Nothing => return Ok(None),
                Presence::Minimal(version) => version,
            };
            match fetch::object(&collection, key, &*self.0.view).await? {
                Some(object) => {
                    if let Some(kept) = engine.fetched(key, asked.as_deref(), object) {
                        return Ok(self.open(&kept));
                    }
                }
                None if engine.not_found(key, asked.as_deref()) => return Ok(None),
                None => {}
            }
        }
        Err(Self::overtaken(&collection, key))
    }

    fn overtaken(collection: &Collection, key: &ObjectKey) -> Error {
        Error::Get {
            object: format!("{}/{}", collection.path(), key.name()),
            reason: "the server's answers are older than what its watch has shown".to_owned(),
            status: None,
        }
    }

    /// Reads an object that was added to those that are followed, after the others were listed. Its own handler is told
    /// as of any object that appears.
    ///
    /// # Errors
    /// As [`Informer::fetch`].
    pub(crate) async fn admit(&self, key: &ObjectKey) -> Result<(), Error> {
        let (engine, contents) = (&self.0.engine, self.contents(key.namespace()));
        for _ in 0..FETCH_ATTEMPTS {
            engine.admission_begins(key);
            let read = fetch::object(&contents, key, &*self.0.view).await;
            let (read, failed) = match read {
                Ok(read) => (read, None),
                Err(error) => (None, Some(error)),
            };
            if engine.admitted(key, read) {
                return failed.map_or(Ok(()), Err);
            }
        }
        Err(Self::overtaken(&contents, key))
    }

    /// The newest known state of all objects, sorted by key.
    pub(crate) fn entries(&self) -> Vec<(ObjectKey, Arc<TextObject>)> {
        self.0.engine.entries()
    }

    /// The keys of all objects, sorted.
    pub(crate) fn keys(&self) -> Vec<ObjectKey> {
        self.0.engine.keys()
    }

    /// The newest known state of all objects for which the named indexer gives `value`, sorted by key.
    pub(crate) fn by_index(&self, index: &str, value: &str) -> Vec<(ObjectKey, Arc<TextObject>)> {
        self.0.engine.by_index(index, value, &|_, _| true)
    }

    /// The kept form of this same state of the object; `None` for one that was read past the cache.
    pub(crate) fn kept_as(&self, key: &ObjectKey, state: &dyn Object) -> Option<Arc<TextObject>> {
        self.kept(key).filter(|kept| kept.is_state_of(state))
    }

    pub(crate) fn open(&self, kept: &Arc<TextObject>) -> Option<AnyObject> {
        self.0.view.open(kept)
    }

    pub(crate) fn try_open(&self, key: &ObjectKey, kept: &Arc<TextObject>) -> Result<AnyObject, Unopened> {
        self.0.view.try_open(kept).map_err(|error| Unopened {
            kind: self.resource_type().clone(),
            key: key.clone(),
            why: WhyUnopened::Undecodable(error),
        })
    }

    /// The same, restricted to those for which `is` is true; opened when more than their metadata is read.
    pub(crate) fn lazy_by_index(
        &self,
        index: &str,
        value: &str,
        is: &dyn Fn(&ObjectKey, &TextObject) -> bool,
    ) -> Vec<AnyObject> {
        let found = self.0.engine.by_index(index, value, is).into_iter();
        found.map(|(key, kept)| self.0.view.lazy(&key, kept)).collect()
    }

    /// How its objects are decoded, opened and kept.
    pub(crate) fn view(&self) -> &Arc<View> {
        &self.0.view
    }

    /// Starts one of the operator's own writes to an object.
    pub(crate) fn begin_write(&self, key: &ObjectKey) -> AnyWrite {
        AnyWrite::begin(Arc::clone(&self.0.engine), key.clone())
    }

    /// Remembers the response to a write: reads show it at once. Its echo is reported like a foreign change.
    /// Returns it in the form in which it is kept.
    pub(crate) fn remember_answer(&self, answer: Answer) -> AnyObject {
        if let Some(kept) = &answer.kept {
            self.0.engine.remember(&answer.key, kept);
        }
        answer.object
    }

    /// Decodes the answer to a write, for [`Informer::remember_answer`] or `AnyWrite::answered`. The error names the
    /// field and what is expected there, and none of the object's values.
    pub(crate) fn answer(&self, text: &str) -> Result<Answer, serde_json::Error> {
        self.0.view.answer(text)
    }

    /// The same for an object that was already decoded.
    pub(crate) fn answer_of(&self, object: AnyObject) -> Answer {
        self.0.view.answer_of(object)
    }

    /// Whether this informer has seen everything that the cluster holds at the moment of the call, and has handed it to
    /// its handler: makes a fresh, consistent list of metadata and compares. For tests and barriers, not for a loop.
    ///
    /// # Errors
    /// The list was refused, or failed.
    pub(crate) async fn caught_up(&self) -> Result<bool, Error> {
        for scope in self.0.engine.scopes.indexes() {
            let collection = self.collection(self.0.engine.scopes.namespace(scope).as_deref());
            let (version, mut listed) = barrier::list_metadata(&collection).await?;
            if let Some(only) = &self.0.only {
                listed.retain(|(key, _)| only.lock().contains(key));
            }
            if !self.0.engine.has_seen(scope, &version, &listed) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The version up to which each namespace (`None` for all of them at once) has been seen.
    pub(crate) fn last_syncs(&self) -> Vec<(Option<String>, Option<ResourceVersion>)> {
        let engine = &self.0.engine;
        engine
            .scopes
            .indexes()
            .map(|scope| (engine.scopes.namespace(scope), engine.last_sync(scope)))
            .collect()
    }

    /// Whether an object exists that can't be decoded. Reads of it then return an older state, or nothing.
    pub(crate) fn is_undecodable(&self, key: &ObjectKey) -> bool {
        self.0.engine.is_undecodable(key)
    }

    /// The objects that exist and can't be decoded, each with its field that isn't as expected; sorted by key.
    pub(crate) fn undecodable(&self) -> Vec<(ObjectKey, String)> {
        self.0.engine.undecodable()
    }

    /// The amount of data that is kept about objects that don't exist, by the informer and by its handler. Writes whose
    /// echo is awaited count. 0 once everything has settled; otherwise a leak.
    pub(crate) fn leftovers(&self) -> usize {
        let engine = &self.0.engine;
        let indexed = engine.index_leftovers() + engine.collection_leftovers();
        engine.recent() + engine.windows() + indexed + engine.kept_by_handler()
    }

    /// The number of objects that are held in full.
    pub(crate) fn held(&self) -> usize {
        self.0.engine.full()
    }

    /// How much is held.
    pub(crate) fn sizes(&self) -> Sizes {
        let engine = &self.0.engine;
        Sizes {
            store: engine.stored(),
            full: engine.full(),
            overlay: engine.recent(),
            windows: engine.windows(),
            awaited: engine.awaited(),
            index_values: engine.index_values(),
            undecodable: engine.undecodable().len(),
        }
    }

    fn collection(&self, namespace: Option<&str>) -> Collection {
        Collection::new(self.0.settings.clone(), self.0.client.clone(), namespace)
    }

    /// The same for reads of the content of objects.
    fn contents(&self, namespace: Option<&str>) -> Collection {
        let metadata_only = self.0.settings.metadata_only && self.0.only.is_none();
        let settings = InformerSettings { metadata_only, ..self.0.settings.clone() };
        Collection::new(settings, self.0.client.clone(), namespace)
    }
}

debug_of!(Informer: "Informer", |it| settings: it.0.settings, engine: it.0.engine);
