//! The one task of the listener: it accepts connections, answers them, and keeps the metrics in order.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use futures::{StreamExt, stream::FuturesUnordered};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::MissedTickBehavior,
};

use crate::metrics::PrometheusMetrics;

/// Connections beyond this number wait until one of them has ended.
const MOST_CONNECTIONS: usize = 64;

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
    let mut connections = FuturesUnordered::new();
    let mut upkeep = tokio::time::interval(UPKEEP);
    upkeep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = upkeep.tick() => metrics.upkeep(),
            Some(()) = connections.next() => {}
            stream = accept(&listener), if connections.len() < MOST_CONNECTIONS => {
                connections.push(answer(stream, router.clone()));
            }
        }
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
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
async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin, router: Router) {
    let connection = http1::Builder::new()
        // Probes and scrapes are seconds apart: a connection that stays open would only take a place.
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A client that disconnects, sends nonsense or is too slow is nobody's concern here.
    let _ = tokio::time::timeout(CONNECTION_DEADLINE, connection).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use futures::future::join_all;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
        time::Instant,
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
        let (answered, ()) = futures::join!(exchange(client), answer(server, router()));
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
        answer(server, router()).await;
        assert_eq!(before.elapsed(), CONNECTION_DEADLINE);
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
}
