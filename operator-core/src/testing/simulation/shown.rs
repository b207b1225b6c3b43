//! The log of a schedule that is replayed, for whoever looks for the reason of a failure.

use std::{
    cell::{Cell, OnceCell},
    fmt,
};

use tokio::time::Instant;
use tracing::Dispatch;
use tracing_subscriber::{
    EnvFilter,
    fmt::{format::Writer, time::FormatTime},
};

/// Whether the log is asked for: `RUST_LOG` says which lines.
pub(super) fn are_wanted() -> bool {
    std::env::var_os("RUST_LOG").is_some_and(|filter| !filter.is_empty())
}

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
    /// A schedule has a thread of its own.
    static BEGAN: OnceCell<Instant> = const { OnceCell::new() };
}

/// Runs a schedule on this thread whose log is shown.
pub(super) fn with_logs<T>(schedule: impl FnOnce() -> T) -> T {
    ON.set(true);
    let outcome = schedule();
    ON.set(false);
    outcome
}

/// Whether the log of this thread's schedule is shown.
pub(super) fn are_on() -> bool {
    ON.get()
}

/// Writes what is logged to stderr, with virtual times.
pub(super) fn logs() -> Dispatch {
    let shown = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::from_default_env())
        .with_timer(Virtual)
        .with_ansi(false)
        .with_writer(std::io::stderr);
    shown.finish().into()
}

/// The virtual time since the first line.
struct Virtual;

impl FormatTime for Virtual {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let began = BEGAN.with(|began| *began.get_or_init(Instant::now));
        write!(writer, "{:>10.3} s", began.elapsed().as_secs_f64())
    }
}
