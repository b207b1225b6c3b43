//! A proxy in front of the API server for faults below HTTP: connections that fall silent, break, stall or are refused.
//!
//! ```text
//!   client ──TLS──▶ Proxy (127.0.0.1, a port of its own) ──the same bytes──▶ API server
//!                      │
//!                      └── freeze, reset, refuse, delay, close_after: what the test wants to happen
//! ```
//!
//! It passes bytes on without interpreting them: TLS goes through it from end to end, and so does the client's
//! identity. Faults of requests and answers are left to a layer of the client. kube's clients use HTTP/1.1, which has
//! no GOAWAY.
//!
//! # Guarantees
//! - A frozen connection stays open on both sides and passes on nothing any more, in either direction. Connections that
//!   are made later are not frozen.
//! - A reset connection ends with RST, not with FIN.
//! - All connections end when the proxy is dropped.
//!
//! # Assumptions
//! - It lives on the runtime of the test that started it.

mod connection;

use std::{
    collections::BTreeMap,
    fmt, io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use http::{Uri, uri};
use parking_lot::Mutex;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

use crate::{control_plane::ControlPlane, error::Error};
use connection::{Fate, Rules};

/// A proxy for the connections to one API server.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use test_cluster::{ControlPlane, Proxy};
///
/// let plane = ControlPlane::builder().start().await?;
/// let proxy = Proxy::start(&plane).await?;
/// let client = kube::Client::try_from(proxy.config())?;
/// // … and when the client's watches are open:
/// proxy.freeze();
/// # drop(client);
/// # Ok(())
/// # }
/// ```
pub struct Proxy {
    config: kube::Config,
    address: SocketAddr,
    state: Arc<State>,
    listening: JoinHandle<()>,
}

/// What the connections of a proxy share.
#[derive(Default)]
struct State {
    rules: Mutex<Rules>,
    refuses: Mutex<bool>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// How many there were.
    accepted: u64,
    fates: BTreeMap<u64, watch::Sender<Fate>>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Proxy {
    /// Starts a proxy for the API server of `plane`, which at first only passes everything on.
    ///
    /// # Errors
    /// If there is no free port, or the API server's address can't be found.
    pub async fn start(plane: &ControlPlane) -> Result<Self, Error> {
        let config = plane.config();
        let server = address_of(&config.cluster_url).await.map_err(Error::io("find the API server"))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.map_err(Error::io("find a free port for the proxy"))?;
        let address = listener.local_addr().map_err(Error::io("find the proxy's port"))?;
        let state = Arc::<State>::default();
        let listening = tokio::spawn(listen(listener, server, Arc::clone(&state)));
        Ok(Self { config, address, state, listening })
    }

    /// How to reach the API server through the proxy as a cluster administrator.
    #[must_use]
    pub fn config(&self) -> kube::Config {
        self.through(self.config.clone())
    }

    /// The same for any other configuration for that API server, for example [`ControlPlane::config_as`].
    #[must_use]
    pub fn through(&self, mut config: kube::Config) -> kube::Config {
        // The certificate is for the server's own name.
        let server_name = config.cluster_url.host().map(str::to_owned);
        config.tls_server_name = config.tls_server_name.or(server_name);
        let mut parts = uri::Parts::from(config.cluster_url.clone());
        parts.authority = self.address.to_string().parse().ok();
        config.cluster_url = Uri::from_parts(parts).unwrap_or(config.cluster_url);
        config
    }

    /// The number of open connections, including frozen ones.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.state.open.lock().fates.len()
    }

    /// The number of connections since the start, including those that were refused.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.state.open.lock().accepted
    }

    /// Freezes the connections that are open now: they pass on nothing any more and stay open, as if a machine in
    /// between forgets them: half-open connections. Returns their number.
    pub fn freeze(&self) -> usize {
        self.tell(Fate::Frozen)
    }

    /// Breaks the connections that are open now, including frozen ones, with RST. Returns their number.
    pub fn reset(&self) -> usize {
        self.tell(Fate::Reset)
    }

    /// Breaks each new connection as soon as it is made, until this is switched off.
    pub fn refuse(&self, refuses: bool) {
        *self.state.refuses.lock() = refuses;
    }

    /// Closes each connection that is made from now on after this number of bytes of answers, at any point of an
    /// answer; `None` for never. The TLS handshake counts, too: about two thousand bytes.
    pub fn close_after(&self, bytes: Option<u64>) {
        self.state.rules.lock().close_after = bytes;
    }

    /// Delays each piece of an answer by this time, even on connections that are already open.
    pub fn delay(&self, delay: Duration) {
        self.state.rules.lock().delay = delay;
    }

    fn tell(&self, fate: Fate) -> usize {
        let open = self.state.open.lock();
        for connection in open.fates.values() {
            connection.send_replace(fate);
        }
        open.fates.len()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
        self.reset();
    }
}

async fn address_of(url: &Uri) -> io::Result<SocketAddr> {
    let missing = || io::Error::other("its url names no host");
    let host = url.host().ok_or_else(missing)?.trim_matches(['[', ']']);
    let port = url.port_u16().unwrap_or(if url.scheme_str() == Some("http") { 80 } else { 443 });
    tokio::net::lookup_host((host, port)).await?.next().ok_or_else(missing)
}

async fn listen(listener: TcpListener, server: SocketAddr, state: Arc<State>) {
    // A connection that was given up before it was accepted is no reason to stop.
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        let state = Arc::clone(&state);
        let (fate, told) = watch::channel(if *state.refuses.lock() { Fate::Reset } else { Fate::Open });
        let number = {
            let mut open = state.open.lock();
            open.accepted += 1;
            let number = open.accepted;
            open.fates.insert(number, fate);
            number
        };
        tokio::spawn(async move {
            connect(client, server, &state, told).await;
            state.open.lock().fates.remove(&number);
        });
    }
}

async fn connect(client: TcpStream, server: SocketAddr, state: &State, fate: watch::Receiver<Fate>) {
    match TcpStream::connect(server).await {
        Ok(server) => connection::carry(client, server, &state.rules, fate).await,
        // What the client would have met without a proxy.
        Err(_) => connection::break_off(&client),
    }
}
