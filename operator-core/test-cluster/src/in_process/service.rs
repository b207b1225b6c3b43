//! The server as the transport of a client.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use http::{Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use jiff::Timestamp;
use kube::{
    Client, Config,
    client::{Body, ConfigExt},
    discovery::{ApiResource, Scope},
};
use serde::Serialize;
use serde_json::Value;
use tower::{BoxError, Layer, Service};

use super::{
    Clock, Shared,
    api::Reply,
    audit, back_door,
    controllers::Controllers,
    failure::Failure,
    identity::User,
    read,
    request::Request,
    state::State,
    store::{Path, Resource},
    stream::WatchStream,
    warnings,
};
use crate::{
    audit::{AuditEvent, AuditReader},
    error::Error,
    impersonation::acting_as,
};

/// The body of an answer.
pub type ResponseBody = UnsyncBoxBody<Bytes, BoxError>;

/// Everything that a server knew at one time. Copies share the objects.
#[derive(Clone, Debug)]
pub struct Snapshot(State);

impl Snapshot {
    /// The `resourceVersion` of the newest change, which counts the changes.
    #[must_use]
    pub fn resource_version(&self) -> u64 {
        self.0.api.store.version()
    }
}

/// An API server inside the process: no network, no other process, no thread. Clones are the same server.
///
/// A request is answered completely at the first poll of its answer; only the lines of a watch come later. So the order
/// of polls is the order of writes, and the same order gives the same answers.
#[derive(Clone)]
pub struct InProcessServer {
    pub(super) shared: Arc<Shared>,
    /// The user of requests that name none.
    user: User,
}

impl fmt::Debug for InProcessServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.shared.state.lock().api.store.version();
        f.debug_struct("InProcessServer").field("resource_version", &version).finish_non_exhaustive()
    }
}

impl Default for InProcessServer {
    fn default() -> Self {
        Self::new()
    }
}

