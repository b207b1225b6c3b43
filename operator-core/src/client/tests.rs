//! Tests of the layers together, with paused time and a server that is a function.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use http_body_util::Full;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{PostParams, WatchParams},
};
use parking_lot::Mutex;
use tokio::time::Instant;
use tower::service_fn;

use super::*;

/// What arrives at the server, and when: whole seconds after the start, method and path.
#[derive(Clone)]
struct Server {
    arrivals: Arc<Mutex<Vec<(u64, String)>>>,
    clients: Clients,
}

fn body(text: &'static str) -> ResponseBody {
    BodyExt::map_err(Full::new(Bytes::from_static(text.as_bytes())), |never| match never {}).boxed_unsync()
}

/// A server that refuses the first `busy` requests and takes `delay` for each answer.
fn server(budget: Option<RequestBudget>, busy: usize, delay: Duration) -> Server {
    let start = Instant::now();
    let arrivals = Arc::new(Mutex::new(Vec::new()));
    let refused = Arc::new(AtomicUsize::new(0));
    let hook = TransportHook::new({
        let arrivals = Arc::clone(&arrivals);
        move |_| {
            let (arrivals, refused) = (Arc::clone(&arrivals), Arc::clone(&refused));
            BoxService::new(service_fn(move |request: Request<Body>| {
                let line = format!("{} {}", request.method(), request.uri().path());
                arrivals.lock().push((start.elapsed().as_secs(), line));
                let is_busy = refused.fetch_add(1, Ordering::Relaxed) < busy;
                async move {
                    tokio::time::sleep(delay).await;
                    let answer = Response::builder().status(if is_busy { 503 } else { 200 });
                    Ok::<_, BoxError>(answer.body(body("{}")).expect("a valid answer"))
                }
            }))
        }
    });
    let config = Config::new("http://server.invalid".parse().expect("a valid address"));
    let clients =
        Clients::new(&config, &[hook], budget, &Environment::real()).expect("a valid configuration");
    Server { arrivals, clients }
}

impl Server {
    fn seconds(&self) -> Vec<u64> {
        self.arrivals.lock().iter().map(|(second, _)| *second).collect()
    }

    fn direct(&self) -> Api<ConfigMap> {
        Api::namespaced(self.clients.direct.clone(), "default")
    }

    fn reads(&self) -> Api<ConfigMap> {
        Api::namespaced(self.clients.reads.clone(), "default")
    }
}

fn budget(per_second: u32, burst: u32) -> Option<RequestBudget> {
    Some(RequestBudget::new(per_second, burst).expect("a budget"))
}

const AT_ONCE: Duration = Duration::ZERO;

#[tokio::test(start_paused = true)]
async fn after_a_burst_requests_go_one_by_one_in_the_order_in_which_they_came() {
    let server = server(budget(1, 3), 0, AT_ONCE);
    let names: Vec<String> = (0..6).map(|n| format!("map-{n}")).collect();
    let api = server.direct();
    for answer in join_all(names.iter().map(|name| api.get(name))).await {
        answer.expect("an answer");
    }
    assert_eq!(server.seconds(), [0, 0, 0, 1, 2, 3]);
    let paths: Vec<String> = server.arrivals.lock().iter().map(|(_, line)| line.clone()).collect();
    let expected: Vec<String> =
        names.iter().map(|name| format!("GET /api/v1/namespaces/default/configmaps/{name}")).collect();
    assert_eq!(paths, expected);
}

