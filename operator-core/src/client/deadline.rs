//! A deadline for every request that is expected to end.

use std::{
    task::{Context, Poll},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use http::{Request, Response, header};
use http_body_util::BodyExt;
use kube::client::Body;
use tower::{BoxError, Layer, Service};

use super::ResponseBody;

/// The request was not answered in time. What became of it on the server is unknown.
#[derive(Debug, thiserror::Error)]
#[error("no complete answer within {} s", .0.as_secs())]
pub(crate) struct DeadlineElapsed(Duration);

/// Adds the deadline to a service.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeadlineLayer {
    deadline: Duration,
}

impl DeadlineLayer {
    pub(super) fn new(deadline: Duration) -> Self {
        Self { deadline }
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Deadline { inner, deadline: self.deadline }
    }
}

/// A service whose answers arrive completely within the deadline, or not at all.
#[derive(Clone, Debug)]
pub(super) struct Deadline<S> {
    inner: S,
    deadline: Duration,
}

/// Watches, followed logs and upgraded connections have no end of their own.
pub(super) fn is_endless(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let endless = |parameter: &str| matches!(parameter, "watch=true" | "watch=1" | "watch" | "follow=true");
    query.split('&').any(endless) || request.headers().contains_key(header::UPGRADE)
}

impl<S> Service<Request<Body>> for Deadline<S>
where
    S: Service<Request<Body>, Response = Response<ResponseBody>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let endless = is_endless(&request);
        let answer = self.inner.call(request).map(|answer| answer.map_err(Into::into));
        if endless {
            return answer.boxed();
        }
        let deadline = self.deadline;
        async move {
            let complete = async move {
                // The body is read here, because a connection that stalls in the middle of it is as silent as one that
                // never answers. The client would collect it anyway.
                let (head, body) = answer.await?.into_parts();
                let body = body.collect().await?;
                Ok(Response::from_parts(head, BodyExt::map_err(body, |never| match never {}).boxed_unsync()))
            };
            match tokio::time::timeout(deadline, complete).await {
                Ok(answer) => answer,
                Err(_) => Err(DeadlineElapsed(deadline).into()),
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures::stream;
    use http_body_util::{Full, StreamBody};
    use tower::{ServiceExt, service_fn};

    use super::*;

    fn get(uri: &str) -> Request<Body> {
        Request::get(uri).body(Body::empty()).expect("a valid request")
    }

    fn stalled() -> ResponseBody {
        let first = Ok::<_, BoxError>(http_body::Frame::data(Bytes::from_static(b"{")));
        StreamBody::new(futures::StreamExt::chain(stream::iter([first]), stream::pending())).boxed_unsync()
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_stalls_in_its_body_is_given_up() {
        let service = DeadlineLayer::new(Duration::from_secs(30))
            .layer(service_fn(async |_| Ok::<_, BoxError>(Response::new(stalled()))));
        let before = tokio::time::Instant::now();
        let error = service.oneshot(get("/api/v1/pods")).await.expect_err("the deadline is over");
        assert!(error.is::<DeadlineElapsed>(), "{error}");
        assert_eq!(before.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_has_no_deadline() {
        let service = DeadlineLayer::new(Duration::from_secs(30)).layer(service_fn(async |_| {
            tokio::time::sleep(Duration::from_secs(600)).await;
            Ok::<_, BoxError>(Response::new(stalled()))
        }));
        assert!(service.oneshot(get("/api/v1/pods?watch=true&timeoutSeconds=90")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_complete_answer_passes() {
        let body =
            || BodyExt::map_err(Full::new(Bytes::from_static(b"{}")), |never| match never {}).boxed_unsync();
        let service = DeadlineLayer::new(Duration::from_secs(30))
            .layer(service_fn(move |_| async move { Ok::<_, BoxError>(Response::new(body())) }));
        let answer = service.oneshot(get("/api/v1/pods")).await.expect("an answer");
        assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes(), "{}");
    }
}
