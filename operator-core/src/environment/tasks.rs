//! Which tasks are alive.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::Notify;

/// Counts tasks, so that somebody can wait for their end. Clones share the count.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks(Arc<Count>);

#[derive(Debug, Default)]
struct Count {
    alive: AtomicUsize,
    none_left: Notify,
}

impl Tasks {
    /// Counts a task from now until its future is dropped, in whatever way.
    pub(super) fn track<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        self.0.alive.fetch_add(1, Ordering::SeqCst);
        // A task that is aborted before its first poll drops the pair in this order, too: first its future, then the mark.
        let tracked = (future, Alive(Arc::clone(&self.0)));
        async move {
            let (future, _alive) = tracked;
            future.await
        }
    }

    /// Resolves once no task is alive.
    pub(super) async fn all_ended(&self) {
        loop {
            let none_left = self.0.none_left.notified();
            if self.0.alive.load(Ordering::SeqCst) == 0 {
                return;
            }
            none_left.await;
        }
    }
}

struct Alive(Arc<Count>);

impl Drop for Alive {
    fn drop(&mut self) {
        if self.0.alive.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.none_left.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn an_aborted_task_counts_until_it_is_dropped() {
        let tasks = Tasks::default();
        tasks.all_ended().await;
        let (never_polled, ended) = (tokio::spawn(tasks.track(pending::<()>())), tasks.track(async {}));
        never_polled.abort();
        assert_eq!(tasks.0.alive.load(Ordering::SeqCst), 2);
        ended.await;
        tasks.all_ended().await;
    }
}
