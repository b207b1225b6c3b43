//! The log of a schedule that is replayed, which shows the reason of a failure.

use std::{fmt, sync::Arc};

use tracing::Dispatch;
use tracing_subscriber::{
    EnvFilter,
    fmt::{format::Writer, time::FormatTime},
};

use super::record::ScheduleRecord;

/// Whether the log is asked for: `RUST_LOG` says which lines.
pub(super) fn are_wanted() -> bool {
    std::env::var_os("RUST_LOG").is_some_and(|filter| !filter.is_empty())
}

/// Writes what is logged to stderr, with virtual times.
pub(super) fn logs(record: &Arc<ScheduleRecord>) -> Dispatch {
    let shown = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::from_default_env())
        .with_timer(Virtual(Arc::clone(record)))
        .with_ansi(false)
        .with_writer(std::io::stderr);
    shown.finish().into()
}

/// The virtual time since the schedule's start.
struct Virtual(Arc<ScheduleRecord>);

impl FormatTime for Virtual {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{:>10.3} s", self.0.now().as_secs_f64())
    }
}
