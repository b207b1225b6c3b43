//! A deadline for every request that is expected to end: for its whole answer, or for the silence between its parts.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use http::{Request, Response, header};
use http_body_util::{BodyExt, BodyStream, StreamBody};
use kube::client::Body;

use super::{Inner, ResponseBody, Transport, hook};

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

/// Watches, followed logs and upgraded connections have no end.
pub(super) fn is_endless(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let endless = |parameter: &str| matches!(parameter, "watch=true" | "watch=1" | "watch" | "follow=true");
    query.split('&').any(endless) || request.headers().contains_key(header::UPGRADE)
}

/// `transport` with a deadline for its answers: `deadline` for complete ones, `silence` for requests that are marked as a
/// [`LongAnswer`].
pub(super) fn within(transport: Transport, deadline: Duration, silence: Duration) -> Transport {
    let timed = move |request: Request<Body>, inner: Inner| async move {
        if is_endless(&request) {
            return inner.send(request).await;
        }
        if request.extensions().get::<LongAnswer>().is_some() {
            let answer = tokio::time::timeout(silence, inner.send(request)).await;
            let answer = answer.map_err(|_| SilenceElapsed(silence))??;
            return Ok(answer.map(|body| without_silence(body, silence)));
        }
        let complete = async move {
            // The body is read here, because a connection that stalls in the middle of it is as silent as one that
            // never answers. The client would collect it anyway.
            let (head, body) = inner.send(request).await?.into_parts();
            let body = body.collect().await?;
            Ok(Response::from_parts(head, BodyExt::map_err(body, |never| match never {}).boxed_unsync()))
        };
        match tokio::time::timeout(deadline, complete).await {
            Ok(answer) => answer,
            Err(_) => Err(DeadlineElapsed(deadline).into()),
        }
    };
    hook::layer(transport, Arc::new(timed))
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
    use tower::{BoxError, ServiceExt, service_fn, util::BoxService};

    use super::*;

    fn get(uri: &str) -> Request<Body> {
        Request::get(uri).body(Body::empty()).expect("a valid request")
    }

    fn stalled() -> ResponseBody {
        let first = Ok::<_, BoxError>(http_body::Frame::data(Bytes::from_static(b"{")));
        StreamBody::new(stream::iter([first]).chain(stream::pending())).boxed_unsync()
    }

    /// A service that answers so, with the deadlines.
    fn timed<A>(answer: impl FnMut(Request<Body>) -> A + Send + 'static) -> Transport
    where
        A: Future<Output = Result<Response<ResponseBody>, BoxError>> + Send + 'static,
    {
        let service = BoxService::new(service_fn(answer));
        within(service, Duration::from_secs(30), Duration::from_secs(60))
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
        let service = timed(async |_| {
            tokio::time::sleep(Duration::from_secs(50)).await;
            Ok(Response::new(slow(10)))
        });
        let answer = service.oneshot(long("/api/v1/pods")).await.expect("an answer");
        assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes().len(), 10);
        assert_eq!(before.elapsed(), Duration::from_secs(450));

        let service = timed(async |_| Ok(Response::new(stalled())));
        let before = tokio::time::Instant::now();
        let answer = service.oneshot(long("/api/v1/pods")).await.expect("its beginning");
        let error = answer.into_body().collect().await.expect_err("nothing more comes");
        assert!(error.is::<SilenceElapsed>(), "{error}");
        assert_eq!(before.elapsed(), Duration::from_secs(60));

        let never = timed(async |_| std::future::pending().await);
        let before = tokio::time::Instant::now();
        let error = never.oneshot(long("/api/v1/pods")).await.expect_err("no answer comes");
        assert!(error.is::<SilenceElapsed>(), "{error}");
        assert_eq!(before.elapsed(), Duration::from_secs(60));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_stalls_in_its_body_is_given_up() {
        let service = timed(async |_| Ok(Response::new(stalled())));
        let before = tokio::time::Instant::now();
        let error = service.oneshot(get("/api/v1/pods")).await.expect_err("the deadline is over");
        assert!(error.is::<DeadlineElapsed>(), "{error}");
        assert_eq!(before.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_has_no_deadline() {
        let service = timed(async |_| {
            tokio::time::sleep(Duration::from_secs(600)).await;
            Ok(Response::new(stalled()))
        });
        assert!(service.oneshot(get("/api/v1/pods?watch=true&timeoutSeconds=90")).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_complete_answer_passes() {
        let body =
            || BodyExt::map_err(Full::new(Bytes::from_static(b"{}")), |never| match never {}).boxed_unsync();
        let service = timed(move |_| async move { Ok(Response::new(body())) });
        let answer = service.oneshot(get("/api/v1/pods")).await.expect("an answer");
        assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes(), "{}");
    }
}
