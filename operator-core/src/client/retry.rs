//! Which reads are repeated, and when.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, Request, Response, StatusCode, header::RETRY_AFTER};
use kube::client::Body;
use tokio::time::{Instant, sleep};

use super::{Inner, ResponseBody, Transport, hook};
use crate::environment::Jitter;

/// The pause before the first repetition, at least. Each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// The random share by which a pause may be longer.
const SPREAD: f64 = 2.0;
/// The time from the beginning of the first attempt to that of the last one. After that the caller gets the refusal, and
/// tries again later: a run doesn't keep its place for as long as a server in maintenance asks.
const LONGEST: Duration = Duration::from_secs(60);

/// Repeats a request that the server refuses for now: 429, 503 or 504. The pauses grow, and are at least as long as
/// `Retry-After` requests.
///
/// kube's policy does the same, but its pauses come from its own random state and are the same for each request: a
/// simulation's seed doesn't repeat them, and requests that are refused together are repeated together.
#[derive(Debug)]
struct RetryReads {
    jitter: Jitter,
    repeated: u32,
    /// The time since the beginning, when the last attempt ended or was to begin.
    passed: Duration,
}

impl RetryReads {
    fn new(jitter: &Jitter) -> Self {
        Self { jitter: jitter.clone(), repeated: 0, passed: Duration::ZERO }
    }

    /// How long to wait before the request is repeated; `None` if it isn't.
    fn pause(&mut self, answer: &Response<ResponseBody>) -> Option<Duration> {
        let refused_for_now = matches!(
            answer.status(),
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT
        );
        if !refused_for_now {
            return None;
        }
        let pause = self.jitter.spread(FIRST_PAUSE * 2_u32.pow(self.repeated), SPREAD);
        let pause = pause.max(retry_after(answer.headers()).unwrap_or_default());
        let passed = self.passed.checked_add(pause).filter(|passed| *passed <= LONGEST)?;
        (self.repeated, self.passed) = (self.repeated + 1, passed);
        Some(pause)
    }
}

/// The time in the header `Retry-After`: whole seconds. Its other form, a date, is not used by API servers.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let asked = std::str::from_utf8(headers.get(RETRY_AFTER)?.as_bytes()).ok()?;
    asked.trim().parse().ok().map(Duration::from_secs)
}

/// `transport`, whose requests are repeated when its answers demand it.
pub(super) fn repeating(transport: Transport, jitter: &Jitter) -> Transport {
    let jitter = jitter.clone();
    let repeated = move |mut request: Request<Body>, inner: Inner| {
        let mut reads = RetryReads::new(&jitter);
        async move {
            let began = Instant::now();
            loop {
                let again = copied(&request);
                let answer = inner.send(request).await;
                reads.passed = reads.passed.max(began.elapsed());
                let pause = answer.as_ref().ok().and_then(|answer| reads.pause(answer));
                let (Some(pause), Some(again)) = (pause, again) else { return answer };
                drop(answer);
                sleep(pause).await;
                request = again;
            }
        }
    };
    hook::layer(transport, Arc::new(repeated))
}

/// The request once more. A body that is a stream can be sent only once; reads have none.
fn copied(request: &Request<Body>) -> Option<Request<Body>> {
    let mut again = Request::new(request.body().try_clone()?);
    again.method_mut().clone_from(request.method());
    again.uri_mut().clone_from(request.uri());
    *again.version_mut() = request.version();
    again.headers_mut().clone_from(request.headers());
    again.extensions_mut().clone_from(request.extensions());
    Some(again)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http_body_util::{BodyExt, Empty};
    use proptest::prelude::*;

    use super::*;

    fn answer(status: u16, retry_after: Option<&[u8]>) -> Response<ResponseBody> {
        let body = Empty::<Bytes>::new().map_err(|never| match never {}).boxed_unsync();
        let mut answer = Response::builder().status(status);
        if let Some(seconds) = retry_after {
            answer = answer.header(RETRY_AFTER, seconds);
        }
        answer.body(body).unwrap()
    }

    #[test]
    fn only_what_is_refused_for_now_is_repeated_and_for_a_minute_at_most() {
        for status in 200..600 {
            let mut policy = RetryReads::new(&Jitter::seeded(1));
            let (mut pauses, mut paused) = (0, Duration::ZERO);
            while let Some(pause) = policy.pause(&answer(status, None)) {
                (pauses, paused) = (pauses + 1, paused + pause);
            }
            let few = if matches!(status, 429 | 503 | 504) { 10..15 } else { 0..1 };
            assert!(few.contains(&pauses) && paused <= LONGEST, "{status}: {pauses} in {paused:?}");
        }
    }

    #[test]
    fn a_request_is_repeated_as_it_was() {
        let mut request = Request::post("/api?watch=true").body(Body::from(b"text".to_vec())).unwrap();
        request.headers_mut().insert("x-who", "me".parse().unwrap());
        request.extensions_mut().insert(7_u8);
        let again = copied(&request).unwrap();
        assert_eq!(
            (again.method(), again.uri(), again.version(), again.headers()),
            (request.method(), request.uri(), request.version(), request.headers())
        );
        assert_eq!(again.extensions().get::<u8>(), Some(&7));
        assert!(again.body().try_clone().is_some());
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn pauses_double_within_their_spread_and_repeat_with_the_seed(seed: u64, count in 1_u32..11) {
            let mut policies = [(); 2].map(|()| RetryReads::new(&Jitter::seeded(seed)));
            for number in 0..count {
                let [pause, again] = policies.each_mut().map(|policy| policy.pause(&answer(503, None)).unwrap());
                let base = FIRST_PAUSE * 2_u32.pow(number);
                prop_assert!(base <= pause && pause <= base * 3);
                prop_assert_eq!(pause, again);
            }
        }

        #[test]
        fn the_server_is_not_asked_earlier_than_it_wants(seed: u64, seconds: u64) {
            let mut policy = RetryReads::new(&Jitter::seeded(seed));
            let pause = policy.pause(&answer(429, Some(seconds.to_string().as_bytes())));
            let asked = Duration::from_secs(seconds);
            prop_assert_eq!(pause.is_some(), asked <= LONGEST);
            prop_assert!(pause.is_none_or(|pause| pause >= asked));
        }
    }

    #[test]
    fn a_header_that_is_no_number_asks_for_nothing() {
        let asked = |header: &[u8]| retry_after(answer(429, Some(header)).headers());
        for header in [
            &b""[..],
            b"-1",
            b"soon",
            b"1.5",
            b"Wed, 21 Oct 2026 07:28:00 GMT",
            b"\xff",
            b"99999999999999999999",
        ] {
            assert_eq!(asked(header), None, "{header:?}");
        }
        assert_eq!(asked(b" 7 "), Some(Duration::from_secs(7)));
    }
}
