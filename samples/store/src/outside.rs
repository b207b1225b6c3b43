//! What isn't in the cluster: the keys that the members hold, and the backups in a bucket.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures::future::{BoxFuture, FutureExt};

/// The answer of the other system.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, Box<dyn Error + Send + Sync>>>;

/// The administration of all stores. A call may be repeated, as the answer to the former one may be lost.
pub trait Outside: Send + Sync + 'static {
    /// Moves keys to the first `keep` members of a store, and returns how many keys the others still have.
    fn drain<'a>(&'a self, store: &'a str, keep: i32) -> Answer<'a, u64>;

    /// Deletes all backups of a store, if there are any.
    fn delete_backups<'a>(&'a self, store: &'a str) -> Answer<'a, ()>;
}

/// An administration for tests and `dev`: each call of `drain` moves 1000 keys.
#[derive(Debug, Default)]
pub struct InMemory {
    keys: u64,
    left: Mutex<BTreeMap<(String, i32), u64>>,
    without_backups: Mutex<BTreeSet<String>>,
}

impl InMemory {
    /// The members that leave have this many keys.
    #[must_use]
    pub fn with_keys(keys: u64) -> Self {
        Self { keys, ..Self::default() }
    }

    /// The stores whose backups were deleted.
    pub fn without_backups(&self) -> BTreeSet<String> {
        locked(&self.without_backups).clone()
    }
}

impl Outside for InMemory {
    fn drain<'a>(&'a self, store: &'a str, keep: i32) -> Answer<'a, u64> {
        let mut drains = locked(&self.left);
        let left = drains.entry((store.to_owned(), keep)).or_insert(self.keys);
        let now = *left;
        *left = left.saturating_sub(1000);
        async move { Ok(now) }.boxed()
    }

    fn delete_backups<'a>(&'a self, store: &'a str) -> Answer<'a, ()> {
        locked(&self.without_backups).insert(store.to_owned());
        async { Ok(()) }.boxed()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
