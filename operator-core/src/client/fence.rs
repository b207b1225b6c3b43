//! The end of an operator's requests, and of its writes before that.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use http::Request;
use kube::client::Body;

use super::{Term, Transport, hook};
use crate::environment::Clock;

/// The request was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Closed {
    /// The operator has stopped.
    #[error("the operator has stopped and sends no more requests")]
    Stopped,
    /// The operator takes part in an election, and this is a write.
    #[error("this replica is not the leader, so it writes nothing")]
    NotLeading,
}

/// The term ended while the write was on its way, so no one waits for its answer.
#[derive(Debug, thiserror::Error)]
#[error("this replica lost the leadership before the write was answered")]
struct LeadsNoLonger;

/// Lets requests pass until it is closed, forever; and writes while their term holds, if there is one. Clones are the
/// same fence.
#[derive(Clone, Debug)]
pub(super) struct Fence {
    closed: Arc<AtomicBool>,
    term: Option<Term>,
    clock: Clock,
}

impl Fence {
    pub(super) fn new(term: Option<Term>, clock: Clock) -> Self {
        Self { closed: Arc::default(), term, clock }
    }

    /// From now on no request leaves.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// When writes may leave, if that isn't always.
    pub(super) fn term(&self) -> Option<&Term> {
        self.term.as_ref()
    }

    fn may_write(&self) -> bool {
        self.term.as_ref().is_none_or(|term| term.holds(self.clock.now()))
    }

    pub(super) fn wrap(&self, transport: Transport) -> Transport {
        let fence = self.clone();
        let guarded = move |request: Request<Body>, inner: hook::Inner| {
            let fence = fence.clone();
            async move {
                // Asked when the request is about to be sent, which is at the first poll of its answer.
                if fence.closed.load(Ordering::SeqCst) {
                    return Err(Closed::Stopped.into());
                }
                if fence.term.is_none() || request.method().is_safe() {
                    return inner.send(request).await;
                }
                if !fence.may_write() {
                    return Err(Closed::NotLeading.into());
                }
                let mut answer = pin!(inner.send(request));
                // Asked again whenever the write could go on: it may still wait for a connection when the term ends, or
                // the process may have been stopped meanwhile.
                poll_fn(|context| match fence.may_write() {
                    true => answer.as_mut().poll(context),
                    false => Poll::Ready(Err(LeadsNoLonger.into())),
                })
                .await
            }
        };
        hook::layer(transport, Arc::new(guarded))
    }
}
