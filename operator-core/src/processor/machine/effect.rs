//! What the machine asks for.

use std::time::Duration;

use super::RunId;
use crate::{
    observe::Causes,
    processor::RetryInfo,
    resource::{ObjectKey, Uid},
};

/// A run that shall start now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Goes back with [`super::Input::Finished`].
    pub id: RunId,
    /// The primary.
    pub key: ObjectKey,
    /// The uid of the object known when the run was handed out.
    pub uid: Uid,
    /// Why it runs.
    pub causes: Causes,
    /// Which retry it is; `None` on a first run.
    pub retry: Option<RetryInfo>,
}

/// Something the shell shall do or tell, in the given order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A primary became known, or was replaced by a new object of its name.
    Added {
        /// The primary.
        key: ObjectKey,
    },
    /// A primary waits for a free place. Followed by [`Effect::Run`] or [`Effect::Withdrawn`].
    Submitted {
        /// The primary.
        key: ObjectKey,
        /// Which retry it is; zero for a first attempt.
        attempt: u32,
    },
    /// A submitted primary is gone or was replaced before its run began.
    Withdrawn {
        /// The primary.
        key: ObjectKey,
    },
    /// A run shall start.
    Run(Run),
    /// A failed run will be tried again.
    RetryScheduled {
        /// The primary.
        key: ObjectKey,
        /// Which retry it will be, counted from one; `None` after a failure of the server, which uses up no attempt.
        attempt: Option<u32>,
        /// When it is due, from now.
        after: Duration,
    },
    /// A run has failed and no retry is left; the next event or the maximum interval leads to the next run.
    RetriesExhausted {
        /// The primary.
        key: ObjectKey,
    },
    /// A primary is gone, or was replaced, and all that was kept about it is dropped.
    Forgotten {
        /// The primary.
        key: ObjectKey,
    },
}
