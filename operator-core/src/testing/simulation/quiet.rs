//! Whether there is anything left to do.

use std::time::Duration;

use tokio::time::timeout;

use super::world::World;

/// A timer that is due within this is waited for.
const NO_TIMER_WITHIN: Duration = Duration::from_secs(3);

/// How long a check may take; more than the deadline of a request.
const LOOK: Duration = Duration::from_secs(45);

impl World {
    /// Waits until the operator has nothing more to do; if that takes too long, the error says what it is doing.
    pub(super) async fn quiet(&self, within: Duration) -> Result<(), String> {
        let begin = self.record.now();
        let mut pause = Duration::from_millis(20);
        loop {
            let before = self.record.activity();
            tokio::time::sleep(pause).await;
            let busy = match self.record.activity() == before {
                false => Some("requests are being made".to_owned()),
                true => self.busy().await,
            };
            let Some(busy) = busy else {
                if self.storm.sweep.acts_calmly().await {
                    continue;
                }
                return Ok(());
            };
            if self.record.now() - begin > within {
                return Err(busy);
            }
            pause = (pause * 3 / 2).min(Duration::from_secs(5));
        }
    }

    async fn busy(&self) -> Option<String> {
        if self.factory.borrow().is_none() {
            return None;
        }
        let Some(operator) = self.current() else { return Some("the operator is being started".to_owned()) };
        if self.storm.sweep.somebody.is_busy() {
            return Some("somebody waits until they can make an object again".to_owned());
        }
        let retries = async {
            let snapshots = operator.snapshots().await;
            let retry = snapshots.iter().filter_map(|snapshot| snapshot.due.retry).min();
            match retry {
                Some(_) => Some("a retry is to come".to_owned()),
                None => operator.busy_with(NO_TIMER_WITHIN).await,
            }
        };
        self.storm.sweep.looks(true);
        let busy = timeout(LOOK, retries).await;
        self.storm.sweep.looks(false);
        busy.unwrap_or_else(|_| Some("the operator doesn't answer".to_owned()))
    }
}
