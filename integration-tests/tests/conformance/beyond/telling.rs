//! What a reconciler tells is logged, is an Event, and goes to a receiver of notifications, for which nothing waits.

use std::{convert::Infallible, net::Ipv4Addr};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Event;
use operator_core::{Context, Level, OperatorBuilder};
use tokio::{
    net::TcpListener,
    task::{JoinHandle, JoinSet},
};

const LEVELS: [Level; 5] = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];

/// A receiver that answers its requests with these codes, and then no more.
struct Receiver {
    address: String,
    requests: Arc<Mutex<Vec<Request<Value>>>>,
    listening: JoinHandle<()>,
}

impl Receiver {
    async fn start(codes: &'static [u16]) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?.to_string();
        let requests = Arc::<Mutex<Vec<Request<Value>>>>::default();
        let heard = Arc::clone(&requests);
        let listening = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let heard = Arc::clone(&heard);
                let answer = service_fn(move |request: Request<Incoming>| {
                    let heard = Arc::clone(&heard);
                    async move {
                        let (head, body) = request.into_parts();
                        let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                        let body = serde_json::from_slice(&body).unwrap_or_default();
                        let number = {
                            let mut heard = heard.lock();
                            heard.push(Request::from_parts(head, body));
                            heard.len() - 1
                        };
                        let Some(code) = codes.get(number) else { return std::future::pending().await };
                        let answer = Response::builder().status(*code).body(Full::<Bytes>::default());
                        Ok::<_, Infallible>(answer.expect("an answer"))
                    }
                });
                connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
            }
        });
        Ok(Self { address, requests, listening })
    }

    /// The reasons of what it was sent.
    fn reasons(&self) -> Vec<String> {
        let requests = self.requests.lock();
        requests.iter().map(|sent| sent.body()["reason"].as_str().unwrap_or_default().to_owned()).collect()
    }

    async fn has(&self, reasons: &[&str]) -> Result<()> {
        let what = format!("the notifications {reasons:?}");
        eventually(&what, async || Ok((self.reasons() == reasons).then_some(()))).await
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Tells each word of the primary's value, at the level of its first letter, and says in the status that it has run.
fn telling() -> Script {
    Script::new(|_, one: Arc<TestResource>, cx: &mut Context<TestResource>| {
        Box::pin(async move {
            for word in one.spec.value.split(' ').filter(|word| !word.is_empty()) {
                let level = LEVELS.into_iter().find(|level| level.as_str()[..1] == word[..1]);
                cx.tell(level.context("a level")?, word, format!("it is {word}"));
            }
            Ok(Said::status(said(one.spec.value.clone())))
        })
    })
}

fn operator(scene: &Scene, numbers: &Numbers) -> OperatorBuilder {
    let controller = scene.controller(&telling()).name("teller").records_events(true);
    scene.operator().metrics(numbers.recorder()).register(controller)
}

fn events(numbers: &Numbers, result: &str) -> f64 {
    numbers.value("kubernetes_events_total", &[("controller_name", "teller"), ("result", result)])
}

#[operator_test(flavor = "current_thread")]
async fn what_is_told_is_in_the_log_and_among_the_events() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("telling").await?;
    let operator = TestOperator::start(operator(&scene, &Numbers::default())).await?;
    scene.create("one", "Ebroken Wslow Imade Dlooked Tpassed").await?;
    operator.settled().await?;
    let said = [
        (Level::ERROR, "Ebroken", "Warning"),
        (Level::WARN, "Wslow", "Warning"),
        (Level::INFO, "Imade", "Normal"),
        (Level::DEBUG, "Dlooked", "Normal"),
        (Level::TRACE, "Tpassed", "Normal"),
    ];
    for (level, reason, _) in said {
        let lines = log.lines(level);
        let line = lines.iter().find(|line| line.field("reason") == reason);
        assert_eq!(line.map(|line| line.field("message")), Some(&*format!("it is {reason}")), "{lines:#?}");
    }
    let all = scene.api::<Event>().list(&ListParams::default()).await?.into_iter();
    let found: BTreeSet<_> =
        all.map(|event| [event.reason, event.type_, event.message].map(Option::unwrap_or_default)).collect();
    let expected = said.map(|(_, reason, of)| [reason.to_owned(), of.to_owned(), format!("it is {reason}")]);
    assert_eq!(found, expected.into());
    Ok(())
}

