//! The inputs of the machine.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use crate::{
    environment::Now,
    observe::Cause,
    resource::{Departed, ObjectKey, Uid},
};

/// Identifies one run within its machine; later runs have greater ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub(super) u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Everything that can happen to a machine, besides the passing of time.
#[derive(Clone, Debug)]
pub enum Input {
    /// A primary was added or changed, and the change passed the filters. The only input that makes a primary known.
    PrimaryChanged {
        /// The primary.
        key: ObjectKey,
        /// Its uid. If it differs from the one before, the object was replaced, and starts with fresh state.
        uid: Uid,
        /// Why this causes a run; [`Cause::InitialList`] for the objects of the initial list.
        cause: Cause,
        /// Whether the object has a deletion timestamp.
        deleting: bool,
    },
    /// A primary is gone. Ignored if `uid` is not that of the object known last.
    PrimaryDeleted {
        /// The primary.
        key: ObjectKey,
        /// The uid of the object that is gone.
        uid: Uid,
        /// The last known state of the object, if a run has to see the deletion. The primary is then known until that run
        /// has succeeded, or no attempt is left, unless no runs of it are started now.
        last: Option<Arc<Departed>>,
    },
    /// Something that a primary depends on has changed: a secondary, a poll, a push. Ignored if the primary is unknown.
    Related {
        /// The primary, not the secondary.
        key: ObjectKey,
        /// Why this causes a run.
        cause: Cause,
    },
    /// A run has ended. Ignored if it is not the run in progress.
    Finished {
        /// The run.
        run: RunId,
        /// Its primary.
        key: ObjectKey,
        /// How it ended.
        outcome: Outcome,
    },
    /// Runs may start from now on, in addition to those that were started before. Pending events are served now, in the
    /// order in which primaries appeared. Ignored if another opening has begun since, or after a stop.
    Start {
        /// The number of the opening; 0 for the first one.
        opening: u64,
        /// The namespace of the primaries; `None` for all primaries.
        namespace: Option<Arc<str>>,
    },
    /// The primaries are followed in other namespaces; `None` for all. The data about primaries in namespaces that are left
    /// is dropped. Runs in namespaces that were not followed before start only with an [`Input::Start`] of the new opening.
    Rescoped {
        /// The number of the opening that begins, and ends the one before.
        opening: u64,
        /// The namespaces before.
        before: Option<BTreeSet<String>>,
        /// The namespaces from now on.
        now: Option<BTreeSet<String>>,
    },
    /// The definition of the primaries has changed: those whose last run failed run again.
    Redefined {
        /// Why this causes a run.
        cause: Cause,
    },
    /// No run starts from now on, whatever happens; those in progress may finish.
    Stop,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Without an error. Retries start afresh; next comes a pending event, otherwise the reschedule, otherwise the
    /// maximum interval.
    Success {
        /// When another run is requested, if nothing happens before.
        reschedule: Option<Reschedule>,
    },
    /// The operator's finalizer was removed. Nothing runs until the object is gone or replaced, or the maximum interval is over.
    FinalizerRemoved,
    /// With an error.
    Failed {
        /// The kind of the failure, which decides what follows.
        kind: FailureKind,
        /// When the server is ready for another request, if it has said so (`Retry-After`). Nothing causes a run of
        /// this object before.
        not_before: Option<Now>,
        /// When another run is requested, if the failure leads to none before. The maximum interval still applies.
        again: Option<Duration>,
    },
    /// The primary was gone or replaced: no error and no retry. Nothing runs until its `DELETED`, its successor or a
    /// change of its own is seen, or the maximum interval is over: what belongs to an object that is gone is deleted as
    /// well, and each such deletion would cause a run that creates it again.
    Gone,
    /// The run was dropped before its end: a retryable failure, unless the machine is stopped.
    Abandoned,
}

/// A request for another run after this delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reschedule {
    /// By user code. It replaces the maximum interval.
    After(Duration),
    /// By the library, to evaluate something again. The maximum interval still applies.
    Within(Duration),
}

impl Reschedule {
    /// The earlier one of what is requested so far and what the library requests.
    pub(crate) fn earlier(so_far: Option<Self>, again: Option<Duration>) -> Option<Self> {
        match so_far {
            Some(Self::After(delay)) => Some(Self::After(again.map_or(delay, |again| delay.min(again)))),
            within => within.map(Self::delay).into_iter().chain(again).min().map(Self::Within),
        }
    }

    pub(super) fn delay(self) -> Duration {
        let (Self::After(delay) | Self::Within(delay)) = self;
        delay
    }
}

/// The cause of a run's failure, which decides what follows. In the order of their weight: of several, the greatest
/// decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// A retry can't help: the next event, the last reschedule or the maximum interval causes the next run.
    Permanent,
    /// A retry may help. It uses up an attempt.
    Retryable,
    /// The server: it gave no answer, or failed, or was overloaded, or denied a right, or doesn't serve the kind; or
    /// the fence refused a write. It is retried without end, and uses up no attempt.
    Server,
    /// Something outside decides: an object of someone else is in the way, a write was refused (400, 422), a namespace
    /// is missing. It is retried in the same way, and the primary is stalled meanwhile.
    Outside,
}
