//! Acts at the very moment at which an operator makes a request: what no amount of waiting could hit.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use futures::{FutureExt, future::BoxFuture};
use http::{Method, Request, Response};
use kube::client::Body;
use operator_core::client::{ResponseBody, Transport, TransportHook};
use tower::{BoxError, Service, util::BoxService};

type Action = dyn Fn(&Method, &str) -> Option<BoxFuture<'static, ()>> + Send + Sync;

/// A hook that asks `action` about each request, with its method and path; what it answers is done before the request is
/// sent.
pub fn before(
    action: impl Fn(&Method, &str) -> Option<BoxFuture<'static, ()>> + Send + Sync + 'static,
) -> TransportHook {
    let action: Arc<Action> = Arc::new(action);
    TransportHook::new(move |inner| BoxService::new(Before { inner, action: Arc::clone(&action) }))
}

struct Before {
    inner: Transport,
    action: Arc<Action>,
}

impl Service<Request<Body>> for Before {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let action = (self.action)(request.method(), request.uri().path());
        // Nothing is sent before the answer is polled, which happens after the action.
        let answer = self.inner.call(request);
        async move {
            if let Some(action) = action {
                action.await;
            }
            answer.await
        }
        .boxed()
    }
}

/// A hook that loses the answer to the first request of `method` whose path ends with `path`: the server has done what it was
/// asked for, and nobody is told.
pub fn lose_answer(method: Method, path: impl Into<String>) -> TransportHook {
    let (path, done) = (path.into(), Arc::new(AtomicBool::new(false)));
    TransportHook::new(move |inner| {
        let (method, path, done) = (method.clone(), path.clone(), Arc::clone(&done));
        BoxService::new(Lossy { inner, method, path, done })
    })
}

struct Lossy {
    inner: Transport,
    method: Method,
    path: String,
    done: Arc<AtomicBool>,
}

impl Service<Request<Body>> for Lossy {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_it = *request.method() == self.method && request.uri().path().ends_with(&self.path);
        let lost = is_it && !self.done.swap(true, Ordering::SeqCst);
        let answer = self.inner.call(request);
        async move {
            let answer = answer.await?;
            if lost { Err("the answer was lost on its way".into()) } else { Ok(answer) }
        }
        .boxed()
    }
}
