//! The operator's connections to the API server, all made in one place.
//!
//! ```text
//! kube's transport (TLS, authentication; its own retry off), or a server inside the process
//!   └─ fence                      closed when the operator has stopped; to writes, when it doesn't lead
//!        └─ the user's transport hooks: faults, request logs; above them the measurement of each request
//!             └─ the caller: user agent and other headers, impersonation
//!                  ├─ deadline ─ budget               `direct`
//!                  └─ budget ─ retry ─ deadline       `reads`
//! ```
//!
//! The budget exists only if one was set; every request but a watch has a deadline.
//!
//! # Guarantees
//! - A write is sent once. kube's default client repeats any method, POST too, up to 15 times; if a write took effect
//!   and was answered with 504, the repetition is a second write.
//! - Every request but a watch or a followed log ends within `REQUEST_DEADLINE`, 30 seconds, with an answer or an
//!   error, and so does each attempt of a read, of which none begins after a minute; a list ends after a minute of
//!   silence. If there is a budget, the time begins when the budget lets the request go: a write that was never sent
//!   doesn't end like one whose outcome is unknown, and a read doesn't end before its turn.
//! - All clients share one budget, those for other clusters too, and each attempt of a read counts. A watch neither
//!   counts nor waits.
//! - The transport hook sees each attempt of a request, below any retry.
//! - After [`Clients::close`] no request is sent any more, even if a client is still in use.
//! - If an operator takes part in a leader election, no write is sent outside of its term. Each write checks the clock
//!   itself, when it is sent and whenever it could go on.
//! - The lease has a separate client: a used-up budget, a retry or delayed writes don't delay it.

mod answer;
mod budget;
mod deadline;
mod error;
mod fence;
mod hook;
mod kubeconfig;
mod measure;
mod retry;
mod term;
#[cfg(test)]
mod tests;
pub(crate) mod verb;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder, ConfigExt, DynBody},
    config::AuthInfo,
};
use tower::{
    BoxError, Layer, ServiceExt,
    layer::layer_fn,
    util::{BoxService, MapRequestLayer},
};
use tracing::{Dispatch, instrument::WithSubscriber};

use crate::environment::{Clock, Environment};

pub(crate) use answer::{exchange, is_end_of, is_not_served};
pub use budget::RequestBudget;
use budget::Turns;
pub(crate) use deadline::LongAnswer;
use deadline::within;
pub use error::Error;
pub(crate) use fence::Closed;
use fence::Fence;
#[cfg(feature = "testing")]
pub(crate) use hook::Answer;
pub use hook::Inner;
use kubeconfig::authorizing;
pub use kubeconfig::from_kubeconfig;
pub(crate) use kubeconfig::{infer, names_namespace};
pub(crate) use measure::measuring;
use retry::repeating;
pub(crate) use retry::retry_after;
pub(crate) use term::Term;
#[cfg(feature = "testing")]
pub(crate) use verb::ResourcePath;

/// How long any request but a watch or a list may take, including reading its answer.
pub(crate) const REQUEST_DEADLINE: Duration = Duration::from_secs(30);

/// How long a list may be silent, before its answer begins and in the middle of it. As long as more data arrives it may
/// take as long as it needs.
pub(crate) const LIST_SILENCE: Duration = Duration::from_secs(60);

/// The body of an answer on its way through the layers.
pub type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

/// The service below the operator's own layers: takes a request and answers it, once.
pub type Transport = BoxService<Request<Body>, Response<ResponseBody>, BoxError>;

/// Wraps the transport of every client that an operator builds, for example to count requests or to inject faults; or
/// replaces the network.
#[derive(Clone)]
pub struct TransportHook(Hook);

#[derive(Clone)]
enum Hook {
    Around(Arc<dyn Fn(Transport) -> Transport + Send + Sync>),
    Server(Arc<dyn Fn() -> Transport + Send + Sync>),
}

impl TransportHook {
    /// A hook that applies `wrap` to each transport.
    pub fn new(wrap: impl Fn(Transport) -> Transport + Send + Sync + 'static) -> Self {
        Self(Hook::Around(Arc::new(wrap)))
    }

    /// A hook that answers requests instead of the network, below all other hooks and below the fence that ends an
    /// operator's requests. A request arrives with the headers of its configuration, including those of an
    /// impersonation.
    pub fn server(transport: impl Fn() -> Transport + Send + Sync + 'static) -> Self {
        Self(Hook::Server(Arc::new(transport)))
    }

    fn server_transport(&self) -> Option<Transport> {
        match &self.0 {
            Hook::Server(transport) => Some(transport()),
            Hook::Around(_) => None,
        }
    }
}

debug_of!(TransportHook: "TransportHook");

/// The clients of one operator.
#[derive(Clone)]
pub struct Clients {
    /// For reads: a request that is answered with 429, 503 or 504 is retried.
    pub reads: Client,
    /// For writes, lists and watches: each request is sent once, and the caller decides what to do next.
    pub direct: Client,
    fence: Fence,
    turns: Option<Arc<Turns>>,
    /// The last hook for other clusters.
    pub(crate) measures: Option<TransportHook>,
}

debug_of!(Clients: "Clients", |it| default_namespace: it.reads.default_namespace());