impl InProcessServer {
    /// A new, empty server, which uses the machine's clock for the times in its objects.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(machine_time)
    }

    /// A new, empty server, with another clock for the times in its objects.
    #[must_use]
    pub fn with_clock(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self::with_controllers(clock, Controllers::default())
    }

    /// A new, empty server, with another clock, whose controllers work as `controllers` specifies.
    #[must_use]
    pub fn with_controllers(
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        controllers: Controllers,
    ) -> Self {
        let state = State::new(clock(), controllers);
        Self::of_state(Box::new(clock), state)
    }

    fn of_state(clock: Clock, state: State) -> Self {
        Self { shared: Arc::new(Shared::new(clock, state)), user: User::default() }
    }

    /// A configuration for building clients that use this server as their transport. Its host can't be reached.
    #[must_use]
    pub fn config(&self) -> Config {
        Config::new(Uri::from_static("http://in-process.invalid"))
    }

    /// The same for another user, so that RBAC applies; for [`client_of`](Self::client_of).
    #[must_use]
    pub fn config_as(&self, user: &str, groups: &[&str]) -> Config {
        acting_as(self.config(), user, groups)
    }

    /// A client. Must be called inside a tokio runtime's context.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(self.clone(), "default")
    }

    /// A client with a changed [`config`](Self::config), of which the headers, the impersonated user and the namespace
    /// are used. Must be called inside a tokio runtime's context.
    ///
    /// # Errors
    /// If the impersonated user can't be made into a header.
    pub fn client_of(&self, config: Config) -> Result<Client, Error> {
        let who = config.extra_headers_layer().map_err(Error::kube("make a client"))?;
        Ok(Client::new(who.layer(self.clone()), config.default_namespace))
    }

    /// The same server for another user than its administrator, so that RBAC applies: to its requests and to those of
    /// its clients.
    ///
    /// The server adds `system:authenticated` to the `groups`, and for a service account
    /// (`system:serviceaccount:<namespace>:<name>`) also its groups.
    #[must_use]
    pub fn acting_as(&self, user: &str, groups: &[&str]) -> Self {
        Self { user: User::new(user, groups), ..self.clone() }
    }

    /// Lets the controllers take one step, if they work [`Controllers::Stepwise`]; returns whether there was one.
    pub fn step(&self) -> bool {
        self.shared.with(State::step)
    }

    /// The calls that were answered so far, oldest first, like [`ControlPlane::audit`](crate::ControlPlane::audit): a
    /// watch has two entries, one when it starts and one when it ends.
    #[must_use]
    pub fn audit(&self) -> Vec<AuditEvent> {
        self.shared.audit.all()
    }

    /// The calls that are answered from now on, for tests that read them repeatedly.
    #[must_use]
    pub fn audit_from_now(&self) -> AuditReader {
        self.shared.audit.starting_now()
    }

    /// Forgets the calls that were answered so far, for tests that measure what is kept. Readers of the audit log then
    /// miss the same number of later calls.
    pub fn forget_calls(&self) {
        self.shared.audit.forget();
    }

    /// An object as it is stored, without a request; `None` if there is none. The core group is the empty string.
    #[must_use]
    pub fn stored(
        &self,
        group: &str,
        plural: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Option<Arc<Value>> {
        let resource = Resource::new(group, plural);
        self.shared.with(|state| state.api.store.get(&resource, &Path::new(namespace, name)).cloned())
    }

    /// Serves a custom kind without its definition: with a status subresource, and objects of any content. Nothing
    /// changes if the kind is served already.
    ///
    /// A definition of the kind that is created later takes its place.
    pub fn serve(&self, kind: &ApiResource, scope: &Scope) {
        self.shared.with(|state| back_door::serve(&mut state.api.discovery, kind, scope));
    }

    /// Stores an object as it is: it isn't validated, admitted or completed, it may have a status, managed fields and
    /// a time of deletion, and no controller looks at it. It replaces an object of the same name. Watches see it.
    ///
    /// A missing uid or `resourceVersion` is added. Later changes get greater versions than the object has. Returns the
    /// object as it is stored.
    ///
    /// # Errors
    /// If the object can't be written as JSON, its kind isn't served, or its name or namespace is missing.
    pub fn store(&self, object: &impl Serialize) -> Result<Arc<Value>, Error> {
        let what = || "an object for the in-process server".to_owned();
        let object = serde_json::to_value(object).map_err(|source| Error::Json { what: what(), source })?;
        self.shared.with(|state| back_door::store(&mut state.api, object))
    }

    /// The same for an object that `manager` has just applied: what only a server sets is added where it is missing,
    /// which is its time of creation, its generation and managed fields.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn store_as(&self, manager: &str, object: &impl Serialize) -> Result<Arc<Value>, Error> {
        let what = || "an object for the in-process server".to_owned();
        let mut object =
            serde_json::to_value(object).map_err(|source| Error::Json { what: what(), source })?;
        self.shared.with(|state| back_door::complete(&state.api, manager, &mut object));
        self.store(&object)
    }

    /// Takes an object out of the store, whatever its finalizers, and returns it; `None` if there is none. Watches see it
    /// go.
    #[must_use]
    pub fn take(&self, group: &str, plural: &str, namespace: Option<&str>, name: &str) -> Option<Arc<Value>> {
        let resource = Resource::new(group, plural);
        self.shared.with(|state| state.api.store.remove(&resource, &Path::new(namespace, name)))
    }

    /// Stops serving all versions of a kind.
    pub fn withdraw(&self, kind: &ApiResource) {
        let resource = Resource::new(&kind.group, &kind.plural);
        self.shared.with(|state| state.api.discovery.withdraw(&resource));
    }

    /// Forgets all versions before the newest, as etcd does from time to time: lists and watches of older ones are
    /// answered with 410.
    pub fn compact(&self) {
        self.shared.state.lock().api.store.compact();
        self.shared.wake();
    }

    /// The `resourceVersion` of the newest change, which counts the changes.
    #[must_use]
    pub fn resource_version(&self) -> u64 {
        self.shared.with(|state| state.api.store.version())
    }

    /// Everything that the server knows now, to start again from there. The audit log is not included.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.shared.with(|state| Snapshot(state.clone()))
    }

    /// A separate server that continues from a snapshot.
    #[must_use]
    pub fn from_snapshot(
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        Snapshot(state): &Snapshot,
    ) -> Self {
        Self::of_state(Box::new(clock), state.clone())
    }

    /// Continues from a snapshot of a later state of this server. Watches see what has happened until then.
    pub fn skip_to(&self, Snapshot(state): &Snapshot) {
        self.shared.skip_to(state.clone());
        self.shared.wake();
    }

    /// Answers a request whose body has arrived.
    pub(super) fn answer(&self, request: &Request) -> Response<ResponseBody> {
        let mut event = audit::event(request);
        if self.shared.pressure.refuses() {
            self.shared.audit.note(AuditEvent { code: 429, ..event });
            return too_many();
        }
        let (reply, warnings) = self.reply(request);
        event.code = match &reply {
            Ok(Reply::Json(code, _)) => code.as_u16(),
            Ok(Reply::Typed(..) | Reply::Text(_) | Reply::Watch(_)) => 200,
            Err(failure) => failure.code().as_u16(),
        };
        let is_watch = matches!(reply, Ok(Reply::Watch(_)));
        let stage = if is_watch { "ResponseStarted" } else { "ResponseComplete" };
        self.shared.audit.note(AuditEvent { stage: stage.to_owned(), ..event.clone() });
        let mut answer = match reply {
            Ok(Reply::Json(code, body)) => response(code, JSON, full(body)),
            Ok(Reply::Typed(content_type, body)) => response(StatusCode::OK, content_type, full(body)),
            Ok(Reply::Text(text)) => plain(StatusCode::OK, text),
            Ok(Reply::Watch(watch)) => {
                let lines = WatchStream::new(Arc::clone(&self.shared), *watch, event);
                response(StatusCode::OK, JSON, StreamBody::new(lines).boxed_unsync())
            }
            Err(failure) => refused(&failure),
        };
        for warning in warnings::headers(&warnings) {
            answer.headers_mut().append(header::WARNING, warning);
        }
        answer
    }

    /// The user of a service account's token, if it is valid.
    pub(super) fn user_of(&self, token: &str) -> Option<User> {
        let user = |State { api, .. }: &mut State| api.rights.tokens.user(&api.store, token, &[], api.now);
        self.shared.with(user).map(|(user, _)| user)
    }

    /// The answer, and what it warns of.
    fn reply(&self, request: &Request) -> (Result<Reply, Failure>, Vec<String>) {
        self.shared.with(|state| state.answer(request))
    }
}

