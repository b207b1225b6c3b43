//! The primaries, as event sources can read them.

use std::{
    any::Any,
    sync::{Arc, Weak},
};

use futures::{FutureExt, future::BoxFuture};

use crate::{
    cache::{Follower, Informer},
    resource::{Object, ObjectKey},
};

/// The primaries of a controller as its event sources see them: by their keys, for any type. JOSDK:
/// `IndexerResourceCache` of the primary, got from its `EventSourceContext`.
///
/// Reads take no lock that is held while events are passed on, so mappers may read.
pub trait Primaries: Any + Send + Sync {
    /// The keys of all primaries, sorted.
    fn keys(&self) -> Vec<ObjectKey>;

    /// The keys of the primaries for which the named index gives `value`, sorted. The index is declared with
    /// `ControllerBuilder::index`; an unknown one is empty.
    fn by_index(&self, index: &str, value: &str) -> Vec<ObjectKey>;

    /// The newest known state of a primary, if it is held in full; its type is the controller's primary type, to which it
    /// can be downcast.
    fn get(&self, key: &ObjectKey) -> Option<Arc<dyn Any + Send + Sync>> {
        let _ = key;
        None
    }

    /// Whether a primary exists as far as is known.
    fn contains(&self, key: &ObjectKey) -> bool {
        self.get(key).is_some()
    }

    /// The newest known state of a primary. If a [bounded](crate::ControllerBuilder::bounded) controller doesn't hold it
    /// in full, it is read from the server.
    fn fetch(&self, key: &ObjectKey) -> BoxFuture<'static, Option<Arc<dyn Any + Send + Sync>>> {
        std::future::ready(self.get(key)).boxed()
    }

    /// From now on `follower` is notified of all changes of primaries, for as long as it lives; and, before this
    /// returns, of the primaries that exist already. A source calls this while it is built, either at the start or, if
    /// it is conditional, at any later time. It must not hold a lock then that it takes when it is notified.
    fn follow(&self, follower: Weak<dyn PrimaryFollower>) {
        let _ = follower;
    }

    /// Resolves when all primaries that exist have been seen, and followers notified of them.
    fn synced(&self) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }
}

/// Is notified of changes of primaries, whether or not they pass the controller's filters, including those that the
/// operator has written itself. For sources that keep something for each primary. JOSDK: `ResourceEventAware`.
///
/// Both methods are called in order, before the change causes a run, and in the middle of the event path: they return
/// quickly and don't block. They may read the [`Primaries`].
pub trait PrimaryFollower: Send + Sync {
    /// A primary appeared or changed, or existed before. By default does nothing.
    fn primary_seen(&self, key: &ObjectKey) {
        let _ = key;
    }

    /// A primary is gone. One that was replaced under its name is first reported as gone, then as seen.
    fn primary_gone(&self, key: &ObjectKey);
}

/// Notifies a follower of the changes that an informer of primaries sees.
struct Following(Weak<dyn PrimaryFollower>);

impl Follower for Following {
    fn seen(&self, key: &ObjectKey, _: &str) {
        // A follower keeps a reference to the primaries that it reads, so the reference back must be a weak one.
        if let Some(follower) = self.0.upgrade() {
            follower.primary_seen(key);
        }
    }

    fn gone(&self, key: &ObjectKey) {
        if let Some(follower) = self.0.upgrade() {
            follower.primary_gone(key);
        }
    }

    fn has_ended(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl Primaries for Informer {
    fn keys(&self) -> Vec<ObjectKey> {
        Self::keys(self)
    }

    fn by_index(&self, index: &str, value: &str) -> Vec<ObjectKey> {
        Self::by_index(self, index, value).into_iter().map(|(key, _)| key).collect()
    }

    fn get(&self, key: &ObjectKey) -> Option<Arc<dyn Any + Send + Sync>> {
        Self::get(self, key).map(Object::into_any)
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        Self::contains(self, key)
    }

    fn fetch(&self, key: &ObjectKey) -> BoxFuture<'static, Option<Arc<dyn Any + Send + Sync>>> {
        let (informer, key) = (self.clone(), key.clone());
        async move {
            let read = Self::fetch(&informer, &key).await;
            let read = read.inspect_err(|error| tracing::warn!(%error, "a primary can't be read"));
            read.ok().flatten().map(Object::into_any)
        }
        .boxed()
    }

    fn follow(&self, follower: Weak<dyn PrimaryFollower>) {
        self.also_tell(Arc::new(Following(follower)));
    }

    fn synced(&self) -> BoxFuture<'static, ()> {
        let informer = self.clone();
        async move { Self::synced(&informer).await }.boxed()
    }
}

/// No primaries: for building the primary's own source, which comes first.
pub(crate) struct NoPrimaries;

impl Primaries for NoPrimaries {
    fn keys(&self) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn by_index(&self, _: &str, _: &str) -> Vec<ObjectKey> {
        Vec::new()
    }
}
