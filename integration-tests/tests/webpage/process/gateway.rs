//! A gateway between an operator's process and the API server. It speaks HTTP on both sides: it knows each request,
//! counts the writes, and can keep them back or hide their answers.
//!
//! ```text
//!   the operator's process ──HTTP──▶ Gateway ──TLS, as the cluster's administrator──▶ API server
//!                                       │
//!                                       └── stop_after, hold: what becomes of the writes
//! ```
//!
//! Writes pass one after the other, each until it is answered: when the last of a number is answered, exactly this
//! number is done, and no other write is in progress.

use std::{
    convert::Infallible,
    future::pending,
    net::{Ipv4Addr, SocketAddr},
};

use http::{HeaderMap, Method, Request, Response, header};
use http_body_util::BodyExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use integration_tests::prelude::*;
use kube::client::Body;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Mutex as Turn, watch},
    task::{JoinHandle, JoinSet},
};

/// An answered request.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) code: u16,
}

impl Sent {
    pub(crate) fn is_write(&self) -> bool {
        !self.method.is_safe()
    }
}

/// The fate of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    /// They pass.
    Open,
    /// They wait.
    Held,
    /// The last write that may pass has passed, and its answer is held back.
    Shut,
}

struct Shared {
    client: Client,
    gate: watch::Sender<Gate>,
    turn: Turn<()>,
    sent: Mutex<Vec<Sent>>,
    /// The number of the write after which the gate is shut.
    last: Mutex<Option<usize>>,
    /// How many writes have arrived and are not answered.
    waiting: AtomicUsize,
    /// How often the gate was opened anew. Earlier requests are a dead process's.
    life: AtomicUsize,
}

/// A running gateway; it ends when it is dropped.
pub(crate) struct Gateway {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
}

impl Gateway {
    /// Starts one that asks the API server as `client`.
    pub(crate) async fn start(client: Client) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            client,
            gate: watch::Sender::new(Gate::Open),
            turn: Turn::default(),
            sent: Mutex::default(),
            last: Mutex::default(),
            waiting: AtomicUsize::new(0),
            life: AtomicUsize::new(0),
        });
        let listening = tokio::spawn(listen(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, listening })
    }

    /// Where it listens, as in "http://127.0.0.1:4242".
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets this number of writes pass. The answer of the last one is held back, and nothing follows it.
    pub(crate) fn stop_after(&self, writes: usize) {
        *self.shared.last.lock() = Some(writes);
    }

    /// Resolves when the last write was answered.
    pub(crate) async fn is_shut(&self) {
        // The sender lives as long as the gateway.
        let _ = self.shared.gate.subscribe().wait_for(|gate| *gate == Gate::Shut).await;
    }

    /// Lets the writes of another process pass.
    pub(crate) fn reopen(&self) {
        *self.shared.last.lock() = None;
        self.shared.life.fetch_add(1, Ordering::SeqCst);
        self.shared.gate.send_replace(Gate::Open);
    }

    /// Makes writes wait, or lets the waiting ones pass.
    pub(crate) fn hold(&self, holds: bool) {
        self.shared.gate.send_replace(if holds { Gate::Held } else { Gate::Open });
    }

    /// How many writes have arrived and are not answered.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.waiting.load(Ordering::SeqCst)
    }

    /// The answered requests so far, in the order of the answers.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.shared.sent.lock().clone()
    }

    /// The writes among them.
    pub(crate) fn writes(&self) -> Vec<Sent> {
        self.sent().into_iter().filter(Sent::is_write).collect()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    // They end with the gateway.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        connections.spawn(serve(stream, Arc::clone(&shared)));
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let life = shared.life.load(Ordering::SeqCst);
    let answer = service_fn(move |request: Request<Incoming>| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(shared.answer(request, life).await) }
    });
    // A process that is killed breaks its connections.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

/// Counts a write as long as it lives.
struct Waiting<'s>(&'s AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>, life: usize) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let mut request = Request::new(Body::from(body.to_vec()));
        (*request.method_mut(), *request.uri_mut()) = (parts.method, parts.uri);
        *request.headers_mut() = passed(parts.headers);
        if request.method().is_safe() {
            return self.forward(request).await;
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _waiting = Waiting(&self.waiting);
        let _turn = self.turn.lock().await;
        let _ = self.gate.subscribe().wait_for(|gate| *gate == Gate::Open).await;
        if self.life.load(Ordering::SeqCst) != life {
            return pending().await;
        }
        let (mut parts, body) = self.forward(request).await.into_parts();
        // The answer is whole before anybody hears of it.
        let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        parts.headers.remove(header::CONTENT_LENGTH);
        let writes = self.sent.lock().iter().filter(|sent| sent.is_write()).count();
        if self.last.lock().is_some_and(|last| last <= writes) {
            self.gate.send_replace(Gate::Shut);
            return pending().await;
        }
        Response::from_parts(parts, Body::from(body.to_vec()))
    }

    async fn forward(&self, request: Request<Body>) -> Response<Body> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let mut response = match self.client.send(request).await {
            Ok(response) => response,
            Err(error) => {
                let mut response = Response::new(Body::from(error.to_string().into_bytes()));
                *response.status_mut() = http::StatusCode::BAD_GATEWAY;
                response
            }
        };
        let code = response.status().as_u16();
        self.sent.lock().push(Sent { method, path, code });
        *response.headers_mut() = passed(std::mem::take(response.headers_mut()));
        response
    }
}

/// The headers that go from end to end, and not from hop to hop.
fn passed(mut headers: HeaderMap) -> HeaderMap {
    for name in [header::HOST, header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING] {
        headers.remove(name);
    }
    headers
}
