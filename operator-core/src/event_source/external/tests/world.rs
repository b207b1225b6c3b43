//! Another system, the primaries, and a controller's start.

use std::{
    any::Any,
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::{
    event_source::{
        EventSource, ExternalResource, ExternalSource, Primaries, PrimaryFollower, SourceDeclaration,
        Sources, Wiring,
        wiring_for_tests::{Recorder, wiring},
    },
    observe::SourceIndex,
    resource::ObjectKey,
};

/// A resource of the other system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thing(pub(super) u8, pub(super) u32);

impl ExternalResource for Thing {
    type Id = u8;

    fn id(&self) -> u8 {
        self.0
    }
}

pub(super) fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("shop", name)
}

pub(super) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The other system. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct System(Arc<Mutex<Inside>>);

#[derive(Debug, Default)]
struct Inside {
    things: BTreeMap<ObjectKey, Vec<Thing>>,
    /// What is asked for, in order.
    asked: Vec<String>,
    broken: bool,
    takes: Duration,
    under_way: usize,
    most_under_way: usize,
}

impl System {
    pub(super) fn set(&self, name: &str, things: &[Thing]) {
        self.0.lock().things.insert(key(name), things.to_vec());
    }

    pub(super) fn unset(&self, name: &str) {
        self.0.lock().things.remove(&key(name));
    }

    pub(super) fn broken(&self, broken: bool) {
        self.0.lock().broken = broken;
    }

    pub(super) fn takes(&self, takes: Duration) {
        self.0.lock().takes = takes;
    }

    /// What was asked for since the last call.
    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().asked)
    }

    pub(super) fn most_under_way(&self) -> usize {
        self.0.lock().most_under_way
    }

    /// Answers with what there was when it was asked.
    async fn answer<T>(self, what: String, read: impl FnOnce(&Inside) -> T) -> Result<T, std::io::Error> {
        let (answer, takes, broken) = {
            let mut inside = self.0.lock();
            inside.asked.push(what);
            inside.under_way += 1;
            inside.most_under_way = inside.most_under_way.max(inside.under_way);
            (read(&inside), inside.takes, inside.broken)
        };
        tokio::time::sleep(takes).await;
        self.0.lock().under_way -= 1;
        if broken { Err(std::io::Error::other("out of order")) } else { Ok(answer) }
    }

    pub(super) async fn all(self) -> Result<BTreeMap<ObjectKey, Vec<Thing>>, std::io::Error> {
        self.answer("all".to_owned(), |inside| inside.things.clone()).await
    }

    pub(super) async fn of(self, primary: Arc<ConfigMap>) -> Result<Vec<Thing>, std::io::Error> {
        let primary = ObjectKey::of(&*primary);
        let read = |inside: &Inside| inside.things.get(&primary).cloned().unwrap_or_default();
        self.answer(primary.name().to_owned(), read).await
    }
}

/// The controller's primaries.
#[derive(Default)]
pub(super) struct Cluster {
    objects: Mutex<BTreeMap<ObjectKey, Arc<ConfigMap>>>,
    followers: Mutex<Vec<Weak<dyn PrimaryFollower>>>,
}

impl Cluster {
    /// A primary appears or changes; `data` says whether it has any.
    pub(super) fn apply(&self, name: &str, data: bool) {
        let mut object = ConfigMap::default();
        object.metadata.namespace = Some("shop".to_owned());
        object.metadata.name = Some(name.to_owned());
        object.data = data.then(BTreeMap::new);
        self.objects.lock().insert(key(name), Arc::new(object));
        self.tell(|follower| follower.primary_seen(&key(name)));
    }

    pub(super) fn delete(&self, name: &str) {
        self.objects.lock().remove(&key(name));
        self.tell(|follower| follower.primary_gone(&key(name)));
    }

    fn tell(&self, tell: impl Fn(&dyn PrimaryFollower)) {
        self.followers.lock().iter().filter_map(Weak::upgrade).for_each(|follower| tell(&*follower));
    }

    pub(super) fn followers(&self) -> usize {
        self.followers.lock().iter().filter(|follower| follower.strong_count() > 0).count()
    }
}

impl Primaries for Cluster {
    fn keys(&self) -> Vec<ObjectKey> {
        self.objects.lock().keys().cloned().collect()
    }

    fn by_index(&self, _: &str, _: &str) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<dyn Any + Send + Sync>> {
        self.objects.lock().get(key).map(|object| Arc::clone(object) as Arc<dyn Any + Send + Sync>)
    }

    fn follow(&self, follower: Weak<dyn PrimaryFollower>) {
        if let Some(follower) = follower.upgrade() {
            self.keys().iter().for_each(|key| follower.primary_seen(key));
        }
        self.followers.lock().push(follower);
    }

    fn synced(&self) -> BoxFuture<'static, ()> {
        tokio::time::sleep(Duration::from_millis(1)).boxed()
    }
}

/// A started source. Dropping it stops it.
pub(super) struct Started {
    pub(super) cluster: Arc<Cluster>,
    pub(super) source: Arc<dyn EventSource>,
    store: Option<ExternalSource<Thing>>,
    recorder: Arc<Recorder>,
    seen: Mutex<usize>,
    running: JoinHandle<()>,
}

impl Started {
    pub(super) fn of(declared: &dyn SourceDeclaration) -> Self {
        let (recorder, cluster) = (Arc::new(Recorder::default()), Arc::new(Cluster::default()));
        let primaries = Arc::clone(&cluster) as Arc<dyn Primaries>;
        let wiring = Wiring { primaries, ..wiring(Arc::clone(&recorder), &[]) };
        let mut sources = Sources::default();
        declared.build(SourceIndex(0), &wiring, &mut sources);
        let source = Arc::clone(sources.all().next().expect("the source was added"));
        let store = sources.external::<Thing>(&crate::resource::ObjectKey::namespaced("shop", "a")).next();
        let running = wiring.environment.spawn("test", source.run());
        Self { cluster, source, store, recorder, seen: Mutex::new(0), running }
    }

    pub(super) fn store(&self) -> &ExternalSource<Thing> {
        self.store.as_ref().expect("it is a caching source")
    }

    /// What is known of a primary.
    pub(super) fn get(&self, name: &str) -> Vec<Thing> {
        self.store().get(&key(name)).iter().map(|thing| **thing).collect()
    }

    /// What a run would get.
    pub(super) async fn fetch_now(&self, name: &str) -> Result<Vec<Thing>, String> {
        let fetched = self.store().fetch_now(&key(name)).await;
        fetched.map(|things| things.iter().map(|thing| **thing).collect()).map_err(|error| error.to_string())
    }

    /// The primaries that were woken since the last call.
    pub(super) fn woken(&self) -> Vec<String> {
        let all = self.recorder.related();
        let from = std::mem::replace(&mut *self.seen.lock(), all.len());
        all[from..].to_vec()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Lets time pass, and all that happens at its end.
pub(super) async fn pass(time: Duration) {
    tokio::time::sleep(time + Duration::from_millis(5)).await;
}
