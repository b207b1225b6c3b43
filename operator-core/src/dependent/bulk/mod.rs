//! Dependents of which a primary has any number, each known by a key.
//!
//! ```text
//! actual, desired ─▶ delete what is not desired ─▶ for each desired one: create, update, or match
//!                              └─────────── all at once, within a bound ──────────┘
//!                         an item that fails stops no other; the node fails with all errors and their keys
//! ```

mod custom;
mod declared;
mod engine;
mod kubernetes;
mod several;

use futures::{FutureExt, StreamExt, future::BoxFuture, stream};

use super::Error;
use crate::reconciler::{
    BoxError,
    workflow::{Operation, ReconcileResult, Secondary},
};

pub use custom::{BulkCreator, BulkDeleter, BulkDependentResource, BulkExplicitState, BulkUpdater};
pub use declared::BulkCustomDependent;
pub use kubernetes::{BulkDesired, BulkKubernetesDependent};

/// How many items of one dependent are worked on at the same time.
const AT_ONCE: usize = 16;

/// What is done about one item; nothing where it isn't there and may not be created.
type Work<'w> = BoxFuture<'w, Result<Option<(Operation, Secondary)>, BoxError>>;

/// What became of the items.
#[derive(Default)]
struct Items {
    done: Vec<(Operation, Secondary)>,
    failed: Vec<(String, BoxError)>,
    count: usize,
}

impl Items {
    /// Works on all of these, whatever becomes of each; the results are in their order.
    async fn work<'w>(&mut self, items: impl IntoIterator<Item = (String, Work<'w>)> + Send) {
        // Boxed one by one: a closure over any lifetime would not be general enough inside of an engine's future.
        let mut all = Vec::new();
        for (key, work) in items {
            all.push(async move { (key, work.await) }.boxed());
        }
        self.count += all.len();
        let mut results = stream::iter(all).buffered(AT_ONCE);
        while let Some((key, result)) = results.next().await {
            match result {
                Ok(done) => self.done.extend(done),
                Err(error) => self.failed.push((key, error)),
            }
        }
    }

    fn finish(self) -> Result<ReconcileResult, BoxError> {
        if self.failed.is_empty() {
            return Ok(ReconcileResult::aggregated(self.done));
        }
        Err(Box::new(Error::Items { failed: self.failed, of: self.count }))
    }
}