impl Clients {
    /// Builds the clients for `config`. The innermost of `hooks` is the first. The `environment` provides the time by
    /// which the `budget` counts, and the random delays before reads are repeated.
    ///
    /// # Errors
    /// If the configuration's certificates or credentials can't be used.
    pub fn new(
        config: &Config,
        hooks: &[TransportHook],
        budget: Option<RequestBudget>,
        environment: &Environment,
    ) -> Result<Self, Error> {
        Self::in_term(config, hooks, budget, environment, None)
    }

    /// The same for an operator that may write only during that term, if one is given.
    pub(crate) fn in_term(
        config: &Config,
        hooks: &[TransportHook],
        budget: Option<RequestBudget>,
        environment: &Environment,
        term: Option<Term>,
    ) -> Result<Self, Error> {
        let clock = environment.clock();
        let fence = Fence::new(term, *clock);
        let turns = budget.map(|budget| Turns::new(budget, *clock));
        let timed = || Ok::<_, Error>(once(transport(config, hooks, &fence)?, turns.as_ref()));
        // The deadline of each attempt begins with its turn: waiting for the turn says nothing about the server.
        let reads = timed()?.with_layer(&layer_fn(|timed| repeating(timed, environment.jitter()))).build();
        Ok(Self { reads, direct: timed()?.build(), fence, turns, measures: None })
    }

    /// A client for lists and watches in another cluster, which stops with these and shares their budget.
    pub(crate) fn elsewhere(&self, config: &Config, hooks: &[TransportHook]) -> Result<Client, Error> {
        let hooks: Vec<_> = hooks.iter().chain(&self.measures).cloned().collect();
        Ok(once(transport(config, &hooks, &self.fence)?, self.turns.as_ref()).build())
    }

    /// Stops sending. Requests that were sent before may still be answered.
    pub fn close(&self) {
        self.fence.close();
    }

    /// When writes may be sent, if that isn't always.
    pub(crate) fn term(&self) -> Option<&Term> {
        self.fence.term()
    }
}

/// A client for another server than the API server: no hook is meant for it. Nothing is logged of its requests, whose paths may be
/// secret.
pub(crate) fn apart(server: &Uri, clock: &Clock) -> Result<Client, Error> {
    let silently =
        |request, inner: Inner| async move { inner.send(request).with_subscriber(Dispatch::none()).await };
    let silent = layer_fn(|transport| hook::layer(transport, Arc::new(silently)));
    let mut config = Config::new(server.clone());
    // There may be no authorities on this machine, and none are needed.
    config.root_cert = (server.scheme_str() == Some("http")).then(Vec::new);
    Ok(transport(&config, &[], &Fence::new(None, *clock))?.with_layer(&silent).build())
}

/// A transport that sends each request once, in its turn and with its deadline.
fn once(transport: ClientBuilder<Transport>, turns: Option<&Arc<Turns>>) -> ClientBuilder<Transport> {
    transport.with_layer(&layer_fn(|transport| {
        let timed = within(transport, REQUEST_DEADLINE, LIST_SILENCE);
        match turns {
            Some(turns) => turns.before(timed),
            None => timed,
        }
    }))
}

/// Marks the requests about the lease, for code that observes what an operator does for its primaries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForElection;

/// A separate client for the lease: without budget, retry and deadline, because its user has a deadline for each
/// request.
pub(crate) struct LeaseClient {
    pub(crate) client: Client,
    fence: Fence,
}

impl LeaseClient {
    pub(crate) fn new(config: &Config, hooks: &[TransportHook], clock: &Clock) -> Result<Self, Error> {
        let fence = Fence::new(None, *clock);
        let marked = MapRequestLayer::new(|mut request: Request<Body>| {
            request.extensions_mut().insert(ForElection);
            request
        });
        Ok(Self { client: transport(config, hooks, &fence)?.with_layer(&marked).build(), fence })
    }

    /// Sends nothing from now on.
    pub(crate) fn close(&self) {
        self.fence.close();
    }
}

debug_of!(LeaseClient: "LeaseClient");

fn transport(
    config: &Config,
    hooks: &[TransportHook],
    fence: &Fence,
) -> Result<ClientBuilder<Transport>, Error> {
    let invalid = |source| Error::Configuration(Box::new(source));
    let mut config = config.clone();
    config.default_retry = false;
    // The hooks see the headers of the caller: they may answer themselves, or tell callers apart.
    let who = config.extra_headers_layer().map_err(invalid)?;
    config.headers.clear();
    let nobody = AuthInfo { impersonate: None, impersonate_uid: None, ..config.auth_info };
    config.auth_info = AuthInfo { impersonate_groups: None, impersonate_user_extra: None, ..nobody };
    let authorized = authorizing(&mut config.auth_info);
    // A server needs no network: neither connections nor the certificates that this machine trusts.
    let server = hooks.iter().rev().find_map(TransportHook::server_transport);
    let builder = match server {
        Some(server) => ClientBuilder::new(server, config.default_namespace),
        None => ClientBuilder::try_from(config).map_err(invalid)?.with_layer(&layer_fn(move |service| {
            let answering =
                ServiceExt::<Request<Body>>::map_response(service, |response: Response<Box<DynBody>>| {
                    response.map(BodyExt::boxed_unsync)
                });
            BoxService::new(answering.map_request(authorized.clone()))
        })),
    };
    Ok(builder.with_layer(&layer_fn(|server| {
        let around = hooks.iter().filter(|hook| matches!(hook.0, Hook::Around(_)));
        let hooked = around.fold(fence.wrap(server), |inner, hook| hook.wrap(inner));
        BoxService::new(who.layer(hooked))
    })))
}
