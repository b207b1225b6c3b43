//! Makes an informer list again when the test wants it to: the server says that the version of its watch is too old.

use std::future::Future;

use futures::{FutureExt, StreamExt, stream};
use http::Request;
use http_body::Frame;
use http_body_util::{BodyExt, BodyStream, StreamBody};
use kube::client::Body;
use tokio::sync::watch;

use super::{Error, Gate, faults::gone_line};
use crate::client::{Answer, Inner, ResponseBody, TransportHook};

/// Controls the lists and watches of one plural. Clones are the same.
#[derive(Clone, Debug)]
pub struct Relist {
    plural: &'static str,
    /// How often the watch was cut.
    cuts: watch::Sender<usize>,
    held: watch::Sender<bool>,
    gate: Gate,
    watches: Gate,
}

impl Relist {
    /// Lets everything pass for now.
    #[must_use]
    pub fn of(plural: &'static str) -> Self {
        Self {
            plural,
            cuts: watch::Sender::new(0),
            held: watch::Sender::new(false),
            gate: Gate::new(),
            watches: Gate::new(),
        }
    }

    /// The hook to give to an operator's builder.
    #[must_use]
    pub fn hook(&self) -> TransportHook {
        let relist = self.clone();
        TransportHook::around(move |request, inner| relist.clone().pass(request, inner))
    }

    async fn pass(self, request: Request<Body>, inner: Inner) -> Answer {
        let is_collection = request.uri().path().ends_with(self.plural);
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        if !is_collection {
            return inner.send(request).await;
        }
        if is_watch {
            let mut cuts = self.cuts.subscribe();
            cuts.mark_unchanged();
            let response = inner.send(request).await?;
            if response.status().is_success() {
                self.watches.let_through(1);
                self.watches.pass().await;
            }
            return Ok(response.map(|body| cut_short(body, async move { drop(cuts.changed().await) })));
        }
        if *self.held.borrow() {
            self.gate.pass().await;
        }
        inner.send(request).await
    }

    /// Waits until a watch has been opened that was not waited for before.
    ///
    /// # Errors
    /// If none is opened in time.
    pub async fn watching(&self) -> Result<(), Error> {
        self.watches.arrived().await
    }

    /// Ends the open watch with 410, so that the informer lists again, and lets the list pass at once.
    pub fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// The same, but the list waits for [`Relist::release`]. Returns when it is about to be sent.
    ///
    /// # Errors
    /// If the informer doesn't list in time.
    pub async fn cut_and_hold(&self) -> Result<(), Error> {
        self.held.send_replace(true);
        self.cut();
        self.gate.arrived().await
    }

    /// Lets the list that waits pass, and those to come.
    pub fn release(&self) {
        self.held.send_replace(false);
        self.gate.let_through(1);
    }
}

fn cut_short(body: ResponseBody, cut: impl Future<Output = ()> + Send + 'static) -> ResponseBody {
    let gone = stream::iter([Ok(Frame::data(gone_line()))]);
    StreamBody::new(BodyStream::new(body).take_until(cut.boxed()).chain(gone)).boxed_unsync()
}
