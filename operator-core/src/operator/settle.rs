//! The barrier that makes "nothing more happens" testable without waiting for it.
//!
//! An operator is settled when every event source has seen, and passed on, everything that exists at the moment of the
//! call, no run waits or is in progress, and no timer is due within a given time. The sources are compared with a
//! fresh, consistent list of what they watch: this needs no extra object in the cluster and no right beyond the
//! operator's, and causes no event.
//!
//! A standby replica in a leader election is settled when its event sources have seen everything: it doesn't run
//! anything yet.

use std::{collections::BTreeMap, time::Duration};

#[cfg(feature = "testing")]
use futures::future::join_all;

use super::{Leadership, Operator, lifecycle::Running};
#[cfg(feature = "testing")]
use crate::controller::RunningController;
use crate::{
    environment::{DISCOVERY, Now},
    processor::Snapshot,
};

/// What counts as settled.
#[derive(Clone, Copy, Debug)]
pub struct Settling {
    /// A timer that is due within this time (a retry, a reschedule) is waited for; a later timer isn't.
    pub no_timer_within: Duration,
    /// The longest time to wait for all this.
    pub timeout: Duration,
}

impl Default for Settling {
    /// Timers within 3 s are waited for, and everything for 60 s at most.
    fn default() -> Self {
        Self { no_timer_within: Duration::from_secs(3), timeout: Duration::from_secs(60) }
    }
}

/// Why an operator did not settle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettleError {
    /// It isn't running.
    #[error("the operator is not running")]
    NotRunning,
    /// It was still busy after the timeout.
    #[error("not settled after {} s: {reason}", timeout.as_secs_f32())]
    TimedOut {
        /// How long the wait was.
        timeout: Duration,
        /// What was still in progress.
        reason: String,
    },
}

/// The pause between two checks. The checks themselves consist of messages and lists, so this only keeps them from
/// spinning.
const PAUSE: Duration = Duration::from_millis(5);

impl Operator {
    /// Waits until the operator is settled.
    ///
    /// # Errors
    /// If the operator isn't running, or is still busy after the timeout; the error says with what.
    pub async fn settled(&self, settling: Settling) -> Result<(), SettleError> {
        let running = self.running().await.ok_or(SettleError::NotRunning)?;
        let mut reason = "event sources are not synced".to_owned();
        let wait = async {
            for controller in &running.controllers {
                controller.synced().await;
            }
            while let Err(busy) = running.look(settling.no_timer_within).await {
                reason = busy;
                tokio::time::sleep(PAUSE).await;
            }
        };
        if tokio::time::timeout(settling.timeout, wait).await.is_ok() {
            return Ok(());
        }
        let unhealthy: Vec<String> = running
            .controllers
            .iter()
            .flat_map(|controller| controller.unhealthy())
            .map(|(source, part, _)| format!("event source {source}: {:?}", part.health))
            .collect();
        if !unhealthy.is_empty() {
            reason = unhealthy.join("; ");
        }
        Err(SettleError::TimedOut { timeout: settling.timeout, reason })
    }
}

/// The data that an operator holds, for tests of leaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Primaries that the controllers know, all of them together.
    pub primaries: usize,
    /// What keeps data about objects that don't exist, and how much: event sources, and the rest of a controller. Also
    /// how many tasks run that find out what the cluster serves, and whose answers nobody waits for any more.
    pub leftovers: Vec<(String, usize)>,
    /// The tasks that run, by their names: how many there are of each. Those that find out what the cluster serves aren't among
    /// them: as many as are needed begin when a primary first asks, and end with the operator.
    pub tasks: BTreeMap<&'static str, usize>,
}

