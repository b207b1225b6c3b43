//! The body of a watch's answer.
//!
//! # Guarantees
//! - Nothing runs in the background: lines are made when they are requested, and a write wakes the waiting watches, in
//!   the order in which they were opened.
//! - A watch ends after its timeout, in tokio's time, and when its kind is no longer served or in another form.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, Stream};
use http_body::Frame;
use tokio::time::{Sleep, sleep};
use tower::BoxError;

use super::{
    Shared,
    failure::Failure,
    pressure::Rhythm,
    watch::{WatchStart, line},
};
use crate::audit::AuditEvent;

/// An open watch.
pub(super) struct WatchStream {
    shared: Arc<Shared>,
    watch: WatchStart,
    id: u64,
    lines: VecDeque<Bytes>,
    timeout: Pin<Box<Sleep>>,
    bookmark: Option<Pin<Box<Sleep>>>,
    /// Until a controller has something to do.
    step: Option<Pin<Box<Sleep>>>,
    rhythm: Rhythm,
    is_over: bool,
    /// For the audit log, when the watch ends.
    audit: AuditEvent,
}

impl WatchStream {
    /// Starts a watch. Must be called inside a tokio runtime's context.
    pub(super) fn new(shared: Arc<Shared>, mut watch: WatchStart, audit: AuditEvent) -> Self {
        let lines = std::mem::take(&mut watch.lines).into();
        let id = shared.next_watcher();
        let mut rhythm = shared.pressure.rhythm(id);
        Self {
            id,
            lines,
            timeout: Box::pin(sleep(rhythm.timeout(watch.timeout))),
            bookmark: watch.bookmarks.then(|| Box::pin(sleep(rhythm.bookmark()))),
            rhythm,
            step: None,
            is_over: false,
            audit,
            shared,
            watch,
        }
    }

    /// Makes lines of what has happened since the last call; if there are none, registers to be woken.
    fn look(&mut self, cx: &Context<'_>) {
        // Whoever looks next lets happen what was due.
        self.shared.with(|_| ());
        let state = self.shared.state.lock();
        if let Some(table) = &mut self.watch.filter.table {
            table.now = state.api.now;
        }
        match state.api.store.after(self.watch.after) {
            Ok(events) => {
                for event in events {
                    self.lines.extend(self.watch.filter.event(event));
                    self.watch.after = event.version;
                }
            }
            Err(expired) => {
                let failure = Failure::expired(self.watch.after, expired);
                self.lines.extend(failure.body().map(|status| line("ERROR", &status)));
                self.is_over = true;
                return;
            }
        }
        self.is_over = !state.api.discovery.serves(&self.watch.filter.kind);
        if self.lines.is_empty() && !self.is_over {
            // Still under the lock, so that no write can come in between.
            self.shared.register(self.id, cx.waker());
            let until = |due: Duration| due.saturating_sub(self.shared.moment());
            self.step = state.controllers.next_work().map(|due| Box::pin(sleep(until(due))));
        }
    }
}

impl Stream for WatchStream {
    type Item = Result<Frame<Bytes>, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.lines.is_empty() && !self.is_over {
            self.look(cx);
        }
        let this = &mut *self;
        if let Some(piece) = this.rhythm.piece(&mut this.lines) {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        if let Some(step) = &mut self.step
            && step.poll_unpin(cx).is_ready()
        {
            self.step = None;
            cx.waker().wake_by_ref();
        }
        if self.is_over || self.timeout.poll_unpin(cx).is_ready() {
            self.is_over = true;
            return Poll::Ready(None);
        }
        if let Some(bookmark) = &mut self.bookmark
            && bookmark.poll_unpin(cx).is_ready()
        {
            let after = self.watch.after;
            let line = self.watch.filter.bookmark(after, false);
            let mut next = Box::pin(sleep(self.rhythm.bookmark()));
            // It isn't due yet; the poll makes it wake this task.
            let _pending = next.poll_unpin(cx);
            self.bookmark = Some(next);
            return Poll::Ready(Some(Ok(Frame::data(line))));
        }
        Poll::Pending
    }
}

impl Drop for WatchStream {
    fn drop(&mut self) {
        self.shared.unregister(self.id);
        self.shared.audit.note(std::mem::take(&mut self.audit));
    }
}
