//! `dev --once`: until everything has settled, or nothing happens any more, or the time is over.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{Error, ExitStatus, stage::Stage, table};
use crate::operator::Settling;

/// Before anything is judged, `dev` waits for timers that are due within this time.
const TIMERS: Duration = Duration::from_millis(500);

/// Waits for the end and prints the table.
pub(super) async fn settle(stage: &Stage, deadline: Instant) -> Result<ExitStatus, Error> {
    let mut rows = Vec::new();
    let judged = timeout_at(deadline, async {
        loop {
            // Created before the look, so that nothing can happen between the look and the wait.
            let activity = stage.activity.notified();
            // Not settled means that something is going on, which the deadline ends if nothing else does.
            let settled = stage
                .operator
                .settled(Settling { no_timer_within: TIMERS, timeout: deadline - Instant::now() });
            let _ = settled.await;
            rows = table::rows(&stage.objects, &stage.lines).await;
            if let Some(verdict) = table::verdict(&rows) {
                return verdict;
            }
            if tokio::time::timeout(stage.args.patience, activity).await.is_err() {
                return table::last_verdict(&rows);
            }
        }
    })
    .await;
    for line in table::print(&rows, stage.output) {
        stage.feed.text(line);
    }
    Ok(judged.unwrap_or(ExitStatus::TimedOut))
}
