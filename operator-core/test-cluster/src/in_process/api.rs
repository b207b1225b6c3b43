//! The API server without the network: one request in, one answer out.
//!
//! ```text
//!  request ─▶ rights: may it? ─▶ discovery: what is asked for ─▶ reads ──────────────────▶ store
//!                                                             └▶ writes: rights, admission ─┘ │ what has changed
//!                                                                                             ▼
//!                                                                                        controllers
//! ```
//!
//! Each part owns what it knows. What concerns several of them, such as a write, is a function that takes the whole.
//!
//! # Guarantees
//! - An answer depends only on the state, the request and the time that is given with it.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use super::{
    access::{self, authorize, review},
    addresses::Addresses,
    admission::Admission,
    controllers::Changes,
    deprecated::deprecation,
    discovery::Discovery,
    failure::Failure,
    identity::{self, review_self},
    kinds::Kind,
    namespaces::make_first_namespaces,
    read::{self, json},
    request::{Representation, Request, Route, Target},
    rights::{self, Rights, review_rules},
    sizes,
    store::{Path, Store},
    tables::answer_with_table,
    watch::{self, WatchStart},
    write::{
        self,
        subresources::{bind_in, review_token, subresource},
    },
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

/// What an API server knows. A copy shares the objects, which never change.
#[derive(Clone, Debug)]
pub(super) struct ApiServer {
    pub(super) store: Store,
    pub(super) discovery: Discovery,
    pub(super) rights: Rights,
    pub(super) admission: Admission,
    pub(super) addresses: Addresses,
    pub(super) counters: Counters,
    /// The time of the request that is being answered.
    pub(super) now: Timestamp,
    /// What has changed since the controllers last ran.
    pub(super) changed: Changes,
    /// What the answer to the current request warns of.
    pub(super) warnings: Vec<String>,
}

/// The counters for values that a real server draws at random.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    uids: u64,
    names: u64,
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

impl ApiServer {
    /// A server as it is right after its start; `aggregates` says that roles consist of others already.
    pub(super) fn new(now: Timestamp, aggregates: bool) -> Self {
        let mut api = Self {
            store: Store::default(),
            discovery: Discovery::builtin(),
            rights: Rights::default(),
            admission: Admission::default(),
            addresses: Addresses::default(),
            counters: Counters::default(),
            now,
            changed: Changes::default(),
            warnings: Vec::new(),
        };
        api.store.start_with(&rights::first(now, aggregates));
        make_first_namespaces(&mut api);
        api
    }

    /// Answers one request.
    pub(super) fn answer(&mut self, request: &Request) -> Result<Reply, Failure> {
        self.warnings.clear();
        authorize(&self.store, request)?;
        match &request.route {
            Route::Objects(target) => {
                self.rights.begin(request);
                let reply = self.answer_objects(request, target);
                self.rights.end();
                reply
            }
            Route::Unknown if MISSING_PATHS.iter().any(|path| request.uri.starts_with(path)) => {
                Err(Failure::not_modelled(format_args!("the path {}", request.uri)))
            }
            Route::Unknown => Err(Failure::Page),
            route => match (request.method.as_str(), request.representation) {
                ("GET", _) if request.aggregated && matches!(route, Route::CoreVersions | Route::Groups) => {
                    Ok(self.discovery.discover_together(&self.store, route))
                }
                ("GET", Representation::Whole) => self.discovery.discover(&self.store, route),
                ("GET", _) => Err(not_acceptable()),
                _ => Err(Failure::method()),
            },
        }
    }

    /// Answers a request that is about objects.
    pub(super) fn answer_objects(&mut self, request: &Request, target: &Target) -> Result<Reply, Failure> {
        if target.group == access::REVIEWS && target.plural == "selfsubjectrulesreviews" {
            return review_rules(&self.store, request);
        }
        if target.group == access::REVIEWS {
            return review(&self.store, &mut self.warnings, request, target);
        }
        if target.group.is_empty() && target.plural == "bindings" && request.method == Method::POST {
            return bind_in(self, request, target);
        }
        if target.group == identity::AUTHENTICATION && target.plural == "tokenreviews" {
            return review_token(self, request);
        }
        if target.group == identity::AUTHENTICATION {
            return review_self(self.now, request, target);
        }
        let kind = self.discovery.find(target)?;
        self.warnings.extend(deprecation(&self.store, &kind));
        let nowhere = || if kind.is_custom() { Failure::Page } else { Failure::no_resource() };
        if target.namespace.is_some() && !kind.namespaced {
            return Err(nowhere());
        }
        match request.representation {
            Representation::Other => return Err(not_acceptable()),
            Representation::Table => return answer_with_table(self, request, target),
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
            Some("scale") if kind.scale.is_some() => {
                return subresource(self, request, &kind, &path, "scale");
            }
            Some(_) if kind.is_custom() => return Err(Failure::not_found(&kind, name)),
            Some("status") => return Err(Failure::no_resource()),
            Some(other) => return subresource(self, request, &kind, &path, other),
        }
        match request.method {
            Method::GET => read::get(&self.store, request, &kind, &path),
            Method::PUT => write::replace(self, request, &kind, &path),
            Method::PATCH => write::patch(self, request, &kind, &path),
            Method::DELETE if target.subresource.is_none() => write::delete(self, request, &kind, &path),
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
            Method::GET if request.query.is_true("watch") => watch::watch(&self.store, request, kind, target),
            Method::GET => read::list(&self.store, request, kind, target),
            Method::POST if kind.namespaced && target.namespace.is_none() => Err(Failure::method()),
            Method::POST => write::create(self, request, kind, target.namespace.as_deref()),
            Method::DELETE if kind.namespaced && target.namespace.is_none() => Err(Failure::method()),
            Method::DELETE if kind.is_namespace() => Err(Failure::method()),
            Method::DELETE => write::delete_collection(self, request, kind, target),
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
