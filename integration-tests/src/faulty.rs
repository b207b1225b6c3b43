//! A server that answers some requests wrongly.

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use kube::client::Body;
use operator_core::client::{ResponseBody, Transport, TransportHook};
use parking_lot::Mutex;
use serde_json::Value;
use tower::{BoxError, Service, util::BoxService};

/// The fate of a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It doesn't reach the server, and is answered with this code and body.
    Instead(u16, String),
    /// The server carries it out, and the answer is lost.
    Lost,
    /// The server carries it out, and this is the answer.
    Replaced(u16, String),
}

impl Answer {
    /// An answer in JSON instead of the server's.
    #[must_use]
    pub fn json(code: u16, body: &Value) -> Self {
        Self::Instead(code, body.to_string())
    }
}

/// The bad answers to requests of one collection and its objects, each used up by one request. Clones share them.
#[derive(Clone, Debug)]
pub struct Faulty {
    plural: &'static str,
    queues: Arc<Mutex<Queues>>,
}

#[derive(Debug, Default)]
struct Queues {
    lists: VecDeque<Answer>,
    watches: VecDeque<Answer>,
    reads: VecDeque<Answer>,
    writes: VecDeque<Answer>,
}

impl Queues {
    fn of(&mut self, method: &Method, is_collection: bool, is_watch: bool) -> &mut VecDeque<Answer> {
        match (method, is_collection, is_watch) {
            (&Method::GET, _, true) => &mut self.watches,
            (&Method::GET, true, false) => &mut self.lists,
            (&Method::GET, false, false) => &mut self.reads,
            _ => &mut self.writes,
        }
    }
}

impl Faulty {
    /// Nothing bad happens to requests about this plural yet.
    #[must_use]
    pub fn of(plural: &'static str) -> Self {
        Self { plural, queues: Arc::default() }
    }

    /// The next lists are answered in this way.
    pub fn lists(&self, answers: impl IntoIterator<Item = Answer>) {
        self.queues.lock().lists.extend(answers);
    }

    /// The next watches are answered in this way.
    pub fn watches(&self, answers: impl IntoIterator<Item = Answer>) {
        self.queues.lock().watches.extend(answers);
    }

    /// The next reads of single objects are answered in this way.
    pub fn reads(&self, answers: impl IntoIterator<Item = Answer>) {
        self.queues.lock().reads.extend(answers);
    }

    /// The next writes are answered in this way.
    pub fn writes(&self, answers: impl IntoIterator<Item = Answer>) {
        self.queues.lock().writes.extend(answers);
    }

    /// How many bad answers are left, of lists, watches, reads and writes.
    #[must_use]
    pub fn left(&self) -> [usize; 4] {
        let queues = self.queues.lock();
        [queues.lists.len(), queues.watches.len(), queues.reads.len(), queues.writes.len()]
    }

    /// The hook to give to an operator's builder.
    #[must_use]
    pub fn hook(&self) -> TransportHook {
        let faulty = self.clone();
        TransportHook::new(move |inner| BoxService::new(Answering { inner, faulty: faulty.clone() }))
    }

    fn next(&self, request: &Request<Body>) -> Option<Answer> {
        let mut segments = request.uri().path().trim_end_matches('/').rsplit('/');
        let is_collection = segments.next() == Some(self.plural);
        if !is_collection && !segments.any(|segment| segment == self.plural) {
            return None;
        }
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        self.queues.lock().of(request.method(), is_collection, is_watch).pop_front()
    }
}

struct Answering {
    inner: Transport,
    faulty: Faulty,
}

impl Service<Request<Body>> for Answering {
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match self.faulty.next(&request) {
            None => self.inner.call(request).boxed(),
            Some(Answer::Instead(code, body)) => async move { response(code, body) }.boxed(),
            Some(Answer::Lost) => {
                let answer = self.inner.call(request);
                async move {
                    answer.await?;
                    Err("the answer was lost on its way".into())
                }
                .boxed()
            }
            Some(Answer::Replaced(code, body)) => {
                let answer = self.inner.call(request);
                async move {
                    answer.await?;
                    response(code, body)
                }
                .boxed()
            }
        }
    }
}

fn response(code: u16, body: String) -> Result<Response<ResponseBody>, BoxError> {
    let body = BodyExt::map_err(Full::new(Bytes::from(body)), |never| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code)?;
    Ok(response)
}