#[operator_test]
async fn events_are_forwarded_and_nothing_waits_for_their_receiver() -> Result<()> {
    let scene = Scene::new("telling").await?;
    let (numbers, receiver) = (Numbers::default(), Receiver::start(&[500, 202, 429]).await?);
    let builder = operator(&scene, &numbers).forward_events(format!("http://{}", receiver.address));
    let operator = TestOperator::start(builder).await?;
    let one = scene.create("one", "Imade Dlooked Wslow Eborn").await?;
    // The first one is sent again, the second one is known there, and the third one isn't answered.
    receiver.has(&["Imade", "Imade", "Wslow", "Eborn"]).await?;
    assert_eq!((events(&numbers, "forwarded"), events(&numbers, "not_forwarded")), (2.0, 0.0));
    let timestamp = {
        let requests = receiver.requests.lock();
        let (slow, again) = (&requests[2], &requests[1]);
        assert_eq!((slow.method().as_str(), slow.uri().path()), ("POST", "/"));
        assert_eq!(
            slow.headers().get("content-type").map(|of| of.as_bytes()),
            Some(&b"application/json"[..])
        );
        assert_eq!((again.body(), &again.body()["severity"]), (requests[0].body(), &json!("info")));
        let mut body = slow.body().clone();
        let version = body["involvedObject"]["resourceVersion"].take();
        assert!(version.is_string(), "{body}");
        let expected = json!({
            "involvedObject": {
                "apiVersion": "conformance.operator-core.io/v1", "kind": "TestResource", "namespace": scene.namespace,
                "name": "one", "uid": one.uid(), "resourceVersion": null,
            },
            "severity": "error", "timestamp": body["timestamp"], "reason": "Wslow", "message": "it is Wslow",
            "reportingController": "teller", "reportingInstance": body["reportingInstance"],
        });
        assert_eq!(body, expected);
        body["timestamp"].as_str().unwrap_or_default().to_owned()
    };
    assert!(timestamp.ends_with('Z') && timestamp.contains('T'), "{timestamp}");

    scene.patch("one", json!({ "spec": { "value": "Iagain" } })).await?;
    scene.until("its status", "one", |one| one.status == Some(said("Iagain"))).await?;
    let began = Instant::now();
    operator.stop().await;
    assert!(began.elapsed() < Duration::from_secs(10), "a stop gives up what isn't answered");
    assert_eq!(receiver.reasons().len(), 4);
    Ok(())
}

#[operator_test(flavor = "current_thread")]
async fn what_a_receiver_refuses_is_given_up_and_its_url_is_nowhere() -> Result<()> {
    let (log, _guard) = LogText::start();
    let scene = Scene::new("telling").await?;
    let (numbers, receiver) = (Numbers::default(), Receiver::start(&[404, 403, 200]).await?);
    let url = format!("http://me:s3cr%40t@{}/hooks/t0ken?key=k3y", receiver.address);
    let builder = operator(&scene, &numbers).forward_events(&url);
    let shown = format!("{builder:?}");
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "Ifirst Isecond Ithird").await?;
    receiver.has(&["Ifirst", "Isecond", "Ithird"]).await?;
    eventually("the outcomes", async || Ok((events(&numbers, "forwarded") == 1.0).then_some(()))).await?;
    assert_eq!(events(&numbers, "not_forwarded"), 2.0);
    {
        let asked = receiver.requests.lock();
        assert_eq!(asked[0].uri(), "/hooks/t0ken?key=k3y");
        // `me:s3cr@t`.
        let credentials = asked[0].headers().get("authorization").context("they are sent")?;
        assert_eq!(credentials, "Basic bWU6czNjckB0");
    }
    operator.stop().await;
    let text = log.text();
    assert!(text.contains("an Event was not forwarded") && text.contains("404"), "{text}");
    for secret in ["s3cr", "t0ken", "k3y", "bWU6czNjckB0"] {
        let line = text.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
        assert!(!shown.contains(secret), "{shown}");
    }
    Ok(())
}
