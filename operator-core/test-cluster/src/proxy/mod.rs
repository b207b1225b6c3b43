//! A proxy in front of the API server for what lies below HTTP: connections that fall silent, break, stall or are
//! refused.
//!
//! ```text
//!   client ──TLS──▶ Proxy (127.0.0.1, a port of its own) ──the same bytes──▶ API server
//!                      │
//!                      └── freeze, reset, refuse, delay, close_after: what the test wants to happen
//! ```
//!
//! It passes bytes on and understands none of them: TLS goes through it from end to end, and so does whoever the client
//! is. Faults of requests and answers are not its business; a layer of the client is for those. Clients of kube speak
//! HTTP/1.1, in which there is no such thing as GOAWAY.
//!
//! # Guarantees
//! - A frozen connection stays open on both sides and carries nothing any more, in either direction. Connections that
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
    /// Starts a proxy for the API server of `plane`, which does nothing yet but pass everything on.
    ///
    /// # Errors
    /// When there is no free port, or when the API server's address can't be found.
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

    /// How many connections are open, frozen ones included.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.state.open.lock().fates.len()
    }

    /// How many connections were made since the start, those included that were refused.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.state.open.lock().accepted
    }

    /// Lets the connections that are open now carry nothing any more without closing them, as when a machine in between
    /// forgets them: half-open connections. Returns how many there are.
    pub fn freeze(&self) -> usize {
        self.tell(Fate::Frozen)
    }

    /// Breaks the connections that are open now, frozen ones included, with RST. Returns how many there are.
    pub fn reset(&self) -> usize {
        self.tell(Fate::Reset)
    }

    /// Breaks each new connection as soon as it is made, until it is told otherwise.
    pub fn refuse(&self, refuses: bool) {
        *self.state.refuses.lock() = refuses;
    }

    /// Closes each connection that is made from now on when so many bytes of answers have passed, wherever in an answer
    /// that is; `None` for never. The handshake of TLS counts, too: some two thousand bytes.
    pub fn close_after(&self, bytes: Option<u64>) {
        self.state.rules.lock().close_after = bytes;
    }

    /// Holds each piece of an answer back for so long, also on the connections that are open.
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
