//! The one task of the listener: it accepts connections, answers them, and keeps the metrics in order. A client that is
//! silent, slow or greedy can't keep the others out.

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::Router;
use futures::{
    FutureExt, StreamExt,
    future::{AbortHandle, abortable},
    stream::FuturesUnordered,
};
use hyper::{
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::{Instant, MissedTickBehavior, sleep_until},
};

use crate::metrics::PrometheusMetrics;

/// The maximum number of connections. A further one takes the place of another.
const MOST_CONNECTIONS: usize = 64;

/// The number of connections of one peer from which on a further one takes the place of another of that peer.
const MOST_OF_A_PEER: usize = 8;

/// The time for which a connection keeps its place in any case. A client that isn't slow needs less for its request.
const GRACE: Duration = Duration::from_millis(50);

/// The maximum time from a connection's beginning to the end of its request's head.
const HEADER_DEADLINE: Duration = Duration::from_secs(1);

/// How long one connection may take, from its first byte to its last: a slow client can't occupy a place.
const CONNECTION_DEADLINE: Duration = Duration::from_secs(10);

/// The interval between two upkeeps of the metrics. Without them the values of histograms would accumulate as long as
/// nothing scrapes them.
const UPKEEP: Duration = Duration::from_secs(5);

/// Pause after a failure to accept that is not the connection's own, such as a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// Answers until it is dropped, and all connections with it.
///
/// Connections are not separate tasks: the answers are short and never wait, and so no part of them can outlive the
/// operator. `axum::serve` would start tasks itself, past the library's one spawn function.
pub(super) async fn serve(listener: TcpListener, router: Router, metrics: Arc<PrometheusMetrics>) {
    let (mut answers, mut open) = (FuturesUnordered::new(), Vec::new());
    let mut upkeep = tokio::time::interval(UPKEEP);
    upkeep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let full = first_to_leave(&open, None).filter(|_| open.len() >= MOST_CONNECTIONS);
        tokio::select! {
            biased;
            _ = upkeep.tick() => metrics.upkeep(),
            Some(ended) = answers.next() => open.retain(|one| !Arc::ptr_eq(&one.has_asked, &ended)),
            (stream, peer) = accept(&listener), if full.is_none() => {
                if open.iter().filter(|one| one.peer == peer).count() >= MOST_OF_A_PEER {
                    give_up(&mut open, Some(peer), Instant::now());
                }
                let has_asked = Arc::default();
                let (answer, handle) = abortable(answer(stream, router.clone(), Arc::clone(&has_asked)));
                answers.push(answer.map({
                    let ended = Arc::clone(&has_asked);
                    move |_| ended
                }));
                open.push(Connection { peer, since: Instant::now(), has_asked, handle });
            }
            () = sleep_until(full.map_or_else(Instant::now, |(_, at)| at)), if full.is_some() => {
                give_up(&mut open, None, Instant::now());
            }
        }
    }
}

/// An open connection. They are kept in the order in which they came.
struct Connection {
    peer: IpAddr,
    since: Instant,
    /// Whether its request has arrived.
    has_asked: Arc<AtomicBool>,
    handle: AbortHandle,
}

/// The first connection to give up, of this peer or of any, and when at the earliest: the one that has been silent
/// longest; if each has sent its request, the oldest.
fn first_to_leave(open: &[Connection], peer: Option<IpAddr>) -> Option<(usize, Instant)> {
    let of_peer = |one: &Connection| peer.is_none_or(|peer| one.peer == peer);
    let silent = |one: &Connection| of_peer(one) && !one.has_asked.load(Ordering::Relaxed);
    let first = open.iter().position(silent).or_else(|| open.iter().position(of_peer))?;
    Some((first, open[first].since + GRACE))
}

/// Gives up a connection of this peer, or of any, if the time of one is over.
fn give_up(open: &mut Vec<Connection>, peer: Option<IpAddr>, now: Instant) {
    if let Some((first, _)) = first_to_leave(open, peer).filter(|(_, at)| *at <= now) {
        open.remove(first).handle.abort();
    }
}

