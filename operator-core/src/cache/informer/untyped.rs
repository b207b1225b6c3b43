//! The informer as it is compiled once for all types: it returns objects as they are kept.

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::{
    StreamExt,
    future::{self, AbortHandle, abortable},
    stream::FuturesUnordered,
};
use kube::Client;

use crate::{
    cache::{
        AnyWrite, Error, Follower, Sizes,
        config::Settings,
        engine::{Engine, Held},
        list_watch::{
            Collection, barrier,
            feed::{Seat, Share},
            fetch, follow,
        },
        scopes::{ScopeIndex, WatchScope},
        text::{Answer, Kept, View},
    },
    environment::{Environment, Now},
    resource::{AnyObject, Object, ObjectKey, ResourceType, ResourceVersion},
};

/// An [`Informer`](super::Informer) of objects of any type. Cheap to clone; clones share everything.
#[derive(Clone)]
pub(crate) struct AnyInformer(pub(super) Arc<Inner>);

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

pub(super) struct Inner {
    pub(super) settings: Settings,
    pub(super) client: Client,
    pub(super) environment: Environment,
    pub(super) view: Arc<View>,
    pub(super) engine: Arc<Engine>,
    /// Milliseconds since the operator's start.
    pub(super) last_activity: Arc<AtomicU64>,
    /// With these it shares its list-watches.
    pub(super) share: Option<Share>,
    /// It has listed its objects once, and follows nothing.
    pub(super) is_given: AtomicBool,
    /// It holds only some objects in full.
    pub(super) is_bounded: bool,
}

/// How often an object is read again because the watch has shown something newer than the answer. A server that
/// continues to do so is itself behind.
const FETCH_ATTEMPTS: usize = 3;

impl AnyInformer {
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
            // Without any of them there is nothing to do but to wait.
            future::select(pin!(changed), pin!(future::join(ended, future::pending::<()>()))).await;
        }
    }

    async fn follow(&self, scope: ScopeIndex) {
        let inner = &*self.0;
        let feed = inner.feed(scope);
        let _seated = feed.join(Seat {
            engine: Arc::clone(&inner.engine),
            scope,
            selects: inner.share.as_ref().and_then(Share::selects),
            last_activity: Arc::clone(&inner.last_activity),
        });
        follow(&feed, &inner.environment).await;
    }

    /// Follows the namespaces of its controller, which have changed, unless it has its own.
    pub(crate) fn change_namespaces(&self, scope: &WatchScope) {
        if self.0.settings.follows_controller {
            self.0.engine.follow_in(scope);
        }
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

    /// The newest known state of an object.
    pub(crate) fn get(&self, key: &ObjectKey) -> Option<AnyObject> {
        self.open(&self.kept(key)?)
    }

    /// The same for a caller that must not treat an object that can't be decoded as missing.
    pub(crate) fn try_get(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Unopened> {
        // Whether a bounded informer still has it depends on what others have read since: nobody may rely on that.
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
    pub(crate) fn kept(&self, key: &ObjectKey) -> Option<Arc<Kept>> {
        self.0.engine.get(key)
    }

    /// Whether an object exists as far as is known, held in full or not.
    pub(crate) fn contains(&self, key: &ObjectKey) -> bool {
        self.0.engine.contains(key)
    }

    /// See [`Informer::fetch`](super::Informer::fetch).
    pub(crate) async fn fetch(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
        let engine = &self.0.engine;
        let collection = self.collection(key.namespace());
        for _ in 0..FETCH_ATTEMPTS {
            let asked = match engine.held(key) {
                Held::Full(kept) => return Ok(self.open(&kept)),
                Held::Nothing => return Ok(None),
                Held::Minimal(version) => version,
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
        Err(Error::Get {
            object: format!("{}/{}", collection.path(), key.name()),
            reason: "the server's answers are older than what its watch has shown".to_owned(),
            status: None,
        })
    }

    /// The newest known state of all objects, sorted by key.
    pub(crate) fn entries(&self) -> Vec<(ObjectKey, Arc<Kept>)> {
        self.0.engine.entries()
    }

    /// The keys of all objects, sorted.
    pub(crate) fn keys(&self) -> Vec<ObjectKey> {
        self.0.engine.keys()
    }

    /// The newest known state of all objects for which the named indexer gives `value`, sorted by key.
    pub(crate) fn by_index(&self, index: &str, value: &str) -> Vec<(ObjectKey, Arc<Kept>)> {
        self.0.engine.by_index(index, value, &|_, _| true)
    }

    /// The kept form of this same state of the object; `None` for one that was read past the cache.
    pub(crate) fn kept_as(&self, key: &ObjectKey, state: &dyn Object) -> Option<Arc<Kept>> {
        self.kept(key).filter(|kept| kept.is_state_of(state))
    }

    pub(crate) fn open(&self, kept: &Arc<Kept>) -> Option<AnyObject> {
        self.0.view.open(kept)
    }

    pub(crate) fn try_open(&self, key: &ObjectKey, kept: &Arc<Kept>) -> Result<AnyObject, Unopened> {
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
        is: &dyn Fn(&ObjectKey, &Kept) -> bool,
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

    /// Remembers the response to a write, so that reads show it at once; its echo is reported like a foreign change.
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
            let (version, listed) = barrier::list_metadata(&collection).await?;
            if !self.0.engine.has_seen(scope, &version, &listed) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// When the server last answered: a page, an event or a bookmark.
    pub(crate) fn last_activity(&self) -> Now {
        Now::at(Duration::from_millis(self.0.last_activity.load(Ordering::Relaxed)))
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

    /// How much is held.
    /// The number of objects that are held in full.
    pub(crate) fn held(&self) -> usize {
        self.0.engine.full()
    }

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

    pub(super) fn collection(&self, namespace: Option<&str>) -> Collection {
        Collection::new(&self.0.settings, self.0.client.clone(), namespace)
    }
}

impl fmt::Debug for AnyInformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer")
            .field("settings", &self.0.settings)
            .field("engine", &self.0.engine)
            .finish()
    }
}
