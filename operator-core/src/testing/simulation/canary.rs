//! Finds a secret in whatever is logged, at every level, and in whatever the operator sends.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record as Fields},
    subscriber::Interest,
};

use crate::testing::faults::RequestTarget;

/// Where secrets were found, and which ones are looked for. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Canaries(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Whether there is anything to look for: asked for every line that is logged.
    any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    secrets: Vec<String>,
    found: Vec<String>,
}

impl Canaries {
    /// From now on this is looked for.
    pub(super) fn watch_for(&self, secret: &str) {
        self.0.state.lock().secrets.push(secret.to_owned());
        self.0.any.store(true, Ordering::Relaxed);
    }

    /// Where one was found: the places in the source that logged it, the requests that it was sent in.
    pub(super) fn found(&self) -> Vec<String> {
        self.0.state.lock().found.clone()
    }

    /// Whether there is anything to look for.
    pub(super) fn any(&self) -> bool {
        self.0.any.load(Ordering::Relaxed)
    }

    /// Looks at what is sent to be written: also at what is overwritten later, and at what is no state, as Events.
    pub(super) fn look_at_body(&self, target: &RequestTarget, body: &[u8]) {
        if target.resource != "secrets" {
            self.look_at(&String::from_utf8_lossy(body), || format!("sent in {target}"));
        }
    }

    fn look_at(&self, text: &str, place: impl Fn() -> String) {
        let state = &mut *self.0.state.lock();
        if state.secrets.iter().any(|secret| text.contains(secret)) {
            let place = place();
            if !state.found.contains(&place) {
                state.found.push(place);
            }
        }
    }
}

/// A subscriber that reads everything and keeps nothing.
pub(super) struct Listener {
    canaries: Canaries,
    spans: AtomicU64,
}

impl Listener {
    pub(super) fn new(canaries: Canaries) -> Self {
        Self { canaries, spans: AtomicU64::new(0) }
    }
}

struct Reader<'a>(&'a Canaries, &'a Metadata<'a>);

impl Visit for Reader<'_> {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        let place = || format!("logged by {} at level {}", self.1.target(), self.1.level());
        self.0.look_at(&format!("{value:?}"), place);
    }
}

impl Subscriber for Listener {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        self.canaries.any()
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Reader(&self.canaries, span.metadata()));
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Fields<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Reader(&self.canaries, event.metadata()));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_messages_fields_and_spans_at_every_level() {
        let canaries = Canaries::default();
        canaries.watch_for("hunter2");
        tracing::subscriber::with_default(Listener::new(canaries.clone()), || {
            tracing::trace!(password = "harmless", "nothing");
            assert!(canaries.found().is_empty());
            tracing::trace!("it is {}", "hunter2");
            assert_eq!(canaries.found().len(), 1);
            tracing::debug!(password = ?Some("hunter2"), "field");
            assert_eq!(canaries.found().len(), 2);
            let _span = tracing::error_span!("span", password = "hunter2");
            assert_eq!(canaries.found().len(), 3);
        });
    }
}
