//! What a run reads and reports.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::PerPrimary;
use crate::{
    event_source::{
        Error,
        external::{cache::ExternalCache, fetch::Need, store::ExternalStore},
    },
    resource::{KubeObject, ObjectKey},
};

impl<P, R, I> PerPrimary<P, R, I>
where
    P: KubeObject,
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
{
    async fn read(&self, primary: &ObjectKey, need: Need) -> Result<Vec<Arc<R>>, Error> {
        // What is known is not to wait for a poll that is under way.
        let known = need == Need::Known && self.members.lock().cache.is_complete(primary);
        if !known {
            self.fetch(primary, need).await?;
        }
        Ok(self.get(primary))
    }

    /// A run has written. If its primary is gone, the write is ignored.
    fn wrote(&self, primary: &ObjectKey, write: impl FnOnce(&mut ExternalCache<R, I>)) {
        let mut members = self.members.lock();
        if members.exists(primary) {
            write(&mut members.cache);
        }
    }
}

impl<P, R, I> ExternalStore<R> for PerPrimary<P, R, I>
where
    P: KubeObject,
    R: PartialEq + Send + Sync + 'static,
    I: Ord + Clone + Send + Sync + 'static,
{
    fn name(&self) -> &str {
        &self.fetching.name
    }

    fn get(&self, primary: &ObjectKey) -> Vec<Arc<R>> {
        self.members.lock().cache.get(primary)
    }

    fn fetch_now<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        self.read(primary, Need::Known).boxed()
    }

    fn refetch<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        self.read(primary, Need::Fresh).boxed()
    }

    fn created(&self, primary: &ObjectKey, new: Arc<R>) {
        let id = (self.fetching.id)(&new);
        self.wrote(primary, |cache| cache.created(primary, id, new));
    }

    fn updated(&self, primary: &ObjectKey, previous: &R, new: Arc<R>) {
        let id = (self.fetching.id)(&new);
        self.wrote(primary, |cache| cache.updated(primary, id, previous, new));
    }

    fn deleted(&self, primary: &ObjectKey, last: &R) {
        let id = (self.fetching.id)(last);
        self.wrote(primary, |cache| cache.deleted(primary, id));
    }

    #[cfg(test)]
    fn kept(&self) -> usize {
        self.members.lock().kept()
    }
}
