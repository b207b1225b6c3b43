//! What isn't in the cluster: who may have shops, and who is told about them.

use std::{
    collections::BTreeSet,
    error::Error,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures::future::{BoxFuture, FutureExt};

/// The answer of the other system.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, Box<dyn Error + Send + Sync>>>;

/// The office of all shops. A call may be repeated, as the answer to the former one may be lost.
pub trait Office: Send + Sync + 'static {
    /// How many pods the licence of a shop allows; `None` if it has none yet.
    fn licence<'a>(&'a self, shop: &'a str) -> Answer<'a, Option<i32>>;

    /// Tells somebody that a shop has a new version.
    fn announce<'a>(&'a self, shop: &'a str, version: &'a str) -> Answer<'a, ()>;
}

/// An office for tests and `dev`: all shops have a licence for ten pods.
#[derive(Debug, Default)]
pub struct InMemory {
    closed: Mutex<bool>,
    mute: Mutex<bool>,
    announced: Mutex<BTreeSet<(String, String)>>,
}

impl InMemory {
    /// While it is closed, nobody gets a licence.
    pub fn close(&self, is_closed: bool) {
        *locked(&self.closed) = is_closed;
    }

    /// While it is mute, nobody is told anything.
    pub fn mute(&self, is_mute: bool) {
        *locked(&self.mute) = is_mute;
    }

    /// The shops that were announced, with their versions.
    pub fn announced(&self) -> BTreeSet<(String, String)> {
        locked(&self.announced).clone()
    }
}

impl Office for InMemory {
    fn licence<'a>(&'a self, _: &'a str) -> Answer<'a, Option<i32>> {
        let licence = (!*locked(&self.closed)).then_some(10);
        async move { Ok(licence) }.boxed()
    }

    fn announce<'a>(&'a self, shop: &'a str, version: &'a str) -> Answer<'a, ()> {
        if *locked(&self.mute) {
            return async { Err("nobody answers".into()) }.boxed();
        }
        locked(&self.announced).insert((shop.to_owned(), version.to_owned()));
        async { Ok(()) }.boxed()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
