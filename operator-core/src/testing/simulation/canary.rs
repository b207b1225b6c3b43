//! Finds a secret in whatever is logged, at every level.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record as Fields},
    subscriber::Interest,
};

/// Where secrets were found, and which ones are looked for. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Canaries(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    secrets: Vec<String>,
    found: Vec<String>,
}

impl Canaries {
    /// From now on this is looked for.
    pub(super) fn watch_for(&self, secret: &str) {
        self.0.lock().secrets.push(secret.to_owned());
    }

    /// Where one was found: the places in the source that logged it.
    pub(super) fn found(&self) -> Vec<String> {
        self.0.lock().found.clone()
    }

    fn look_at(&self, metadata: &Metadata<'_>, value: &dyn fmt::Debug) {
        let state = &mut *self.0.lock();
        if state.secrets.is_empty() {
            return;
        }
        let text = format!("{value:?}");
        if state.secrets.iter().any(|secret| text.contains(secret)) {
            let place = format!("{} at level {}", metadata.target(), metadata.level());
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
        self.0.look_at(self.1, value);
    }
}

impl Subscriber for Listener {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        !self.canaries.0.lock().secrets.is_empty()
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
