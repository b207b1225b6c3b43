//! Events of Kubernetes about primaries: what `kubectl describe` and `kubectl events` show. JOSDK: `EventRecorder`.
//!
//! ```text
//! Events::normal, warn ─▶ quota of the primary (`spam`, pure) ── used up ──▶ dropped, counted
//!                            │
//!                            ▼
//!         queue of the controller, bounded ─▶ one task ─▶ GET by its name (`note`, pure)
//!                                                            ├─ none ─▶ POST, with the count 1
//!                                                            └─ one ──▶ PATCH: one more, and when; bound to the version
//! ```
//!
//! # Guarantees
//! - A run neither waits for an Event nor fails because of one: what can't be written is logged, counted and forgotten.
//! - The same Event about the same object has the same name, whichever replica writes it and however often the operator
//!   has been restarted: it is counted up, not repeated.
//! - A primary gets a burst of Events, then one now and then; what is kept for that goes with the primary.
//! - Events of one controller are written one after the other, in the order of the calls.
//!
//! # Assumptions
//! - There is a runtime where [`Events::normal`] and [`Events::warn`] are called, as there is in a run.

mod note;
mod recorder;
mod spam;

use std::sync::Arc;

pub(crate) use note::About;
use note::{Note, Severity};
pub(crate) use recorder::{Recorder, access};

/// Writes Events about the primary of a run, got from [`Context::events`](crate::Context::events). JOSDK:
/// `EventRecorder`.
///
/// Both methods return at once; the Event is written a moment later, as a core/v1 Event in the primary's namespace, or in
/// `default` for a cluster-scoped primary. If it can't be written, that is logged and counted
/// (`kubernetes_events_total`), and nothing else happens. The same Event again, also after a restart, raises the count of
/// the first one.
///
/// A primary may have 25 Events at once and one more every five minutes, as in Kubernetes' own controllers; what
/// exceeds that is dropped and counted.
///
/// The controller has to declare that it writes Events, with
/// [`records_events`](crate::ControllerBuilder::records_events).
#[derive(Clone, Debug)]
pub struct Events<'c> {
    recorder: &'c Arc<Recorder>,
    about: About,
    key: Option<String>,
}

impl<'c> Events<'c> {
    pub(crate) fn new(recorder: &'c Arc<Recorder>, about: About) -> Self {
        Self { recorder, about, key: None }
    }

    /// Records that something went as it should: `reason` is one word such as `Created`, for machines, `message` a
    /// sentence for people. They are cut after 128 and 1024 bytes. Never put a value of a Secret into a message: whoever
    /// may read Events can read it.
    pub fn normal(&self, reason: impl Into<String>, message: impl Into<String>) {
        self.record(Severity::Normal, reason.into(), message.into());
    }

    /// The same for something that needs attention.
    pub fn warn(&self, reason: impl Into<String>, message: impl Into<String>) {
        self.record(Severity::Warning, reason.into(), message.into());
    }

    /// The same Events, told apart by `key` instead of by their message: for a message with a number or a time in it,
    /// which would otherwise be another Event each time. The newest message is shown.
    #[must_use]
    pub fn keyed(&self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self.clone() }
    }

    fn record(&self, severity: Severity, reason: String, message: String) {
        let note = Note::new(self.about.clone(), severity, reason, message, self.key.clone());
        self.recorder.record(note);
    }
}
