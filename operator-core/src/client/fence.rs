//! The end of an operator's requests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use kube::client::Body;
use tower::{BoxError, Service, util::BoxService};

use super::{ResponseBody, Transport};

/// The operator has stopped: the request was not sent.
#[derive(Debug, thiserror::Error)]
#[error("the operator has stopped, so nothing is sent any more")]
struct Closed;

/// Lets requests pass until it is closed, for ever. Clones are the same fence.
#[derive(Clone, Debug, Default)]
pub(super) struct Fence(Arc<AtomicBool>);

impl Fence {
    /// From now on no request leaves.
    pub(super) fn close(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(super) fn wrap(&self, inner: Transport) -> Transport {
        BoxService::new(Fenced { inner, fence: self.clone() })
    }
}

struct Fenced {
    inner: Transport,
    fence: Fence,
}

impl Service<Request<Body>> for Fenced {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let fence = self.fence.clone();
        let answer = self.inner.call(request);
        async move {
            // Asked when the request is about to be sent, which is at the first poll of its answer.
            if fence.0.load(Ordering::SeqCst) {
                return Err(Closed.into());
            }
            answer.await
        }
        .boxed()
    }
}
