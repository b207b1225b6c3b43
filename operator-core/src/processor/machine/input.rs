//! What the machine is told.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    environment::Now,
    observe::Cause,
    resource::{ObjectKey, Uid},
};

/// Identifies one run within its machine; later runs have greater ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub(super) u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Everything that can happen to a machine, beside the passing of time.
#[derive(Clone, Debug)]
pub enum Input {
    /// A primary was added or changed, and the change passed the filters. The only input that makes a primary known.
    PrimaryChanged {
        /// The primary.
        key: ObjectKey,
        /// Its uid. Another one than before means that the object was replaced, and starts with fresh state.
        uid: Uid,
        /// Why this leads to a run; [`Cause::InitialList`] for the objects of the initial list.
        cause: Cause,
        /// Whether the object carries a deletion timestamp.
        deleting: bool,
    },
    /// A primary is gone. Ignored when `uid` is not that of the object known last.
    PrimaryDeleted {
        /// The primary.
        key: ObjectKey,
        /// The uid of the object that is gone.
        uid: Uid,
    },
    /// Something that a primary depends on has changed: a secondary, a poll, a push. Ignored when the primary is
    /// unknown.
    Related {
        /// The primary, not the secondary.
        key: ObjectKey,
        /// Why this leads to a run.
        cause: Cause,
    },
    /// A run has ended. Ignored when it is not the run in flight.
    Finished {
        /// The run.
        run: RunId,
        /// Its primary.
        key: ObjectKey,
        /// How it ended.
        outcome: Outcome,
    },
    /// Runs may be handed out from now on, whosever they are. What came before is served now, in the order in which primaries appeared.
    Start,
    /// The same for the primaries in one namespace, beside those that were started before.
    StartIn {
        /// The namespace.
        namespace: Arc<str>,
    },
    /// No run is handed out from now on; those in flight may finish. What comes is kept for the next [`Input::Start`].
    Stop,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Without an error. Retries start afresh; next comes a pending event, else the reschedule, else the maximum
    /// interval.
    Success {
        /// When the run wants to be followed by another one, if nothing happens before.
        reschedule: Option<Duration>,
    },
    /// The operator's finalizer was removed. Nothing runs until the object is gone or replaced, or the maximum interval is over.
    FinalizerRemoved,
    /// With an error.
    Failed {
        /// Whose failure it is, and so what follows.
        kind: FailureKind,
        /// When the server is ready to be asked again, where it has said so (`Retry-After`). Nothing leads to a run of this
        /// object before.
        not_before: Option<Now>,
    },
    /// The primary was gone or replaced: no error and no retry. Nothing runs until its `DELETED`, its successor or a change
    /// of its own is seen, or the maximum interval is over: what belongs to an object that is gone goes as well, and each
    /// such end would lead to a run that makes it anew.
    Gone,
    /// The run was dropped before its end. While the machine is stopped (or when it was stopped since the run was
    /// handed out) the run is owed again as if it had not begun; otherwise this is a retryable failure.
    Abandoned,
}

/// Whose failure a run's is, and so what follows. In the order of their weight: of several, the greatest decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// Another try can't help: the next event, the last reschedule or the maximum interval leads to the next run.
    Permanent,
    /// Another try may help. It uses up an attempt.
    Retryable,
    /// The server's: it gave no answer, or failed, or had too much to do, or denied a right, or doesn't serve the kind; or the
    /// fence held a write back. It is tried again without end, and uses up no attempt.
    Server,
}