async fn accept(listener: &TcpListener) -> (TcpStream, IpAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => return (stream, address.ip()),
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "can't accept a connection to /metrics, /healthz and /readyz");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn is_of_the_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// One request, one answer.
async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router, has_asked: Arc<AtomicBool>) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |request| {
        has_asked.store(true, Ordering::Relaxed);
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_DEADLINE)
        // Probes and scrapes are seconds apart: a connection that stays open would only take a place.
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // A client that disconnects, sends nonsense or is too slow is nobody's concern here.
    let _ = tokio::time::timeout(CONNECTION_DEADLINE, connection).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use futures::future::join_all;
    use proptest::{collection::vec, prelude::*};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
        net::TcpSocket,
    };

    use super::*;

    fn router() -> Router {
        Router::new().route("/", get(async || "ok"))
    }

    async fn exchange(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
        let mut answer = String::new();
        stream.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").await.unwrap();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    fn pair() -> (DuplexStream, DuplexStream) {
        tokio::io::duplex(1024)
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_answered_and_closed() {
        let (client, server) = pair();
        let (answered, ()) = futures::join!(exchange(client), answer(server, router(), Arc::default()));
        assert!(
            answered.starts_with("HTTP/1.1 200 OK\r\n") && answered.ends_with("\r\n\r\nok"),
            "{answered}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_is_silent_in_the_middle_is_given_up() {
        let (mut client, server) = pair();
        client.write_all(b"GET / HTTP/1.1\r\nhos").await.unwrap();
        let before = Instant::now();
        answer(server, router(), Arc::default()).await;
        assert_eq!(before.elapsed(), HEADER_DEADLINE);
    }

    const PEERS: u8 = 3;

    fn peer(number: u8) -> IpAddr {
        [127, 0, 0, number].into()
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// Each number is a step: a connection comes (if there is room), one has sent its request, or ends, or time passes.
        #[test]
        fn a_connection_that_is_given_up_has_had_its_time_and_is_silent_longest(
            steps in vec(any::<u16>(), 1..300),
        ) {
            let (mut open, mut now) = (Vec::<Connection>::new(), Instant::now());
            for step in steps {
                let (kind, which) = (step % 8, usize::from(step / 8));
                let before: Vec<_> = open.iter().map(seen).collect();
                let of = peer((which as u8) % PEERS);
                let full = before.len() >= MOST_CONNECTIONS;
                match kind {
                    // As the listener waits for room.
                    0..4 if full => {
                        let (_, at) = first_to_leave(&open, None).expect("one of them has to leave");
                        now = now.max(at);
                        give_up(&mut open, None, now);
                        prop_assert_eq!(open.len(), MOST_CONNECTIONS - 1, "a new one finds a place");
                    }
                    0..4 => {
                        if before.iter().filter(|seen| seen.peer == of).count() >= MOST_OF_A_PEER {
                            give_up(&mut open, Some(of), now);
                        }
                        let (has_asked, handle) = (Arc::default(), AbortHandle::new_pair().0);
                        open.push(Connection { peer: of, since: now, has_asked, handle });
                    }
                    4 if !open.is_empty() => open[which % before.len()].has_asked.store(true, Ordering::Relaxed),
                    5 if !open.is_empty() => drop(open.remove(which % before.len())),
                    _ => now += Duration::from_millis(step.into()) / 500,
                }
                let is_left = |seen: &&Seen| kind < 4 && open.iter().all(|one| Arc::as_ptr(&one.has_asked) != seen.id);
                let left: Vec<_> = before.iter().filter(is_left).collect();
                prop_assert!(left.len() <= 1);
                for gone in left {
                    prop_assert!(now - gone.since >= GRACE, "a young connection was given up");
                    let of_peer = before.iter().filter(|seen| seen.peer == of).count();
                    prop_assert!(full || gone.peer == of && of_peer >= MOST_OF_A_PEER);
                    let better = |seen: &&Seen| {
                        let others = full || seen.peer == gone.peer;
                        others && !seen.has_asked && (gone.has_asked || seen.since < gone.since)
                    };
                    prop_assert!(!before.iter().any(|seen| better(&seen)), "another one is silent for longer");
                }
            }
        }
    }

    #[derive(Debug)]
    struct Seen {
        id: *const AtomicBool,
        peer: IpAddr,
        since: Instant,
        has_asked: bool,
    }

    fn seen(one: &Connection) -> Seen {
        let has_asked = one.has_asked.load(Ordering::Relaxed);
        Seen { id: Arc::as_ptr(&one.has_asked), peer: one.peer, since: one.since, has_asked }
    }

    #[tokio::test]
    async fn many_connections_at_once_are_all_answered_and_the_port_closes_with_the_task() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(serve(listener, router(), Arc::default()));
        let clients = (0..3 * MOST_CONNECTIONS)
            .map(|_| async move { exchange(TcpStream::connect(address).await.unwrap()).await });
        for answer in join_all(clients).await {
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        }
        server.abort();
        assert!(server.await.unwrap_err().is_cancelled());
        assert!(TcpStream::connect(address).await.is_err());
    }

    /// Connections that send nothing, half of a request, or never read the answer, of the same peer and of another one.
    #[tokio::test]
    async fn a_probe_is_answered_soon_whatever_other_clients_do() {
        // More than the network takes before anybody reads.
        let text = bytes::Bytes::from(vec![b'x'; 1 << 24]);
        let long = move || {
            let text = text.clone();
            router().route("/long", get(async move || text))
        };
        for (first, from) in
            [("", 1), ("GET / HTTP/1.1\r\nhos", 1), ("GET /long HTTP/1.1\r\n\r\n", 1), ("", 2)]
        {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = tokio::spawn(serve(listener, long(), Arc::default()));
            let mut others = Vec::new();
            for _ in 0..2 * MOST_CONNECTIONS {
                let socket = TcpSocket::new_v4().unwrap();
                socket.bind(([127, 0, 0, from], 0).into()).unwrap();
                let mut stream = socket.connect(address).await.unwrap();
                // One that was given up already takes nothing.
                let _ = stream.write_all(first.as_bytes()).await;
                others.push(stream);
            }
            let began = Instant::now();
            let answered = exchange(TcpStream::connect(address).await.unwrap()).await;
            assert!(answered.starts_with("HTTP/1.1 200 OK\r\n"), "{answered}");
            // The patience of a probe.
            assert!(
                began.elapsed() < Duration::from_secs(1),
                "{first:?}, of peer {from}: after {:?}",
                began.elapsed()
            );
            server.abort();
        }
    }
}
