//! For the rows about writes: objects to write, and others' writes at the very moment of our own.

use std::{
    error::Error as StdError,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::Result;
use futures::future::BoxFuture;
use http::Method;
use kube::ResourceExt;
use operator_core::{client::TransportHook, controller::IntoController, testing::TestOperator};

use crate::{Scene, TestObject, TestStatus, before};

/// An object with the name and namespace of `primary`, and only `value` in it.
pub fn fresh<K: TestObject>(primary: &K, value: &str) -> K {
    let mut object = K::named(&primary.name_any(), value);
    object.meta_mut().namespace = primary.namespace();
    object
}

/// A status with only a message.
pub fn said(message: impl Into<String>) -> TestStatus {
    TestStatus { message: Some(message.into()), ..TestStatus::default() }
}

/// The operations by which fields of the object itself are owned, and whether `manager` owns them; not those of a subresource.
pub fn owners<'a, K: TestObject>(object: &'a K, manager: &str) -> Vec<(&'a str, bool)> {
    let entries = object.managed_fields().iter().filter(|entry| entry.subresource.is_none());
    let mut owners: Vec<_> = entries
        .map(|entry| {
            (entry.operation.as_deref().unwrap_or_default(), entry.manager.as_deref() == Some(manager))
        })
        .collect();
    owners.sort_unstable();
    owners
}

/// The managed fields of `manager`, by operation and subresource (empty for the object itself), sorted; with the fields
/// that it owns, in the server's form.
pub fn entries_of<'a, K: TestObject>(object: &'a K, manager: &str) -> Vec<(&'a str, &'a str, String)> {
    let entries = object.managed_fields().iter().filter(|entry| entry.manager.as_deref() == Some(manager));
    let mut entries: Vec<_> = entries
        .map(|entry| {
            let fields = entry.fields_v1.as_ref().map(|fields| fields.0.to_string()).unwrap_or_default();
            let subresource = entry.subresource.as_deref().unwrap_or_default();
            (entry.operation.as_deref().unwrap_or_default(), subresource, fields)
        })
        .collect();
    entries.sort_unstable();
    entries
}

/// The error and all its causes, as in `what: why`.
#[must_use]
pub fn chain_of(error: &(dyn StdError + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |&error| error.source()).map(ToString::to_string);
    chain.collect::<Vec<_>>().join(": ")
}

/// A hook that does `action` once: just before the first request of `method` whose path ends with `path`.
pub fn once_before(
    method: Method,
    path: impl Into<String>,
    action: impl Fn() -> BoxFuture<'static, Result<()>> + Send + Sync + 'static,
) -> TransportHook {
    before_the_first(1, method, path, action)
}

/// The same before each of the first `times` requests.
pub fn before_the_first(
    times: usize,
    method: Method,
    path: impl Into<String>,
    action: impl Fn() -> BoxFuture<'static, Result<()>> + Send + Sync + 'static,
) -> TransportHook {
    let (path, done) = (path.into(), AtomicUsize::new(0));
    let action = Arc::new(action);
    before(move |requested, requested_path| {
        let is_it = *requested == method && requested_path.ends_with(&path);
        if !is_it || done.fetch_add(1, Ordering::SeqCst) >= times {
            return None;
        }
        let action = Arc::clone(&action);
        Some(Box::pin(async move {
            action().await.expect("others can do what the test wants them to do");
        }))
    })
}

impl<K: TestObject> Scene<K> {
    /// Starts an operator with one controller, whose requests pass `hook`.
    ///
    /// # Errors
    /// When the declaration is wrong.
    pub async fn start_through(
        &self,
        hook: TransportHook,
        controller: impl IntoController,
    ) -> Result<TestOperator> {
        Ok(TestOperator::start(self.operator().transport(hook).register(controller)).await?)
    }
}