impl Service<http::Request<Body>> for InProcessServer {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let server = self.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await?;
            let mut request = Request::new(parts.method, &parts.uri, &parts.headers, body.into());
            request.sent_by(server.user.clone());
            if server.user != User::default() {
                // Who acts as somebody else without a socket is the administrator in truth.
                request.sender.get_or_insert_default();
            }
            Ok(server.answer(&request))
        }
        .boxed()
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
fn machine_time() -> Timestamp {
    Timestamp::now()
}

/// The answer to a request that is refused.
pub(super) fn refused(failure: &Failure) -> Response<ResponseBody> {
    match failure.body() {
        Some(body) => {
            let mut response = response(failure.code(), JSON, full(read::json(&body)));
            if let Some(seconds) = body["details"]["retryAfterSeconds"].as_u64() {
                response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            }
            response
        }
        None => plain(failure.code(), "404 page not found\n"),
    }
}

/// 429, as flow control answers.
fn too_many() -> Response<ResponseBody> {
    let text = "Too many requests, please try again later.\n";
    let mut response = plain(StatusCode::TOO_MANY_REQUESTS, text);
    response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    response
}

const JSON: &str = "application/json";

fn plain(code: StatusCode, text: &'static str) -> Response<ResponseBody> {
    response(code, "text/plain; charset=utf-8", full(text))
}

fn full(body: impl Into<Bytes>) -> ResponseBody {
    Full::new(body.into()).map_err(|never| match never {}).boxed_unsync()
}

fn response(code: StatusCode, content_type: &'static str, body: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response
}
