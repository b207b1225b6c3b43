//! Lists of many objects: pages that expire, bodies that take their time, and others who want to get on meanwhile.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Config, client::Body};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};
use tower::{BoxError, service_fn, util::BoxService};

use crate::{
    cache::{Change, ChangeHandler},
    client::{Clients, ResponseBody, TransportHook},
    environment::Environment,
};

use super::{
    recorder::Recorder,
    scene::{Scene, item},
    typed::{TestConfig, TestInformer},
};

#[tokio::test(start_paused = true)]
async fn a_list_that_failed_in_one_piece_comes_in_pages_again() {
    let mut scene = Scene::start();
    scene.server.next().await.page(10, &[item("a", 5)], "next page");
    scene.server.next().await.status(410, "Expired", "the continue token is too old");
    let whole = scene.server.next().await;
    assert!(!whole.uri.contains("limit"), "{}", whole.uri);
    // It is more than the server can deliver in one piece.
    whole.status(504, "Timeout", "the list took too long");
    let before = Instant::now();
    let paged = scene.server.next().await;
    assert!(paged.uri.contains("limit=500"), "{}", paged.uri);
    paged.page(12, &[item("a", 5)], "next page");
    scene.server.next().await.page(12, &[item("b", 6)], "");
    scene.informer.synced().await;
    assert!(before.elapsed() < Duration::from_secs(600));
    assert_eq!(scene.take().await, ["+a@5!", "+b@6!"]);
    // As long as pages don't expire, nothing else is asked for.
    let watch = scene.server.open_watch(12).await;
    watch.expired();
    assert!(scene.server.next().await.uri.contains("limit=500"));
}

/// How a body comes.
#[derive(Clone, Copy)]
enum Pace {
    /// A part of it each five seconds, twelve parts in all.
    Slow,
    /// Its first part, and then nothing.
    Stalled,
}

fn parts(text: String, pace: Pace) -> ResponseBody {
    let bytes = Bytes::from(text);
    let size = bytes.len() / 12 + 1;
    let parts: Vec<Bytes> = (0..12)
        .map(|n| bytes.slice((n * size).min(bytes.len())..((n + 1) * size).min(bytes.len())))
        .collect();
    let frames = stream::iter(parts.into_iter().enumerate()).then(move |(number, part)| async move {
        match pace {
            Pace::Slow => sleep(Duration::from_secs(5)).await,
            Pace::Stalled if number > 0 => std::future::pending().await,
            Pace::Stalled => {}
        }
        Ok::<_, BoxError>(Frame::data(part))
    });
    StreamBody::new(frames).boxed_unsync()
}

/// An informer with an operator's own client, whose server answers its lists one after the other at these paces. Watches
/// show nothing. Gives the number of lists, too.
fn served(paces: Vec<Pace>) -> (TestInformer<ConfigMap>, Arc<AtomicUsize>) {
    let lists = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lists);
    let hook = TransportHook::server(move || {
        let (paces, lists) = (paces.clone(), Arc::clone(&counted));
        BoxService::new(service_fn(move |request: Request<Body>| {
            let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
            let body = if is_watch {
                StreamBody::new(stream::pending::<Result<Frame<Bytes>, BoxError>>()).boxed_unsync()
            } else {
                let number = lists.fetch_add(1, Ordering::Relaxed);
                let list =
                    json!({ "metadata": { "resourceVersion": "10" }, "items": [item("a", 5), item("b", 6)] });
                match paces.get(number) {
                    Some(pace) => parts(list.to_string(), *pace),
                    None => Full::new(Bytes::from(list.to_string()))
                        .map_err(|never| match never {})
                        .boxed_unsync(),
                }
            };
            async move { Ok::<_, BoxError>(Response::new(body)) }
        }))
    });
    let config = Config::new("http://server.invalid".parse().unwrap());
    let environment = Environment::real().with_seed(1);
    let clients = Clients::new(&config, &[hook], None, &environment).unwrap();
    let recorder = Arc::new(Recorder::default());
    let informer = TestConfig::new().informer(None, clients.direct, &environment, recorder);
    let running = informer.clone();
    environment.spawn("test", async move { running.run(std::future::pending()).await });
    (informer, lists)
}

#[tokio::test(start_paused = true)]
async fn a_body_that_takes_a_minute_is_a_good_one() {
    let (informer, lists) = served(vec![Pace::Slow; 100]);
    let before = Instant::now();
    let synced = timeout(Duration::from_secs(600), informer.synced()).await;
    assert!(synced.is_ok(), "{} lists were given up: {:?}", lists.load(Ordering::Relaxed), informer.health());
    assert_eq!((lists.load(Ordering::Relaxed), informer.keys().len()), (1, 2));
    assert_eq!(before.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stalls_is_given_up() {
    let (informer, lists) = served(vec![Pace::Stalled]);
    let before = Instant::now();
    timeout(Duration::from_secs(600), informer.synced()).await.expect("the next list is complete");
    assert_eq!(lists.load(Ordering::Relaxed), 2);
    assert!(before.elapsed() < Duration::from_secs(120), "{:?}", before.elapsed());
}

/// Counts what it is told.
#[derive(Default)]
struct Counting(AtomicUsize);

impl ChangeHandler for Counting {
    fn on_change(&self, _: Change) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn others_get_on_while_a_long_list_is_decoded() {
    const OBJECTS: u64 = 5_000;
    let (client, mut server) = super::server::scripted();
    let counting = Arc::new(Counting::default());
    let environment = Environment::real().with_seed(1);
    let config = TestConfig::<ConfigMap>::new();
    let informer = config.informer(None, client, &environment, Arc::clone(&counting) as _);
    let running = informer.clone();
    environment.spawn("test", async move { running.run(std::future::pending()).await });
    let items: Vec<_> = (0..OBJECTS).map(|number| item(&format!("map-{number:05}"), number + 1)).collect();
    server.next().await.page(OBJECTS + 1, &items, "");
    // Somebody else on the same thread, who wants to know how long it takes until it is its turn again.
    let turn = Cell::new((0, 0));
    let other = async {
        loop {
            let ((longest, before), seen) = (turn.get(), counting.0.load(Ordering::Relaxed));
            turn.set((longest.max(seen - before), seen));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = informer.synced() => {}
        () = other => {}
    }
    assert_eq!(informer.keys().len(), 5_000);
    let (longest, before) = turn.get();
    let longest = longest.max(counting.0.load(Ordering::Relaxed) - before);
    assert!(longest <= 64, "{longest} objects were decoded without a pause");
}
