//! Each fault as a client meets it, with a server that is a function and counts what reaches it.

use std::{
    sync::atomic::{AtomicU64, AtomicUsize},
    time::Duration,
};

use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout};
use tower::{BoxError, ServiceExt, service_fn, util::BoxService};

use super::{fault::body, *};
use crate::client::{ResponseBody, Transport};

const MAPS: &str = "/api/v1/namespaces/shop/configmaps";

/// A server that counts, and answers a watch with five events and everything else with its number.
#[derive(Clone, Default)]
struct Server(Arc<AtomicU64>);

fn event(n: u64) -> String {
    let kind = if n == 1 { "ADDED" } else { "MODIFIED" };
    let name = if n.is_multiple_of(2) { "even" } else { "odd" };
    format!(
        r#"{{"type":"{kind}","object":{{"metadata":{{"name":"{name}","namespace":"shop","resourceVersion":"{n}"}}}}}}"#
    )
}

impl Server {
    fn transport(&self) -> Transport {
        let server = self.clone();
        BoxService::new(service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move {
                let n = server.0.fetch_add(1, Ordering::SeqCst) + 1;
                let query = request.uri().query().unwrap_or_default().to_owned();
                let content = if query.contains("watch=true") {
                    let bookmark =
                        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"0"}}}"#.to_owned();
                    let lines = std::iter::once(bookmark).chain((1..=5).map(event));
                    lines.map(|line| line + "\n").collect::<String>()
                } else {
                    format!(r#"{{"metadata":{{"resourceVersion":"{n}"}},"query":"{query}","items":[]}}"#)
                };
                Ok::<_, BoxError>(Response::new(body(content.into_bytes())))
            }
        }))
    }

    fn reached(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

struct Scene {
    server: Server,
    faults: Faults,
    inner: Inner,
}

fn scene(rules: impl IntoIterator<Item = Rule>) -> Scene {
    let (server, faults) = (Server::default(), Faults::new(rules));
    let inner = Inner::new(faults.hook().wrap(server.transport()));
    Scene { server, faults, inner }
}

impl Scene {
    async fn request(&self, method: &str, path: &str) -> Answer {
        let request =
            Request::builder().method(method).uri(path).body(Body::empty()).expect("a valid request");
        self.inner.send(request).await
    }

    async fn list(&self) -> Result<(u16, String), BoxError> {
        read(self.request("GET", MAPS).await?).await
    }

    /// The versions of the events of a watch, and how it ended.
    async fn watch(&self) -> (Vec<String>, Result<(), String>) {
        let answer = self.request("GET", &format!("{MAPS}?watch=true&resourceVersion=9")).await;
        let mut content = answer.expect("an answer").into_body();
        let mut text = Vec::new();
        let end = loop {
            match content.frame().await {
                None => break Ok(()),
                Some(Err(error)) => break Err(error.to_string()),
                Some(Ok(frame)) => text.extend(frame.into_data().expect("data")),
            }
        };
        let lines = String::from_utf8(text).expect("text");
        let version = |line: &str| {
            let event: serde_json::Value = serde_json::from_str(line).ok()?;
            match event["type"].as_str()? {
                "BOOKMARK" => None,
                "ERROR" => Some(format!("error {}", event["object"]["code"])),
                _ => Some(event["object"]["metadata"]["resourceVersion"].as_str()?.to_owned()),
            }
        };
        (lines.lines().filter_map(version).collect(), end)
    }
}

async fn read(response: Response<ResponseBody>) -> Result<(u16, String), BoxError> {
    let status = response.status().as_u16();
    let content: Bytes = response.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8(content.to_vec())?))
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_does_not_reach_the_server_and_what_is_lost_does() {
    for (rule, reaches) in [
        (Rule::any().fault(Fault::Refused), 0),
        (Rule::any().answer_lost(), 1),
        (Rule::any().status(StatusAnswer::internal()), 0),
        (Rule::any().fault(Fault::StatusAfter(StatusAnswer::timeout())), 1),
        (Rule::any().fault(Fault::Hang), 0),
        (Rule::any().fault(Fault::HangAfter), 1),
        (Rule::any().fault(Fault::Crash), 0),
        (Rule::any().fault(Fault::CrashAfter), 1),
    ] {
        let name = rule.to_string();
        let scene = scene([rule]);
        let answer = timeout(Duration::from_secs(3600), scene.list()).await;
        match &answer {
            Ok(Ok((code, _))) => assert!(matches!(code, 500 | 504), "{name}: {code}"),
            Ok(Err(error)) => assert!(error.to_string().contains("connection"), "{name}: {error}"),
            Err(_) => assert!(name.contains("never") || name.contains("crash"), "{name}"),
        }
        assert_eq!(scene.server.reached(), reaches, "{name}");
        assert!(scene.faults.unfired().is_empty(), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_carries_its_status_and_how_long_to_wait() {
    let scene = scene([Rule::on(Verb::List).first(1).status(StatusAnswer::too_many_requests(7))]);
    let answer = scene.request("GET", MAPS).await.expect("an answer");
    assert_eq!(answer.headers()["retry-after"], "7");
    let (code, content) = read(answer).await.expect("a body");
    let status: serde_json::Value = serde_json::from_str(&content).expect("a status");
    assert_eq!((code, status["details"]["retryAfterSeconds"].as_u64()), (429, Some(7)));
    assert_eq!(scene.list().await.expect("an answer").0, 200, "only the first");
}

#[tokio::test(start_paused = true)]
async fn a_rule_picks_by_verb_type_name_and_turn() {
    let rules = [
        Rule::on(Verb::Delete).resource("configmaps").name("a*").occurrences(2..=3).fault(Fault::Refused),
        Rule::writes().namespace("other").fault(Fault::Refused),
        Rule::any().subresource("status").fault(Fault::Refused),
    ];
    let scene = scene(rules);
    let mut refused = Vec::new();
    for (method, path) in [
        ("DELETE", "/api/v1/namespaces/shop/configmaps/ab"),
        ("DELETE", "/api/v1/namespaces/shop/configmaps/b"),
        ("DELETE", "/api/v1/namespaces/shop/secrets/ab"),
        ("GET", "/api/v1/namespaces/shop/configmaps/ab"),
        ("DELETE", "/api/v1/namespaces/shop/configmaps/ac"),
        ("DELETE", "/api/v1/namespaces/shop/configmaps/ad"),
        ("DELETE", "/api/v1/namespaces/shop/configmaps/ae"),
        ("PUT", "/api/v1/namespaces/other/pods/a"),
        ("GET", "/api/v1/namespaces/other/pods/a"),
        ("PATCH", "/api/v1/namespaces/shop/pods/a/status"),
    ] {
        if scene.request(method, path).await.is_err() {
            refused.push(path.trim_start_matches("/api/v1/namespaces/"));
        }
    }
    assert_eq!(refused, ["shop/configmaps/ac", "shop/configmaps/ad", "other/pods/a", "shop/pods/a/status"]);
    let fired: Vec<u64> = scene.faults.fired().into_iter().map(|(_, times)| times).collect();
    assert_eq!(fired, [2, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn delays_pass_before_and_after_the_effect() {
    let rules = [
        Rule::any().first(1).fault(Fault::Delay(Duration::from_secs(2))),
        Rule::any().first(1).fault(Fault::DelayAnswer(Duration::from_secs(3))),
    ];
    let scene = scene(rules);
    let before = Instant::now();
    let mut list = Box::pin(scene.list());
    assert!(timeout(Duration::from_millis(1900), &mut list).await.is_err());
    assert_eq!(scene.server.reached(), 0);
    assert!(timeout(Duration::from_millis(200), &mut list).await.is_err());
    assert_eq!(scene.server.reached(), 1);
    list.await.expect("an answer");
    assert_eq!(before.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn events_are_doubled_swapped_lost_and_garbled() {
    for (fault, expect) in [
        (LineFault::Duplicate, vec!["1", "2", "2", "3", "4", "5"]),
        (LineFault::Reorder, vec!["1", "3", "2", "4", "5"]),
        (LineFault::Swap, vec!["1", "3", "2", "4", "5"]),
        (LineFault::SilentThenGone(Duration::from_secs(9)), vec!["1", "error 410"]),
        (LineFault::Lose, vec!["1", "3", "4", "5"]),
        (LineFault::Malformed, vec!["1", "3", "4", "5"]),
        (LineFault::Hold(2), vec!["1", "2", "3", "4", "5"]),
        (LineFault::Gone, vec!["1", "error 410"]),
        (LineFault::Close(End::Clean), vec!["1"]),
    ] {
        let scene = scene([Rule::watch("configmaps").nth(2).event(fault)]);
        let (versions, end) = scene.watch().await;
        assert_eq!(versions, expect, "{fault}");
        assert_eq!(end, Ok(()), "{fault}");
        assert!(scene.faults.unfired().is_empty(), "{fault}");
    }
    // What is behind it has bad luck itself, and what comes then is about the same object, which has its order.
    let second = || Rule::watch("configmaps").nth(2);
    let swapped = scene([second().event(LineFault::Swap), second().event(LineFault::Lose)]);
    assert_eq!(swapped.watch().await.0, ["1", "2", "4", "5"]);
    // Nor does it pass what is held, whatever happens to the one behind it.
    let first = || Rule::watch("configmaps").nth(1);
    let [held, swap] = [LineFault::Hold(2), LineFault::Swap].map(|fault| first().event(fault));
    let behind = scene([held, swap, first().event(LineFault::Lose)]);
    assert_eq!(behind.watch().await.0, ["1", "2", "4", "5"]);
    let scene = scene([Rule::watch("configmaps").nth(2).event(LineFault::Close(End::Reset))]);
    let (versions, end) = scene.watch().await;
    assert_eq!(versions, ["1"]);
    assert!(end.expect_err("it is reset").contains("reset"));
}

#[tokio::test(start_paused = true)]
async fn events_are_picked_by_the_object_that_they_are_about() {
    let scene = scene([Rule::watch("configmaps").name("even").event(LineFault::Lose)]);
    assert_eq!(scene.watch().await.0, ["1", "3", "5"]);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_waits_for_more_than_come_is_lost_with_the_connection() {
    let scene = scene([Rule::watch("configmaps").nth(4).event(LineFault::Hold(7))]);
    assert_eq!(scene.watch().await.0, ["1", "2", "3"]);
}

#[tokio::test(start_paused = true)]
async fn events_that_are_held_arrive_when_the_faults_are_switched_off() {
    let faults = Faults::new([Rule::watch("configmaps").nth(1).event(LineFault::Hold(7))]);
    let endless = TransportHook::new(|_| {
        BoxService::new(service_fn(async |_| {
            let first = Ok::<_, BoxError>(http_body::Frame::data(Bytes::from(event(1) + "\n")));
            let stream =
                futures::StreamExt::chain(futures::stream::iter([first]), futures::stream::pending());
            Ok(Response::new(http_body_util::StreamBody::new(stream).boxed_unsync()))
        }))
    });
    let transport = faults.hook().wrap(endless.wrap(Server::default().transport()));
    let request = Request::get(format!("{MAPS}?watch=true")).body(Body::empty()).expect("a request");
    let mut content = transport.oneshot(request).await.expect("an answer").into_body();
    assert!(timeout(Duration::from_secs(60), content.frame()).await.is_err());
    faults.off();
    assert!(content.frame().await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_body_is_cut_after_bytes_or_lines() {
    let cut =
        Scene::watch(&scene([Rule::watch("configmaps").fault(Fault::Cut(Cut::Lines(3), End::Clean))])).await;
    assert_eq!(cut, (vec!["1".to_owned(), "2".to_owned()], Ok(())), "the bookmark is a line, too");
    let scene = scene([
        Rule::on(Verb::List).nth(1).fault(Fault::Cut(Cut::Bytes(4), End::Clean)),
        Rule::on(Verb::List).nth(2).fault(Fault::Cut(Cut::Bytes(4), End::Reset)),
    ]);
    assert_eq!(scene.list().await.expect("a body").1, r#"{"me"#);
    assert!(scene.list().await.expect_err("it is reset").to_string().contains("reset"));
    assert_eq!(scene.list().await.expect("a body").0, 200);
}

/// Five events and a bookmark are all that comes: nothing is cut after them, and nothing swapped with what is about itself.
#[tokio::test(start_paused = true)]
async fn a_fault_counts_where_it_takes_effect() {
    for (lines, times) in [(6, 1), (7, 0)] {
        let scene = scene([Rule::watch("configmaps").fault(Fault::Cut(Cut::Lines(lines), End::Clean))]);
        assert_eq!(scene.watch().await.0, ["1", "2", "3", "4", "5"]);
        assert_eq!(scene.faults.fired()[0].1, times, "after {lines} lines");
    }
    let swap = |nth| scene([Rule::watch("configmaps").nth(nth).event(LineFault::Swap)]);
    for (nth, times) in [(2, 1), (5, 0)] {
        let scene = swap(nth);
        scene.watch().await.1.expect("the watch ends by itself");
        assert_eq!(scene.faults.fired()[0].1, times, "event {nth}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_calls_what_was_asked_for_and_something_else_can_happen_meanwhile() {
    let (crashes, other) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let rules = [
        Rule::any().first(1).meanwhile({
            let other = Arc::clone(&other);
            move |_| {
                let other = Arc::clone(&other);
                async move {
                    other.fetch_add(1, Ordering::SeqCst);
                }
            }
        }),
        Rule::any().nth(2).fault(Fault::Crash),
    ];
    let scene = scene(rules);
    scene.faults.on_crash({
        let crashes = Arc::clone(&crashes);
        move || {
            crashes.fetch_add(1, Ordering::SeqCst);
        }
    });
    scene.list().await.expect("an answer");
    assert_eq!((other.load(Ordering::SeqCst), crashes.load(Ordering::SeqCst)), (1, 0));
    assert!(timeout(Duration::from_secs(60), scene.list()).await.is_err());
    assert_eq!(crashes.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn switched_off_nothing_happens_and_nothing_counts() {
    let scene = scene([Rule::any().fault(Fault::Refused)]);
    scene.faults.off();
    assert!(scene.list().await.is_ok());
    scene.faults.on();
    assert!(scene.list().await.is_err());
    assert_eq!(scene.faults.fired()[0].1, 1);
}

#[tokio::test]
async fn what_is_about_no_object_passes() {
    let scene = scene([Rule::any().fault(Fault::Refused)]);
    assert!(scene.request("GET", "/readyz").await.is_ok());
}
