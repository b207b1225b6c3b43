//! The end of an operator's requests.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::{Transport, around};

/// The operator has stopped: the request was not sent.
#[derive(Debug, thiserror::Error)]
#[error("the operator has stopped, so nothing is sent any more")]
pub(crate) struct Closed;

/// Lets requests pass until it is closed, for ever. Clones are the same fence.
#[derive(Clone, Debug, Default)]
pub(super) struct Fence(Arc<AtomicBool>);

impl Fence {
    /// From now on no request leaves.
    pub(super) fn close(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(super) fn wrap(&self, transport: Transport) -> Transport {
        let fence = self.clone();
        let guarded = move |request, inner: around::Inner| {
            let fence = fence.clone();
            async move {
                // Asked when the request is about to be sent, which is at the first poll of its answer.
                if fence.0.load(Ordering::SeqCst) {
                    return Err(Closed.into());
                }
                inner.send(request).await
            }
        };
        around::layer(transport, Arc::new(guarded))
    }
}
