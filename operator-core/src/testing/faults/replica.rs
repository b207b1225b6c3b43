//! A replica of the API server that has fallen behind, and stays behind until the test lets it catch up.
//!
//! ```text
//!            ┌──▶ writes, reads of single objects ─────────────▶ the newest state
//! operator ──┤
//!            └──▶ lists and watches of one collection ─ behind? ─▶ as of one version, and nothing after it
//! ```
//!
//! # Guarantees
//! - While it is behind, a list shows what existed at that version, and a watch shows nothing: not even a bookmark.
//! - Watches that are open when it falls behind are ended with 410, so that a list follows. When it catches up, open
//!   watches show everything that they have missed.
//!
//! # Assumptions
//! - The server still has that version. Lists request it by `resourceVersionMatch=Exact`.
//! - Lists of only metadata are reads of a test, and never of an operator: they are answered with the newest state.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{StreamExt, stream};
use http::{Request, Uri, header};
use http_body::Frame;
use http_body_util::{BodyExt, BodyStream, StreamBody};
use kube::client::Body;
use tokio::sync::watch;
use tower::BoxError;

use super::{RequestTarget, Verb, fault::gone_line};
use crate::client::{Answer, Inner, ResponseBody, TransportHook};

/// A replica of the API server that lists and watches one collection as it once was. Clones are the same replica.
///
/// ```
/// use operator_core::testing::faults::LaggingReplica;
///
/// let replica = LaggingReplica::of("configmaps");
/// // Operator::builder().transport(replica.hook()) …
/// replica.fall_behind("17");
/// replica.catch_up();
/// # assert_eq!(replica.old_lists(), 0);
/// ```
#[derive(Clone, Debug)]
pub struct LaggingReplica {
    resource: Arc<str>,
    state: watch::Sender<ReplicaState>,
    old_lists: Arc<AtomicU64>,
}

#[derive(Clone, Debug, Default)]
struct ReplicaState {
    /// The version as of which it answers, while it is behind.
    behind: Option<String>,
    /// How often it has fallen behind.
    falls: u64,
}

impl LaggingReplica {
    /// A replica that is up to date, of this plural.
    #[must_use]
    pub fn of(resource: &str) -> Self {
        Self { resource: resource.into(), state: watch::Sender::default(), old_lists: Arc::default() }
    }

    /// The hook for an operator's builder: with it, the operator uses this replica.
    #[must_use]
    pub fn hook(&self) -> TransportHook {
        let replica = self.clone();
        TransportHook::around(move |request, inner| replica.clone().pass(request, inner))
    }

    /// From now on it answers as of `version`, which is the `resourceVersion` of a list.
    pub fn fall_behind(&self, version: &str) {
        self.state.send_modify(|state| {
            state.behind = Some(version.to_owned());
            state.falls += 1;
        });
    }

    /// From now on it is up to date.
    pub fn catch_up(&self) {
        self.state.send_modify(|state| state.behind = None);
    }

    /// The number of lists that were answered with an old state.
    #[must_use]
    pub fn old_lists(&self) -> u64 {
        self.old_lists.load(Ordering::Relaxed)
    }

    async fn pass(self, mut request: Request<Body>, inner: Inner) -> Answer {
        let target = RequestTarget::of(&request);
        let Some(target) = target.filter(|target| *target.resource == *self.resource) else {
            return inner.send(request).await;
        };
        let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
        let is_look = accept.is_some_and(|accept| accept.contains("PartialObjectMetadataList"));
        match target.verb {
            Verb::List if !is_look => {
                let behind = self.state.borrow().behind.clone();
                if let Some(version) = behind {
                    *request.uri_mut() = as_of(request.uri(), &version)?;
                    self.old_lists.fetch_add(1, Ordering::Relaxed);
                }
                inner.send(request).await
            }
            Verb::Watch => {
                let state = self.state.subscribe();
                let answer = inner.send(request).await?;
                Ok(if answer.status().is_success() { answer.map(|body| held(body, state)) } else { answer })
            }
            _ => inner.send(request).await,
        }
    }
}

/// The same list as of `version`; the pages after the first are of the first one's version anyway.
fn as_of(uri: &Uri, version: &str) -> Result<Uri, BoxError> {
    let (path, query) = (uri.path(), uri.query().unwrap_or_default());
    if query.contains("continue=") {
        return Ok(uri.clone());
    }
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    pairs.retain(|pair| !pair.starts_with("resourceVersion"));
    let exact = format!("resourceVersion={version}&resourceVersionMatch=Exact");
    pairs.push(&exact);
    Ok(format!("{path}?{}", pairs.join("&")).parse()?)
}

/// A watch, of which nothing is delivered while the replica is behind.
fn held(body: ResponseBody, state: watch::Receiver<ReplicaState>) -> ResponseBody {
    let falls = state.borrow().falls;
    let watching = Watching { body: BodyStream::new(body), state, falls, kept: VecDeque::new(), over: false };
    StreamBody::new(stream::unfold(watching, async |mut watching| Some((watching.next().await?, watching))))
        .boxed_unsync()
}

struct Watching {
    body: BodyStream<ResponseBody>,
    state: watch::Receiver<ReplicaState>,
    /// How often the replica had fallen behind when the watch was opened.
    falls: u64,
    /// What has arrived while it was behind.
    kept: VecDeque<Frame<bytes::Bytes>>,
    over: bool,
}

impl Watching {
    async fn next(&mut self) -> Option<Result<Frame<bytes::Bytes>, BoxError>> {
        loop {
            let ReplicaState { behind, falls } = self.state.borrow_and_update().clone();
            if self.over {
                return None;
            }
            if falls > self.falls {
                self.over = true;
                return Some(Ok(Frame::data(gone_line())));
            }
            if behind.is_none()
                && let Some(frame) = self.kept.pop_front()
            {
                return Some(Ok(frame));
            }
            tokio::select! {
                biased;
                Ok(()) = self.state.changed() => {}
                frame = self.body.next() => match frame {
                    Some(Ok(frame)) => self.kept.push_back(frame),
                    Some(Err(error)) => return Some(Err(error)),
                    // What was kept comes again, as the watch is resumed from what it has shown.
                    None => return None,
                },
            }
        }
    }
}
