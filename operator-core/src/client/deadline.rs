//! A deadline for every request that is expected to end: for its whole answer, or for the silence between its parts.

use std::{
    task::{Context, Poll},
    time::Duration,
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use http::{Request, Response, header};
use http_body_util::{BodyExt, BodyStream, StreamBody};
use kube::client::Body;
use tower::{BoxError, Layer, Service};

use super::ResponseBody;

/// The request was not answered in time. Whether the server has carried it out is unknown.
#[derive(Debug, thiserror::Error)]
#[error("no complete answer within {} s", .0.as_secs())]
pub(crate) struct DeadlineElapsed(Duration);

/// The server, or something on the way to it, has stopped in the middle of an answer, or before its beginning.
#[derive(Debug, thiserror::Error)]
#[error("no answer, or no further part of one, for {} s", .0.as_secs())]
pub(crate) struct SilenceElapsed(Duration);

/// Marks a request whose answer may be long, as a list's: it isn't over as long as more of it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongAnswer;

/// Adds the deadlines to a service.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeadlineLayer {
    deadline: Duration,
    silence: Duration,
}

impl DeadlineLayer {
    /// `deadline` is for complete answers, `silence` for requests that are marked as a [`LongAnswer`].
    pub(super) fn new(deadline: Duration, silence: Duration) -> Self {
        Self { deadline, silence }
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Deadline { inner, deadlines: *self }
    }
}

/// A service whose answers arrive completely within the deadline, or not at all; long ones part by part.
#[derive(Clone, Debug)]
pub(super) struct Deadline<S> {
    inner: S,
    deadlines: DeadlineLayer,
}

/// Watches, followed logs and upgraded connections have no end.
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
        let (endless, long) = (is_endless(&request), request.extensions().get::<LongAnswer>().is_some());
        let answer = self.inner.call(request).map(|answer| answer.map_err(Into::into));
        if endless {
            return answer.boxed();
        }
        let DeadlineLayer { deadline, silence } = self.deadlines;
        if long {
            return async move {
                let answer = tokio::time::timeout(silence, answer).await;
                Ok(answer.map_err(|_| SilenceElapsed(silence))??.map(|body| without_silence(body, silence)))
            }
            .boxed();
        }
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

/// A body that fails when no part of it arrives for this long.
fn without_silence(body: ResponseBody, silence: Duration) -> ResponseBody {
    let parts = stream::unfold(Some(BodyStream::new(body)), move |body| async move {
        let mut body = body?;
        match tokio::time::timeout(silence, body.next()).await {
            Ok(part) => part.map(|part| (part, Some(body))),
            Err(_) => Some((Err(SilenceElapsed(silence).into()), None)),
        }
    });
    StreamBody::new(parts).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::Full;
    use tower::{ServiceExt, service_fn};

    use super::*;

    fn get(uri: &str) -> Request<Body> {
        Request::get(uri).body(Body::empty()).expect("a valid request")
    }

    fn stalled() -> ResponseBody {
        let first = Ok::<_, BoxError>(http_body::Frame::data(Bytes::from_static(b"{")));
        StreamBody::new(stream::iter([first]).chain(stream::pending())).boxed_unsync()
    }

    fn layer() -> DeadlineLayer {
        DeadlineLayer::new(Duration::from_secs(30), Duration::from_secs(60))
    }

    /// A part of the body every 40 seconds, this many in all.
    fn slow(parts: usize) -> ResponseBody {
        let parts = stream::iter(0..parts).then(|_| async {
            tokio::time::sleep(Duration::from_secs(40)).await;
            Ok::<_, BoxError>(http_body::Frame::data(Bytes::from_static(b"x")))
        });
        StreamBody::new(parts).boxed_unsync()
    }

    fn long(uri: &str) -> Request<Body> {
        let mut request = get(uri);
        request.extensions_mut().insert(LongAnswer);
        request
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_answer_ends_by_silence_alone() {
        let before = tokio::time::Instant::now();
        let service = layer().layer(service_fn(async |_| {
            tokio::time::sleep(Duration::from_secs(50)).await;
            Ok::<_, BoxError>(Response::new(slow(10)))
        }));
        let answer = service.oneshot(long("/api/v1/pods")).await.expect("an answer");
        assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes().len(), 10);
        assert_eq!(before.elapsed(), Duration::from_secs(450));

        let service = layer().layer(service_fn(async |_| Ok::<_, BoxError>(Response::new(stalled()))));
        let before = tokio::time::Instant::now();
        let answer = service.oneshot(long("/api/v1/pods")).await.expect("its beginning");
        let error = answer.into_body().collect().await.expect_err("nothing more comes");
        assert!(error.is::<SilenceElapsed>(), "{error}");
        assert_eq!(before.elapsed(), Duration::from_secs(60));

        let never =
            service_fn(async |_| std::future::pending::<Result<Response<ResponseBody>, BoxError>>().await);
        let before = tokio::time::Instant::now();
        let error = layer().layer(never).oneshot(long("/api/v1/pods")).await.expect_err("no answer comes");
        assert!(error.is::<SilenceElapsed>(), "{error}");
        assert_eq!(before.elapsed(), Duration::from_secs(60));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_stalls_in_its_body_is_given_up() {
        let service = layer().layer(service_fn(async |_| Ok::<_, BoxError>(Response::new(stalled()))));
        let before = tokio::time::Instant::now();
        let error = service.oneshot(get("/api/v1/pods")).await.expect_err("the deadline is over");
        assert!(error.is::<DeadlineElapsed>(), "{error}");
        assert_eq!(before.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_has_no_deadline() {
        let service = layer().layer(service_fn(async |_| {
            tokio::time::sleep(Duration::from_secs(600)).await;
            Ok::<_, BoxError>(Response::new(stalled()))
        }));
        assert!(service.oneshot(get("/api/v1/pods?watch=true&timeoutSeconds=90")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_complete_answer_passes() {
        let body =
            || BodyExt::map_err(Full::new(Bytes::from_static(b"{}")), |never| match never {}).boxed_unsync();
        let service =
            layer().layer(service_fn(move |_| async move { Ok::<_, BoxError>(Response::new(body())) }));
        let answer = service.oneshot(get("/api/v1/pods")).await.expect("an answer");
        assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes(), "{}");
    }
}
