//! Other systems whose resources are given by hand, and a cluster whose objects are listed once: for runs without either.

use std::{any::Any, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use http::Request;
use parking_lot::Mutex;

use super::{Error, ExternalStore, Wiring};
use crate::{cache::Informer, resource::ObjectKey};

/// Replaces all that event sources follow: they read it when they are built, and are synced then.
pub(crate) trait Given: Send + Sync {
    /// The server's answer to a list; `None` if it is refused.
    fn list(&self, request: Request<Vec<u8>>) -> Option<String>;

    /// The resources of the other system of the source with that name, as [`Resources`] of their type; `None` for nothing.
    fn resources(
        &self,
        source: &str,
        is: &dyn Fn(&(dyn Any + Send + Sync)) -> bool,
    ) -> Option<Arc<dyn Any + Send + Sync>>;
}

impl Wiring {
    /// Makes an informer list its objects, unless it is to follow them.
    pub(super) fn fill(&self, informer: &Informer) {
        if let Some(given) = &self.given {
            informer.list_from(&|request| given.list(request));
        }
    }
}

/// The resources of another system that belong to the one primary of a run.
pub(crate) type Resources<R> = Mutex<Vec<Arc<R>>>;

/// Replaces a source whose other system isn't available.
pub(super) struct GivenStore<R> {
    name: String,
    resources: Arc<Resources<R>>,
}

impl<R: Send + Sync + 'static> GivenStore<R> {
    pub(super) fn new(name: &str, given: &dyn Given) -> Self {
        let found = given.resources(name, &|resources| resources.is::<Resources<R>>());
        let resources = found.and_then(|found| found.downcast().ok()).unwrap_or_default();
        Self { name: name.to_owned(), resources }
    }

    /// Replaces a resource that was read here, or the only one, by `new`.
    fn replace(&self, previous: &R, new: Option<Arc<R>>) {
        let mut all = self.resources.lock();
        let same = all.iter().position(|one| std::ptr::eq(&**one, previous));
        let Some(position) = same.or((all.len() == 1).then_some(0)) else { return };
        match new {
            Some(new) => all[position] = new,
            None => drop(all.remove(position)),
        }
    }
}

impl<R: Send + Sync + 'static> ExternalStore<R> for GivenStore<R> {
    fn name(&self) -> &str {
        &self.name
    }

    fn get(&self, _: &ObjectKey) -> Vec<Arc<R>> {
        self.resources.lock().clone()
    }

    fn fetch_now<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        std::future::ready(Ok(self.get(primary))).boxed()
    }

    fn refetch<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>> {
        self.fetch_now(primary)
    }

    fn created(&self, _: &ObjectKey, new: Arc<R>) {
        self.resources.lock().push(new);
    }

    fn updated(&self, _: &ObjectKey, previous: &R, new: Arc<R>) {
        self.replace(previous, Some(new));
    }

    fn deleted(&self, _: &ObjectKey, last: &R) {
        self.replace(last, None);
    }
}
