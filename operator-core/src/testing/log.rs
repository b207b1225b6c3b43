//! What an operator has logged, for tests about it.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;
use tracing::{
    Dispatch, Event, Level, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::DefaultGuard,
};
use tracing_subscriber::{Layer, Registry, layer::Context, layer::SubscriberExt, registry::LookupSpan};

/// Names and values of an event's or a span's fields.
type Fields = BTreeMap<String, String>;

/// A line of the log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogLine {
    /// How loud it is.
    pub level: Level,
    /// Its fields; `message` is one of them.
    pub fields: BTreeMap<String, String>,
    /// The fields of the spans around it, outermost first.
    pub spans: Vec<(String, BTreeMap<String, String>)>,
}

impl LogLine {
    /// The value of a field; an empty text without it.
    #[must_use]
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

/// Keeps what the library logs on this thread while a test goes on: for tests on a current-thread runtime, whose tasks
/// all run on the thread of the test.
///
/// ```
/// use operator_core::testing::LogCapture;
/// use tracing::Level;
///
/// let (log, _guard) = LogCapture::start();
/// // The operator runs …
/// assert!(log.lines(Level::WARN).is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct LogCapture {
    lines: Arc<Mutex<Vec<LogLine>>>,
    spans: Arc<Mutex<Vec<(String, Fields)>>>,
}

impl LogCapture {
    /// Starts. The capture ends when the guard is dropped.
    #[must_use]
    pub fn start() -> (Self, DefaultGuard) {
        ask_all_threads();
        let capture = Self::default();
        let guard = tracing::subscriber::set_default(Registry::default().with(capture.clone()));
        (capture, guard)
    }

    /// The library's events of that level so far.
    #[must_use]
    pub fn lines(&self, level: Level) -> Vec<LogLine> {
        self.lines.lock().iter().filter(|line| line.level == level).cloned().collect()
    }

    /// The fields of the library's closed spans of that name.
    #[must_use]
    pub fn spans(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        let spans = self.spans.lock();
        spans.iter().filter(|(of, _)| of == name).map(|(_, fields)| fields.clone()).collect()
    }
}

/// With a single subscriber in the process, tracing asks only the thread on which a callsite is first met whether it is of
/// interest, and remembers a "no" of a thread without one, for all threads. A second one, which lives as long as the process,
/// makes it ask all of them.
fn ask_all_threads() {
    static SECOND: OnceLock<Dispatch> = OnceLock::new();
    SECOND.get_or_init(|| Dispatch::new(Registry::default()));
}

struct Visitor<'v>(&'v mut Fields);

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for LogCapture {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Visitor(&mut fields));
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(&mut Visitor(fields));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(span) = context.span(&id)
            && span.metadata().target().starts_with("operator_core")
            && let Some(fields) = span.extensions_mut().remove::<Fields>()
        {
            self.spans.lock().push((span.name().to_owned(), fields));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if !event.metadata().target().starts_with("operator_core") {
            return;
        }
        let mut fields = Fields::new();
        event.record(&mut Visitor(&mut fields));
        let scope =
            context.event_scope(event).into_iter().flat_map(tracing_subscriber::registry::Scope::from_root);
        let spans = scope.map(|span| {
            (span.name().to_owned(), span.extensions().get::<Fields>().cloned().unwrap_or_default())
        });
        let line = LogLine { level: *event.metadata().level(), fields, spans: spans.collect() };
        self.lines.lock().push(line);
    }
}
