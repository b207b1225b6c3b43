//! The whole log, as text, for tests about content that must not be in a log.

use std::{collections::BTreeMap, io, sync::Arc};

use operator_core::testing::LogCapture;
use parking_lot::Mutex;
use tracing::{Level, subscriber::DefaultGuard};
use tracing_subscriber::fmt::format::FmtSpan;

/// Names and values of an event's or a span's fields.
pub type Fields = BTreeMap<String, String>;

/// Keeps everything that is logged on this thread at any level, as text: for tests about content that must not be in a log.
#[derive(Clone, Debug, Default)]
pub struct LogText(Arc<Mutex<Vec<u8>>>);

impl LogText {
    /// Starts. The capture ends when the guard is dropped.
    #[must_use]
    pub fn start() -> (Self, DefaultGuard) {
        // All threads are asked from now on what they are interested in.
        drop(LogCapture::start());
        let text = Self::default();
        let writer = text.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_ansi(false)
            .with_span_events(FmtSpan::FULL)
            .with_writer(move || writer.clone());
        (text, tracing::subscriber::set_default(subscriber.finish()))
    }

    /// Adds something else that is shown to people.
    pub fn add(&self, text: &str) {
        self.0.lock().extend_from_slice(text.as_bytes());
    }

    /// Everything so far.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock()).into_owned()
    }
}

impl io::Write for LogText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
