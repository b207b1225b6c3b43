//! The server without the network: one request in, one answer out.
//!
//! # Guarantees
//! - An answer depends only on the state, the request and the time that is given with it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use super::{
    access,
    controllers::{Changes, Controllers},
    failure::Failure,
    identity,
    kinds::{Kind, Kinds},
    read::json,
    request::{Representation, Request, Route, Target},
    rights::Asker,
    sizes,
    steps::{Pace, Steps},
    store::{Path, Store},
    watch::WatchStart,
    write::subresources::Tokens,
};

/// The answer.
#[derive(Debug)]
pub(super) enum Reply {
    /// A JSON body.
    Json(StatusCode, Bytes),
    /// A JSON body of another type.
    Typed(&'static str, Bytes),
    /// Plain text.
    Text(&'static str),
    /// Lines, for as long as the watch lasts.
    Watch(Box<WatchStart>),
}

impl Reply {
    /// 200 with a body that is already JSON.
    pub(super) fn ok(body: Bytes) -> Self {
        Self::Json(StatusCode::OK, body)
    }

    /// 200 with a value.
    pub(super) fn value(body: &Value) -> Self {
        Self::ok(json(body))
    }
}

/// Everything that the server knows. A copy shares the objects, which never change.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) store: Store,
    pub(super) kinds: Kinds,
    pub(super) counters: Counters,
    /// The time of the request that is being answered.
    pub(super) now: Timestamp,
    /// What has changed since the server's own controllers last ran.
    pub(super) changed: Changes,
    pub(super) controllers: Controllers,
    /// What the answer to the current request warns of.
    pub(super) warnings: Vec<String>,
    /// Whether definitions may have parts that can't be checked.
    pub(super) lenient: bool,
    /// Whether new pods get an account and its token.
    pub(super) service_accounts: bool,
    /// The tokens of service accounts.
    pub(super) tokens: Tokens,
    /// What the controllers still have to look at.
    pub(super) steps: Steps,
    /// Who makes the request that is being answered.
    pub(super) asker: Asker,
}

/// The counters for values that a real server draws at random.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    uids: u64,
    names: u64,
    pub(super) addresses: u32,
    pub(super) ports: u32,
}

impl Counters {
    /// The next uid, and those after it.
    pub(super) fn uid(&mut self) -> String {
        let uid = self.next_uid();
        self.uids += 1;
        uid
    }

    /// The next uid, which is given to an object only if nothing is wrong with it.
    pub(super) fn next_uid(&self) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.uids + 1)
    }

    /// The next suffix of a generated name: five letters and digits without vowels, as in the real server.
    pub(super) fn suffix(&mut self) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        self.names += 1;
        let mut rest = self.names;
        let mut suffix = [b'b'; 5];
        for place in suffix.iter_mut().rev() {
            let base = LETTERS.len() as u64;
            *place = LETTERS[usize::try_from(rest % base).unwrap_or_default()];
            rest /= base;
        }
        suffix.into_iter().map(char::from).collect()
    }
}

impl State {
    /// A server as it is right after its start.
    pub(super) fn new(now: Timestamp, controllers: Controllers) -> Self {
        let mut state = Self {
            store: Store::default(),
            kinds: Kinds::builtin(),
            counters: Counters::default(),
            now,
            changed: Changes::default(),
            controllers: Controllers::Off,
            warnings: Vec::new(),
            lenient: false,
            service_accounts: false,
            tokens: Tokens::default(),
            steps: Steps::default(),
            asker: Asker::default(),
        };
        state.set_controllers(controllers);
        state.make_first_rights();
        state.make_first_namespaces();
        state.make_node();
        state.settle();
        state
    }

    /// When the controllers work from now on.
    pub(super) fn set_controllers(&mut self, controllers: Controllers) {
        self.controllers = controllers;
        self.steps.pace = match controllers {
            Controllers::Within(most) => Pace::Within(most),
            _ => Pace::AtOnce,
        };
        if controllers == Controllers::AtOnce {
            self.steps.hurry();
        }
    }

    /// When the controllers have something to do next.
    pub(super) fn next_due(&self) -> Option<Duration> {
        let works = matches!(self.controllers, Controllers::AtOnce | Controllers::Within(_));
        self.steps.next_due().filter(|_| works)
    }

