//! A layer that is one function of a request and the transport below.

use std::{
    future::{Future, poll_fn},
    sync::Arc,
    task::{Context, Poll},
};

use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use kube::client::Body;
use tokio::sync::Mutex;
use tower::{BoxError, Service, util::BoxService};

use super::{Hook, ResponseBody, Transport, TransportHook};

/// The answer to a request, or the error.
pub(crate) type Answer = Result<Response<ResponseBody>, BoxError>;

/// The transport below a layer. Cheap to clone; clones are the same transport.
#[derive(Clone)]
pub struct Inner(Arc<Mutex<Transport>>);

impl Inner {
    /// A transport that several can use.
    #[must_use]
    pub fn new(transport: Transport) -> Self {
        Self(Arc::new(Mutex::new(transport)))
    }

    /// Passes a request on and waits for its answer. Nothing is sent before the returned future is polled, and a layer
    /// may send any number of times.
    ///
    /// # Errors
    /// The errors of the transport.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let answer = {
            // Only for as long as the transport takes to accept the request, not for its answer.
            let mut transport = self.0.lock().await;
            poll_fn(|context| transport.poll_ready(context)).await?;
            transport.call(request)
        };
        answer.await
    }
}

debug_of!(Inner: "Inner");

impl TransportHook {
    /// A hook that does something around each request: `around` gets the request and the transport below, and returns
    /// the answer. It may change either, wait, send nothing at all, or send several times.
    ///
    /// ```
    /// use operator_core::client::TransportHook;
    ///
    /// let slow = TransportHook::around(|request, inner| async move {
    ///     tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    ///     inner.send(request).await
    /// });
    /// ```
    pub fn around<F, A>(around: F) -> Self
    where
        F: Fn(Request<Body>, Inner) -> A + Send + Sync + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        let around = Arc::new(around);
        Self::new(move |transport| layer(transport, Arc::clone(&around)))
    }

    /// The transport that this hook makes of `transport`.
    #[must_use]
    pub fn wrap(&self, transport: Transport) -> Transport {
        match &self.0 {
            Hook::Around(wrap) => wrap(transport),
            Hook::Server(server) => server(),
        }
    }
}

/// `transport` with `around` as its outermost layer.
pub(super) fn layer<F, A>(transport: Transport, around: Arc<F>) -> Transport
where
    F: Fn(Request<Body>, Inner) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    BoxService::new(Around { inner: Inner::new(transport), around })
}

struct Around<F> {
    inner: Inner,
    around: Arc<F>,
}

impl<F, A> Service<Request<Body>> for Around<F>
where
    F: Fn(Request<Body>, Inner) -> A,
    A: Future<Output = Answer> + Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Answer>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The transport below is asked when the request is sent on, which may be later, or never.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        (self.around)(request, self.inner.clone()).boxed()
    }
}
