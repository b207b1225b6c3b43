//! Reads every line that is logged while a schedule runs, and keeps none of it.

use std::{
    fmt,
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record as Fields},
    subscriber::Interest,
};

use super::{calm::Complaints, canary::Canaries};

/// A subscriber that looks for secrets, and in the calm run for trouble.
pub(super) struct Listener {
    canaries: Canaries,
    complaints: Complaints,
    spans: AtomicU64,
}

impl Listener {
    pub(super) fn new(canaries: Canaries, complaints: Complaints) -> Self {
        Self { canaries, complaints, spans: AtomicU64::new(0) }
    }

    fn is_trouble(&self, what: &Metadata<'_>) -> bool {
        self.complaints.wanted() && *what.level() <= Level::WARN
    }
}

/// All fields of a line as one text.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
        written.expect("a text takes whatever is written to it");
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl Subscriber for Listener {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, what: &Metadata<'_>) -> bool {
        self.canaries.listen() || self.is_trouble(what)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = Text::default();
        span.record(&mut text);
        let what = span.metadata();
        self.canaries.look_at(&text.0, || format!("logged by {} at level {}", what.target(), what.level()));
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, fields: &Fields<'_>) {
        let mut text = Text::default();
        fields.record(&mut text);
        self.canaries.look_at(&text.0, || "logged as a field of a span".to_owned());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        let what = event.metadata();
        self.canaries.look_at(&text.0, || format!("logged by {} at level {}", what.target(), what.level()));
        if self.is_trouble(what) {
            let level = what.level();
            self.complaints.complain(format_args!("{level} logged by {}:{}", what.target(), text.0));
        }
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
        canaries.watch_for(b"hunter2");
        let listener = Listener::new(canaries.clone(), Complaints::default());
        tracing::subscriber::with_default(listener, || {
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

    #[test]
    fn in_a_calm_run_warnings_and_errors_are_trouble() {
        let complaints = Complaints::listening();
        let listener = Listener::new(Canaries::default(), complaints.clone());
        tracing::subscriber::with_default(listener, || {
            tracing::info!("all is well");
            tracing::warn!(port = 80, "it is {}", "odd");
        });
        let told = complaints.judge();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].message.starts_with("WARN logged by ")
                && told[0].message.ends_with(": it is odd port=80"),
            "{told:?}"
        );
    }
}