#[tokio::test(start_paused = true)]
async fn reads_and_writes_share_one_budget() {
    let server = server(budget(1, 1), 0, AT_ONCE);
    let (direct, reads, map) = (server.direct(), server.reads(), ConfigMap::default());
    let params = PostParams::default();
    let (write, read, list) =
        futures::join!(direct.create(&params, &map), reads.get("read"), reads.get("another"));
    assert!(write.is_ok() && read.is_ok() && list.is_ok());
    assert_eq!(server.seconds(), [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_waits_for_its_turn_longer_than_any_answer_may_take_is_answered() {
    let server = server(budget(1, 1), 0, AT_ONCE);
    let (direct, reads, map) = (server.direct(), server.reads(), ConfigMap::default());
    let params = PostParams::default();
    let writes = join_all((0..60).map(|_| direct.create(&params, &map)));
    let (writes, read) = futures::join!(writes, reads.get("read"));
    assert!(writes.iter().all(Result::is_ok));
    assert!(read.is_ok(), "{read:?}");
    assert_eq!(server.seconds().last(), Some(&60));
}

#[tokio::test(start_paused = true)]
async fn a_watch_neither_waits_nor_counts() {
    let server = server(budget(1, 1), 0, AT_ONCE);
    let (direct, params) = (server.direct(), WatchParams::default());
    let (first, second, watch, other) = futures::join!(
        direct.get("first"),
        direct.get("second"),
        direct.watch(&params, "0"),
        direct.watch(&params, "0")
    );
    assert!(first.is_ok() && second.is_ok() && watch.is_ok() && other.is_ok());
    assert_eq!(server.seconds(), [0, 0, 0, 1]);
}

#[tokio::test(start_paused = true)]
async fn each_attempt_of_a_read_takes_a_place() {
    let server = server(budget(1, 1), 2, AT_ONCE);
    let before = Instant::now();
    server.reads().get("map").await.expect("the third attempt is answered");
    server.reads().get("map").await.expect("an answer");
    let seconds = server.seconds();
    assert_eq!(seconds.len(), 4);
    // The retry's own pauses are random and may be longer than the budget's.
    assert!(seconds.windows(2).all(|pair| pair[0] < pair[1]), "{seconds:?}");
    assert!(before.elapsed() >= Duration::from_secs(3));
}

/// A gateway gives up after a while, too: the pauses alone say little about how long a run waits.
#[tokio::test(start_paused = true)]
async fn however_slowly_a_read_is_refused_none_of_its_attempts_begins_after_a_minute() {
    for seconds in [0, 1, 10, 29] {
        let server = server(None, usize::MAX, Duration::from_secs(seconds));
        let before = Instant::now();
        server.reads().get("map").await.expect_err("it is refused for ever");
        let last = *server.seconds().last().expect("an attempt");
        assert!(last <= 60, "answered after {seconds} s each: the last attempt began after {last} s");
        assert!(before.elapsed() <= Duration::from_secs(90), "{:?}", before.elapsed());
        // Each request has a minute of its own.
        server.reads().get("map").await.expect_err("it is refused for ever");
        assert!(server.seconds().len() > 2, "{:?}", server.seconds());
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_while_it_waits_takes_no_place() {
    let server = server(budget(1, 1), 0, AT_ONCE);
    let (api, before) = (server.direct(), Instant::now());
    api.get("first").await.expect("an answer");
    let given_up = tokio::time::timeout(Duration::from_millis(500), api.get("given-up"));
    let (given_up, second) = futures::join!(given_up, api.get("second"));
    assert!(given_up.is_err() && second.is_ok());
    assert_eq!(before.elapsed(), Duration::from_secs(1));
    assert_eq!(server.seconds(), [0, 1]);
}

/// A write that has not been sent must not end like one whose outcome is unknown.
#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_write_begins_when_it_is_sent() {
    let patient = server(budget(1, 1), 0, Duration::from_secs(20));
    let (api, params, map) = (patient.direct(), PostParams::default(), ConfigMap::default());
    let answers = join_all((0..40).map(|_| api.create(&params, &map))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(patient.seconds(), (0..40).collect::<Vec<_>>());

    let slow = server(budget(1, 1), 0, Duration::from_secs(31));
    let (api, before) = (slow.direct(), Instant::now());
    assert!(api.create(&params, &map).await.is_err());
    assert_eq!(before.elapsed(), REQUEST_DEADLINE);
}

#[tokio::test(start_paused = true)]
async fn without_a_budget_nothing_waits() {
    let server = server(None, 0, AT_ONCE);
    let api = server.direct();
    let answers = join_all((0..200).map(|_| api.get("map"))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(server.seconds(), vec![0; 200]);
}

#[test]
fn a_budget_of_nothing_is_refused() {
    assert!(RequestBudget::new(0, 1).is_err());
    assert!(RequestBudget::new(1, 0).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_server_in_the_process_is_told_who_asks_and_hears_nothing_after_the_end() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let hook = TransportHook::server({
        let asked = Arc::clone(&asked);
        move || {
            let asked = Arc::clone(&asked);
            BoxService::new(service_fn(move |request: Request<Body>| {
                let who = request.headers().get_all("impersonate-user").iter().cloned().collect::<Vec<_>>();
                let asked = Arc::clone(&asked);
                // As a network does it: nothing is sent before the answer is waited for.
                async move {
                    asked.lock().push(who);
                    Ok::<_, BoxError>(Response::new(body("{}")))
                }
            }))
        }
    });
    let mut config = Config::new("http://server.invalid".parse().expect("a valid address"));
    config.auth_info.impersonate = Some("bob".to_owned());
    let clients = Clients::new(&config, &[hook], None, &Environment::real()).expect("a valid configuration");
    let maps = Api::<ConfigMap>::namespaced(clients.direct.clone(), "default");
    maps.get("one").await.expect("an answer");
    clients.close();
    maps.get("one").await.expect_err("nothing is sent any more");
    assert_eq!(*asked.lock(), [["bob"]]);
}

#[tokio::test(start_paused = true)]
async fn requests_to_other_clusters_are_measured_and_share_the_budget() {
    let server = server(budget(1, 1), 0, AT_ONCE);
    let arrivals = Arc::clone(&server.arrivals);
    let start = Instant::now();
    let there = TransportHook::server(move || {
        let arrivals = Arc::clone(&arrivals);
        BoxService::new(service_fn(move |_: Request<Body>| {
            arrivals.lock().push((start.elapsed().as_secs(), "there".to_owned()));
            async { Ok::<_, BoxError>(Response::new(body("{}"))) }
        }))
    });
    let measured = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&measured);
    let measures = TransportHook::new(move |inner| {
        let counts = Arc::clone(&counts);
        BoxService::new(ServiceExt::<Request<Body>>::map_request(inner, move |request| {
            counts.fetch_add(1, Ordering::Relaxed);
            request
        }))
    });
    let config = Config::new("http://there.invalid".parse().expect("a valid address"));
    let clients = Clients { measures: Some(measures), ..server.clients.clone() };
    let client = clients.elsewhere(&config, &[there]);
    let maps = Api::<ConfigMap>::namespaced(client.expect("a client"), "default");
    server.direct().get("here").await.expect("an answer");
    maps.get("there").await.expect("an answer");
    maps.get("there").await.expect("an answer");
    assert_eq!((server.seconds(), measured.load(Ordering::Relaxed)), (vec![0, 1, 2], 2));
}

/// A client whose server takes `delay` for each answer, and that may write within the term only.
fn in_term(term: &Term, environment: &Environment, delay: Duration) -> (Api<ConfigMap>, Arc<AtomicUsize>) {
    let arrived = Arc::new(AtomicUsize::new(0));
    let hook = TransportHook::server({
        let arrived = Arc::clone(&arrived);
        move || {
            let arrived = Arc::clone(&arrived);
            BoxService::new(service_fn(move |_: Request<Body>| {
                let arrived = Arc::clone(&arrived);
                async move {
                    arrived.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(delay).await;
                    Ok::<_, BoxError>(Response::new(body("{}")))
                }
            }))
        }
    });
    let config = Config::new("http://server.invalid".parse().expect("a valid address"));
    let clients = Clients::in_term(&config, &[hook], None, environment, Some(term.clone()));
    (Api::namespaced(clients.expect("a valid configuration").direct, "default"), arrived)
}

#[tokio::test(start_paused = true)]
async fn outside_of_its_term_an_operator_reads_and_does_not_write() {
    let (term, environment) = (Term::default(), Environment::real());
    let (maps, arrived) = in_term(&term, &environment, AT_ONCE);
    let (params, map) = (PostParams::default(), ConfigMap::default());
    let refused = async || {
        let error = maps.create(&params, &map).await.expect_err("it isn't sent");
        assert!(format!("{error:?}").contains("NotLeading"), "{error:?}");
    };
    refused().await;
    maps.get("one").await.expect("reads are always sent");
    assert_eq!(arrived.load(Ordering::Relaxed), 1);
    term.extend(environment.now() + Duration::from_secs(10));
    maps.create(&params, &map).await.expect("it leads");
    // Nobody but the write itself looks at the clock.
    tokio::time::advance(Duration::from_secs(60)).await;
    refused().await;
    maps.get("one").await.expect("reads are always sent");
    assert_eq!(arrived.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_not_answered_within_the_term_is_given_up() {
    let (term, environment) = (Term::default(), Environment::real());
    let (maps, arrived) = in_term(&term, &environment, Duration::from_secs(12));
    let (params, map) = (PostParams::default(), ConfigMap::default());
    term.extend(environment.now() + Duration::from_secs(10));
    let error = maps.create(&params, &map).await.expect_err("the answer is too late");
    assert!(format!("{error:?}").contains("LeadsNoLonger"), "{error:?}");
    assert_eq!(arrived.load(Ordering::Relaxed), 1);
    let (term, environment) = (Term::default(), Environment::real());
    let (maps, _) = in_term(&term, &environment, Duration::from_secs(12));
    term.extend(environment.now() + Duration::from_secs(10));
    let renew = async {
        tokio::time::sleep(Duration::from_secs(8)).await;
        term.extend(environment.now() + Duration::from_secs(10));
    };
    let (written, ()) = futures::join!(maps.create(&params, &map), renew);
    written.expect("the term has become longer meanwhile");
}
