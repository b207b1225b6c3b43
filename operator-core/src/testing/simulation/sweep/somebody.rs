//! Someone else, who acts once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use serde_json::Value;

use super::{
    act::{Act, Deed, Done},
    requests::Requests,
};
use crate::testing::{InProcessServer, simulation::record::ScheduleRecord};

/// The interval of the checks whether an object that has to be made again is gone: shorter than that of a schedule's
/// checks whether all is quiet.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How long to wait for the end of an object that has to be made again.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// A user of the simulation whose object was deleted by an act, and who therefore gives up.
pub(in crate::testing::simulation) struct GaveUp;

/// The one who acts, and what was done.
pub(in crate::testing::simulation) struct Somebody {
    requests: Requests,
    waiting: AtomicU32,
    acted: AtomicBool,
    remade: AtomicBool,
}

impl Somebody {
    pub(in crate::testing::simulation) fn new(
        server: &InProcessServer,
        record: &Arc<ScheduleRecord>,
    ) -> Arc<Self> {
        Arc::new(Self {
            requests: Requests { server: server.clone(), record: Arc::clone(record) },
            waiting: AtomicU32::default(),
            acted: AtomicBool::default(),
            remade: AtomicBool::default(),
        })
    }

    /// Whether something has been done, after which users can't rely on what they have made.
    pub(in crate::testing::simulation) fn has_acted(&self) -> bool {
        self.acted.load(Ordering::Relaxed)
    }

    /// Whether something still has to be done.
    pub(in crate::testing::simulation) fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether something was made again since the last call.
    pub(in crate::testing::simulation) fn has_made_again(&self) -> bool {
        self.remade.swap(false, Ordering::Relaxed)
    }

    /// Performs it. An object that has to be made again, and is held by a finalizer, is made when it is gone.
    pub(super) async fn acts(self: &Arc<Self>, act: Act) {
        self.acted.store(true, Ordering::Relaxed);
        let done = act.perform(&self.requests).await;
        if let Some(left) = self.tells(&act, done) {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let somebody = Arc::clone(self);
            tokio::spawn(async move {
                if tokio::time::timeout(PATIENCE, somebody.finishes(act, left)).await.is_err() {
                    somebody.record().tell("somebody: it is never gone, so that it is not made again");
                }
                somebody.waiting.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }

    /// Makes an object again when it is gone.
    async fn finishes(&self, act: Act, left: (Value, Value)) {
        let mut left = Some(left);
        while let Some((object, uid)) = left {
            tokio::time::sleep(LOOK_AGAIN).await;
            left = self.tells(&act, act.make_again(object, &uid, &self.requests).await);
        }
    }

    /// What is left to be done: an object, and the uid of the one that has to be gone before.
    fn tells(&self, act: &Act, done: Done) -> Option<(Value, Value)> {
        if done == Ok(None) && act.deed == Deed::Replace {
            self.remade.store(true, Ordering::Relaxed);
        }
        done.unwrap_or_else(|why| {
            self.record().tell(format_args!("somebody: that isn't done: {why}"));
            None
        })
    }

    fn record(&self) -> &ScheduleRecord {
        &self.requests.record
    }
}
