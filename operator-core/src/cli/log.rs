//! The log: tracing's events on stderr.

use tracing_subscriber::{EnvFilter, fmt, util::SubscriberInitExt};

use super::{LogForm, output::Output};

/// Sends tracing's events to stderr. `default` is what is logged unless RUST_LOG says otherwise. A subscriber that the
/// program has set before stays.
pub(super) fn start(form: LogForm, default: &str, output: Output) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // An error means that the program has a subscriber already.
    let _ = match form {
        LogForm::Human => builder.with_ansi(output.colors_stderr()).finish().try_init(),
        LogForm::Json => builder.json().flatten_event(true).finish().try_init(),
    };
}