    /// Answers one request.
    pub(super) fn answer(&mut self, request: &Request) -> Result<Reply, Failure> {
        self.authorize(request)?;
        match &request.route {
            Route::Objects(target) => {
                self.asker = Asker::of(request);
                let reply = self.answer_objects(request, target);
                self.asker = Asker::default();
                self.settle();
                reply
            }
            Route::Unknown if MISSING_PATHS.iter().any(|path| request.uri.starts_with(path)) => {
                Err(Failure::not_modelled(format_args!("the path {}", request.uri)))
            }
            Route::Unknown => Err(Failure::Page),
            route => match (request.method.as_str(), request.representation) {
                ("GET", _) if request.aggregated && matches!(route, Route::CoreVersions | Route::Groups) => {
                    Ok(self.discover_together(route))
                }
                ("GET", Representation::Whole) => self.discover(route),
                ("GET", _) => Err(not_acceptable()),
                _ => Err(Failure::method()),
            },
        }
    }

    pub(super) fn answer_objects(&mut self, request: &Request, target: &Target) -> Result<Reply, Failure> {
        if target.group == access::REVIEWS && target.plural == "selfsubjectrulesreviews" {
            return self.review_rules(request);
        }
        if target.group == access::REVIEWS {
            return self.review(request, target);
        }
        if target.group.is_empty() && target.plural == "bindings" && request.method == Method::POST {
            return self.bind_in(request, target);
        }
        if target.group == identity::AUTHENTICATION && target.plural == "tokenreviews" {
            return self.review_token(request);
        }
        if target.group == identity::AUTHENTICATION {
            return self.review_self(request, target);
        }
        let kind = self.kinds.find(target)?;
        self.warnings.extend(self.deprecation(&kind));
        let nowhere = || if kind.is_custom() { Failure::Page } else { Failure::no_resource() };
        if target.namespace.is_some() && !kind.namespaced {
            return Err(nowhere());
        }
        match request.representation {
            Representation::Other => return Err(not_acceptable()),
            Representation::Table => return self.answer_with_table(request, target),
            _ => {}
        }
        sizes::read(&request.body)?;
        let Some(name) = &target.name else { return self.answer_collection(request, &kind, target) };
        if kind.namespaced && target.namespace.is_none() {
            return Err(nowhere());
        }
        let path = Path::new(target.namespace.as_deref(), name);
        match target.subresource.as_deref() {
            None => {}
            Some("status") if kind.status => {}
            Some("scale") if kind.scale.is_some() => return self.subresource(request, &kind, &path, "scale"),
            Some(_) if kind.is_custom() => return Err(Failure::not_found(&kind, name)),
            Some("status") => return Err(Failure::no_resource()),
            Some(other) => return self.subresource(request, &kind, &path, other),
        }
        match request.method {
            Method::GET => self.get(request, &kind, &path),
            Method::PUT => self.replace(request, &kind, &path),
            Method::PATCH => self.patch(request, &kind, &path),
            Method::DELETE if target.subresource.is_none() => self.delete(request, &kind, &path),
            Method::DELETE if kind.is_custom() => Err(Failure::unsupported(&kind, "delete")),
            _ => Err(Failure::method()),
        }
    }

    fn answer_collection(
        &mut self,
        request: &Request,
        kind: &Arc<Kind>,
        target: &Target,
    ) -> Result<Reply, Failure> {
        match request.method {
            Method::GET if request.query.is_true("watch") => self.watch(request, kind, target),
            Method::GET => self.list(request, kind, target),
            Method::POST if kind.namespaced && target.namespace.is_none() => Err(Failure::method()),
            Method::POST => self.create(request, kind, target.namespace.as_deref()),
            Method::DELETE if kind.namespaced && target.namespace.is_none() => Err(Failure::method()),
            Method::DELETE if kind.is_namespace() => Err(Failure::method()),
            Method::DELETE => self.delete_collection(request, kind, target),
            _ => Err(Failure::method()),
        }
    }
}

/// Paths of the real server that lead to no objects, and are not supported here.
const MISSING_PATHS: [&str; 5] = ["/metrics", "/logs", "/debug", "/.well-known", "/openid"];

/// 406.
fn not_acceptable() -> Failure {
    let message = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
                   application/vnd.kubernetes.protobuf";
    Failure::new(406, "NotAcceptable", message).with(serde_json::json!({}))
}