impl Operator {
    /// The data that the operator holds now; nothing if it isn't running. Once it has settled and all its primaries are gone,
    /// everything but the tasks is 0, and they are as they were before the first primary was created.
    #[doc(hidden)]
    pub async fn footprint(&self) -> Footprint {
        let Some(running) = self.running().await else { return Footprint::default() };
        let needed = running.discovery.tasks();
        let mut tasks = running.environment.tasks();
        let lost = tasks.remove(DISCOVERY).unwrap_or_default().saturating_sub(needed);
        let mut footprint = Footprint { tasks, ..Footprint::default() };
        if lost > 0 {
            footprint.leftovers.push((DISCOVERY.to_owned(), lost));
        }
        for controller in &running.controllers {
            footprint.primaries += controller.snapshot().await.keys;
            let leftovers = controller.leftovers().into_iter();
            footprint
                .leftovers
                .extend(leftovers.map(|(source, kept)| (format!("{}/{source}", controller.name()), kept)));
        }
        footprint
    }

    /// One check, without waiting: the reason why the operator isn't settled, if there is one.
    #[cfg(feature = "testing")]
    pub(crate) async fn busy_with(&self, no_timer_within: Duration) -> Option<String> {
        let Some(running) = self.running().await else { return Some(SettleError::NotRunning.to_string()) };
        for controller in &running.controllers {
            // A look asks each source for a fresh list, which says nothing while a source is unhealthy.
            if let Some((source, part, _)) = controller.unhealthy().into_iter().next() {
                return Some(format!("event source {source}: {:?}", part.health));
            }
        }
        running.look(no_timer_within).await.err()
    }

    /// The states of the processors, in the order of the controllers.
    #[cfg(feature = "testing")]
    pub(crate) async fn snapshots(&self) -> Vec<Snapshot> {
        let Some(running) = self.running().await else { return Vec::new() };
        join_all(running.controllers.iter().map(RunningController::snapshot)).await
    }

    /// The parts of the controllers that don't work any more because their task has ended; also while the operator stops.
    #[cfg(feature = "testing")]
    pub(crate) async fn dead_parts(&self) -> Vec<String> {
        let Some(running) = self.running().await else { return Vec::new() };
        running.controllers.iter().flat_map(RunningController::ended_tasks).collect()
    }
}

impl Running {
    /// One check: quiet before the lists, and without any new input after them.
    async fn look(&self, no_timer_within: Duration) -> Result<(), String> {
        let before = self.quiet(no_timer_within).await?;
        for controller in &self.controllers {
            match controller.caught_up().await {
                Ok(true) => {}
                Ok(false) => return Err(format!("{}: an event source lags behind", controller.name())),
                Err(error) => return Err(format!("{}: {error}", controller.name())),
            }
        }
        let after = self.quiet(no_timer_within).await?;
        if before == after { Ok(()) } else { Err("events are arriving".to_owned()) }
    }

    /// How many inputs each controller has had, if it is quiet.
    async fn quiet(&self, no_timer_within: Duration) -> Result<Vec<u64>, String> {
        let leadership = self.leadership();
        if let Some(Leadership::Lost(lost)) = leadership {
            return Err(format!("leadership is lost: {lost}"));
        }
        let stands_by = matches!(leadership, Some(Leadership::Standby { .. }));
        let mut inputs = Vec::with_capacity(self.controllers.len());
        for controller in &self.controllers {
            let name = controller.name();
            let snapshot = controller.snapshot().await;
            if !stands_by && let Some(busy) = busy(&snapshot, self.environment.now(), no_timer_within) {
                return Err(format!("{name}: {busy}"));
            }
            if controller.records() {
                return Err(format!("{name}: Events are being written"));
            }
            inputs.push(snapshot.inputs);
        }
        Ok(inputs)
    }
}

fn busy(snapshot: &Snapshot, now: Now, no_timer_within: Duration) -> Option<String> {
    if !snapshot.is_running {
        return Some("processing has not started".to_owned());
    }
    if snapshot.queued + snapshot.running > 0 {
        return Some(format!("{} runs are queued and {} are in progress", snapshot.queued, snapshot.running));
    }
    let due = snapshot.due.next_work().into_iter().chain(snapshot.due.max_interval).min()?;
    (due <= now + no_timer_within).then(|| format!("a timer is due in {:?}", due.since(now)))
}
