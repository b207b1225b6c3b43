//! The view of the operator from outside: `/metrics`, `/healthz` and `/readyz`, off unless an address is given.
//!
//! ```text
//! HttpListener ─serve─▶ one task ─▶ connections ─▶ routes ─▶ Running: probes
//!                          └ upkeep of the histograms   └──▶ PrometheusMetrics
//! ```
//!
//! # Guarantees
//! - The listener is bound before the controllers start: the operator doesn't start if the port is taken, and
//!   it is closed when `stop` returns. While runs are drained it answers: alive, and not ready.
//! - Probes read what is known anyway. They neither wait for the event path nor send anything through it.
//! - All connections live in one task, and end with it.
//!
//! # Assumptions
//! - Anyone who can reach the address may read it: there is no authentication, and nothing secret.

mod connections;
mod probes;
mod routes;

use std::{
    net::SocketAddr,
    sync::{Arc, Weak},
};

use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::{Error, Operator, OperatorBuilder, lifecycle::Running};
use crate::{
    environment::Environment,
    metrics::{PrometheusMetrics, Recorders},
};

/// The data that an operator with an HTTP address keeps for it.
#[derive(Debug)]
pub(super) struct HttpConfig {
    pub(super) address: SocketAddr,
    pub(super) metrics: Arc<PrometheusMetrics>,
}

impl HttpConfig {
    /// Adds a recorder for `/metrics` to those of the operator.
    pub(super) fn new(address: SocketAddr, recorders: &mut Recorders) -> Self {
        let metrics = Arc::new(PrometheusMetrics::default());
        recorders.served = Some(Arc::clone(&metrics.recorder) as _);
        Self { address, metrics }
    }
}

impl OperatorBuilder {
    /// Serves `/metrics`, `/healthz` and `/readyz` at this address, for example `([0, 0, 0, 0], 8080).into()`; without
    /// it there is no listener. With port 0 the system chooses a free one, which [`Operator::http_address`] returns.
    ///
    /// The metrics at `/metrics` are those of this operator alone; the recorder of [`OperatorBuilder::metrics`] gets
    /// them as well.
    ///
    /// Needs the feature `http`, which is on by default.
    pub fn http_address(mut self, address: SocketAddr) -> Self {
        self.http_address = Some(address);
        self
    }

    /// Without the listener: only a separate process can have one.
    #[cfg(feature = "testing")]
    pub(crate) fn without_listener(mut self) -> Self {
        self.http_address = None;
        self
    }
}

impl Operator {
    /// The address that serves `/metrics`, `/healthz` and `/readyz`; `None` without an address, and while the operator
    /// isn't running. Needs the feature `http`.
    pub async fn http_address(&self) -> Option<SocketAddr> {
        self.running().await?.http.as_ref().map(|server| server.address)
    }
}

/// A port that is bound, but not answered yet.
pub(super) struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
    metrics: Arc<PrometheusMetrics>,
}

impl HttpListener {
    pub(super) async fn bind(config: &HttpConfig) -> Result<Self, Error> {
        let failed = |source| Error::Http { address: config.address, source };
        let listener = TcpListener::bind(config.address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, metrics: Arc::clone(&config.metrics) })
    }

    /// Answers for `running` until the server is dropped.
    pub(super) fn serve(self, running: Weak<Running>, environment: &Environment) -> HttpServer {
        let Self { listener, address, metrics } = self;
        tracing::info!(%address, "serving /metrics, /healthz and /readyz");
        let router = routes::router(running, Arc::clone(&metrics));
        let task = environment.spawn("http", connections::serve(listener, router, metrics));
        HttpServer { address, task: AbortOnDropHandle::new(task) }
    }
}

/// A listener that answers. Dropping it closes the port.
#[derive(Debug)]
pub(super) struct HttpServer {
    pub(super) address: SocketAddr,
    task: AbortOnDropHandle<()>,
}

impl HttpServer {
    /// Closes the port; connections end with it.
    pub(super) fn close(&self) {
        self.task.abort();
    }
}
