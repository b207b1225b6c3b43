//! Holds back the events of an operator's watch until the test lets them through.

use futures::StreamExt;
use http_body_util::{BodyExt, BodyStream, StreamBody};
use operator_core::client::TransportHook;
use tokio::sync::watch;

/// Holds the events of the watches of one plural. Clones share the state.
#[derive(Clone, Debug)]
pub struct Held {
    plural: &'static str,
    is_open: watch::Sender<bool>,
}

impl Held {
    /// Lists and writes are answered; later events are held back.
    #[must_use]
    pub fn watches_of(plural: &'static str) -> Self {
        Self { plural, is_open: watch::Sender::new(false) }
    }

    /// Lets everything through: the held events, and those to come.
    pub fn release(&self) {
        self.is_open.send_replace(true);
    }

    /// From now on events are held back again.
    pub fn hold(&self) {
        self.is_open.send_replace(false);
    }

    /// The hook to give to an operator's builder.
    #[must_use]
    pub fn hook(&self) -> TransportHook {
        let held = self.clone();
        TransportHook::around(move |request, inner| {
            let is_watch = request.uri().path().ends_with(held.plural)
                && request.uri().query().is_some_and(|query| query.contains("watch=true"));
            let is_open = held.is_open.subscribe();
            async move {
                let response = inner.send(request).await?;
                if !is_watch {
                    return Ok(response);
                }
                Ok(response.map(|body| {
                    let told = BodyStream::new(body).then(move |frame| {
                        let mut is_open = is_open.clone();
                        async move {
                            drop(is_open.wait_for(|open| *open).await);
                            frame
                        }
                    });
                    StreamBody::new(told).boxed_unsync()
                }))
            }
        })
    }
}
