//! Work on the resources of one dependent.

use std::sync::Arc;

use futures::{FutureExt, StreamExt, future::BoxFuture, stream};

use crate::{
    reconciler::BoxError,
    results::{Operation, ReconcileResult, Secondary},
};

/// The number of items of one dependent that are worked on at the same time.
const AT_ONCE: usize = 16;

/// The operation on one item; `None` if it doesn't exist and may not be created.
pub(super) type Work<'w> = BoxFuture<'w, Result<Option<(Operation, Secondary)>, BoxError>>;

/// The outcomes of the items.
#[derive(Default)]
pub(super) struct Items {
    done: Vec<(Operation, Secondary)>,
    /// By their names; the only resource of a single dependent has none.
    failed: Vec<(Option<String>, BoxError)>,
    count: usize,
}

impl Items {
    /// The number of items that have failed so far.
    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    /// Works on all of these, even if some fail; the results are in their order.
    pub(super) async fn work<'w>(
        &mut self,
        items: impl IntoIterator<Item = (Option<String>, Work<'w>)> + Send,
    ) {
        let mut all: Vec<_> = items.into_iter().collect();
        // Usually there is at most one, for which no order has to be kept.
        if all.len() < 2 {
            let Some((label, work)) = all.pop() else { return };
            self.count += 1;
            let result = work.await;
            self.done.reserve_exact(1);
            return self.take(label, result);
        }
        // Boxed one by one: a closure over any lifetime would not be general enough inside an engine's future.
        let all: Vec<_> =
            all.into_iter().map(|(label, work)| async move { (label, work.await) }.boxed()).collect();
        self.count += all.len();
        let mut results = stream::iter(all).buffered(AT_ONCE);
        while let Some((label, result)) = results.next().await {
            self.take(label, result);
        }
    }

    fn take(&mut self, label: Option<String>, result: Result<Option<(Operation, Secondary)>, BoxError>) {
        match result {
            Ok(done) => self.done.extend(done),
            Err(error) => self.failed.push((label, error)),
        }
    }

    /// The outcome of all items. The failures of items are in the result and hide nothing; the failure of the only
    /// resource of a single dependent is an error.
    pub(super) fn finish(self) -> Result<ReconcileResult, BoxError> {
        let mut failed = Vec::new();
        for (label, error) in self.failed {
            match label {
                Some(label) => failed.push((label, Arc::new(error))),
                None => return Err(error),
            }
        }
        Ok(ReconcileResult::of_items(self.done, failed, self.count))
    }

    /// The number of items that existed and are deleted, if everything had to be deleted.
    pub(super) fn deleted(self) -> Result<usize, BoxError> {
        let result = self.finish()?;
        result.check().map_err(BoxError::from)?;
        Ok(result.operations().len())
    }
}
