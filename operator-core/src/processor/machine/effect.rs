//! The effects that the machine requests.

use std::{sync::Arc, time::Duration};

use super::RunId;
use crate::{
    observe::Causes,
    processor::RetryInfo,
    resource::{Departed, ObjectKey, Uid},
};

/// A run that has to start now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Returned with [`super::Input::Finished`].
    pub id: RunId,
    /// The primary.
    pub key: ObjectKey,
    /// The uid of the object that was known when the run was started.
    pub uid: Uid,
    /// Why it runs.
    pub causes: Causes,
    /// The number of the retry; `None` for a first run.
    pub retry: Option<RetryInfo>,
    /// The last state of the primary, if it is gone and this run is to see that.
    pub departed: Option<Arc<Departed>>,
}

/// Something the shell has to do or report, in the given order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A primary became known, or was replaced by a new object with its name.
    Added(ObjectKey),
    /// A primary waits for a free place. Followed by [`Effect::Run`] or [`Effect::Withdrawn`].
    Submitted {
        /// The primary.
        key: ObjectKey,
        /// The number of the retry; zero for a first attempt.
        attempt: u32,
    },
    /// A submitted primary is gone or was replaced before its run started.
    Withdrawn(ObjectKey),
    /// A run has to start.
    Run(Run),
    /// A failed run will be retried.
    RetryScheduled {
        /// The primary.
        key: ObjectKey,
        /// The number of that retry, counted from one; `None` after a failure of the server, which uses up no attempt.
        attempt: Option<u32>,
        /// When it is due, from now.
        after: Duration,
    },
    /// A run has failed and no retry is left; the next event or the maximum interval leads to the next run.
    RetriesExhausted(ObjectKey),
    /// A primary is gone, or was replaced, and everything that was kept about it is dropped.
    Forgotten(ObjectKey),
}
