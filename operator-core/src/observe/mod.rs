//! One interface for everything that observes the library: metrics, `dev`'s lines, tests.
//!
//! ```text
//! event_source, processor, operations, dispatcher ──Observation──▶ Observers ──▶ metrics
//!                                                                          ├──▶ the lines of `dev`
//!                                                                          └──▶ the counts of a test
//! ```
//!
//! # Guarantees
//! - Observations contain names, numbers and reasons, never the content of an object: no value of a Secret can leak
//!   through an observer.
//! - Observers are notified in the order in which things happen to one object.
//! - An observer that panics is named in the log by its position; the library and the other observers continue.
//!
//! # Assumptions
//! - An observer returns quickly and doesn't block; it is called from the middle of the event path.

mod cause;
mod chain;
pub(crate) mod node;
mod observers;

use std::{fmt, time::Duration};

use crate::resource::{ObjectKey, ResourceType};

pub use cause::{Cause, Causes, SourceIndex};
pub(crate) use chain::{error_chain, with_sources};
use node::NodeState;
pub(crate) use observers::Observers;

/// Is notified of the library's actions.
pub trait Observer: fmt::Debug + Send + Sync {
    /// Called for each observation, in the middle of the event path.
    fn observe(&self, observation: &Observation<'_>);
}

/// Something that has just happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Observation<'a> {
    /// A controller's event sources have seen enough for its first run to start: everything, or everything that concerns the
    /// primaries of one namespace.
    ProcessingStarted {
        /// The controller's name.
        controller: &'a str,
        /// From the operator's start until now.
        after: Duration,
    },
    /// A controller has stopped: waiting runs won't start, and its state is dropped. Runs that were still in
    /// progress are reported one by one, before or after this.
    ProcessingStopped {
        /// The controller's name.
        controller: &'a str,
        /// The number of runs that were submitted and not started.
        queued: usize,
        /// The number of primaries that were known.
        primaries: usize,
    },
    /// A replica that takes part in a leader election stands by, becomes the leader, or loses the leadership.
    Leadership {
        /// The lease's name.
        lease: &'a str,
        /// The replica's identity.
        identity: &'a str,
        /// Whether it leads now.
        leads: bool,
    },
    /// An event source changed its health.
    SourceHealth {
        /// The controller's name.
        controller: &'a str,
        /// The event source's name.
        source: &'a str,
        /// The reported state.
        health: &'a SourceHealth,
    },
    /// An event source has stopped for good: its task has panicked, or it was not synced in time while the operator
    /// started, and [`stop_on_source_error_at_start`](crate::OperatorBuilder::stop_on_source_error_at_start) is set.
    SourceStopped {
        /// The controller's name.
        controller: &'a str,
        /// The event source's name.
        source: &'a str,
        /// The namespace that is affected, if not the whole source is.
        namespace: Option<&'a str>,
        /// The reason, in the server's words if the server refused, and what can be done about it.
        error: &'a str,
    },
    /// An event source has stopped, because a run has removed it or no node needs it any more: its observations no longer
    /// matter until it starts again.
    SourceRemoved {
        /// The controller's name.
        controller: &'a str,
        /// The event source's name.
        source: &'a str,
    },
    /// The number of objects that an event source can't decode has changed.
    UndecodableObjects {
        /// The controller's name.
        controller: &'a str,
        /// The event source's name.
        source: &'a str,
        /// Their number now.
        objects: usize,
    },
    /// A watch of an event source was silent, as over a half-open connection, and is replaced by another one.
    WatchReplaced {
        /// The controller's name.
        controller: &'a str,
        /// The event source's name.
        source: &'a str,
    },
    /// An event source saw a change, and it passed the source's filters.
    EventReceived {
        /// The controller's name.
        controller: &'a str,
        /// The event source's name.
        source: &'a str,
        /// The object that changed; a secondary for the sources of secondaries.
        key: &'a ObjectKey,
        /// What happened to it.
        action: Action,
    },
    /// A primary was seen for the first time, or again after it had been gone.
    PrimaryAdded {
        /// The controller's name.
        controller: &'a str,
        /// The primary.
        key: &'a ObjectKey,
    },
    /// A primary is gone, and everything that was kept about it has been dropped.
    PrimaryGone {
        /// The controller's name.
        controller: &'a str,
        /// The primary.
        key: &'a ObjectKey,
    },
    /// A run was submitted: it waits for a free place or starts at once.
    RunSubmitted {
        /// The controller's name.
        controller: &'a str,
        /// The primary.
        key: &'a ObjectKey,
        /// The number of the retry; zero for a first attempt.
        attempt: u32,
    },
    /// A run that was submitted will not start: its primary was removed or replaced while it waited, or the controller
    /// was stopped.
    RunWithdrawn {
        /// The controller's name.
        controller: &'a str,
        /// The primary.
        key: &'a ObjectKey,
    },
    /// A run has started.
    RunStarted {
        /// The controller's name.
        controller: &'a str,
        /// The primary.
        key: &'a ObjectKey,
        /// Why it runs, as text.
        because: &'a str,
        /// The number of the retry; zero for a first attempt.
        attempt: u32,
    },
    /// A run that had started has ended, in any way; there is exactly one for each start.
    RunFinished {
        /// The controller's name.
        controller: &'a str,
        /// The primary.
        key: &'a ObjectKey,
        /// The kind of the run.
        kind: RunKind,
        /// How it ended.
        end: RunEnd<'a>,
        /// How long it took.
        took: Duration,
    },
    /// A node of a workflow has reached this state in a run.
    NodeState {
        /// The controller's name.
        controller: &'a str,
        /// The primary of the run.
        key: &'a ObjectKey,
        /// The node's name.
        node: &'a str,
        /// Its state, and why.
        state: &'a NodeState,
    },
    /// A failed run will be retried.
    RetryScheduled {
        /// The controller's name.
        controller: &'a str,
        /// The primary.
        key: &'a ObjectKey,
        /// The number of that retry, counted from one; `None` after a failure of the API server, which uses up no
        /// attempt.
        attempt: Option<u32>,
        /// When it is due, from now.
        after: Duration,
    },
    /// A request to the API server was answered, or failed; each attempt of a read counts. A watch is reported when it
    /// begins.
    Requested {
        /// The verb, as in role rules: `get`, `list`, `watch`, `create`, `update`, `patch`, `apply`, `delete`,
        /// `deletecollection`.
        verb: &'static str,
        /// The code of the answer; `None` if there was none.
        code: Option<u16>,
        /// How long it took until the answer began.
        took: Duration,
    },
    /// The present state of an event source. Reported before metrics are read, and from time to time.
    SourceSeen {
        /// The controller's name.
        controller: &'a str,
        /// The event source's name.
        source: &'a str,
        /// The number of objects that it holds in memory, if it counts them.
        objects: Option<usize>,
    },
    /// The present state of a controller. Reported before metrics are read, and from time to time.
    ControllerSeen {
        /// The controller's name.
        controller: &'a str,
        /// How long the run that has waited longest for a free place has waited; zero if none waits.
        longest_wait: Duration,
    },
    /// A condition of a primary has another status or reason than before. It is a transition if a status that says so was written;
    /// otherwise this process sees the condition for the first time, or no longer: a status left it out, its primary is gone, or
    /// the operator has stopped.
    ConditionChanged {
        /// The controller's name.
        controller: &'a str,
        /// The primary.
        key: &'a ObjectKey,
        /// The condition's type, such as `Ready`.
        condition: &'a str,
        /// Its status (`True`, `False` or `Unknown`) and reason before, if there was one.
        before: Option<(&'a str, &'a str)>,
        /// Its status and reason now, if there is one.
        now: Option<(&'a str, &'a str)>,
        /// Its message, if it is a transition.
        message: Option<&'a str>,
    },
    /// A primary is paused from now on, or no longer. The second is told at the latest when it is gone, or the operator stops.
    PrimaryPaused {
        /// The controller's name.
        controller: &'a str,
        /// The primary.
        key: &'a ObjectKey,
        /// Whether it is.
        paused: bool,
    },
    /// A Kubernetes Event about a primary was written, or dropped.
    EventRecorded {
        /// The controller's name.
        controller: &'a str,
        /// The primary that it is about.
        primary: &'a ObjectKey,
        /// Its reason, such as `Created`.
        reason: &'a str,
        /// Its outcome.
        outcome: EventOutcome,
    },
    /// A write to the API server was answered, or failed, or was found to be unnecessary.
    Wrote {
        /// The controller's name.
        controller: &'a str,
        /// The primary whose run made the write.
        primary: &'a ObjectKey,
        /// The type of the object that was written.
        target_type: &'a ResourceType,
        /// The object that was written.
        target: &'a ObjectKey,
        /// The subresource, if one was written.
        subresource: Option<&'a str>,
        /// The outcome.
        effect: WriteEffect<'a>,
        /// How long the answer took.
        took: Duration,
    },
}

/// What happened to a watched object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// It appeared.
    Added,
    /// It changed.
    Updated,
    /// It is gone.
    Deleted,
}

impl Action {
    /// The name used in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Updated => "UPDATED",
            Self::Deleted => "DELETED",
        }
    }
}

/// The part of the user's code that a run called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// `Reconciler::reconcile`.
    Reconcile,
    /// `Cleaner::cleanup`.
    Cleanup,
    /// None: the object was gone, or waits for other finalizers to be removed.
    Nothing,
}

impl RunKind {
    /// The name used in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reconcile => "reconcile",
            Self::Cleanup => "cleanup",
            Self::Nothing => "none",
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub enum RunEnd<'a> {
    /// Without an error.
    Succeeded,
    /// With an error.
    Failed {
        /// The error with its sources, in one line.
        error: &'a str,
        /// Whether user code panicked.
        panicked: bool,
    },
    /// Dropped before its end: shutdown or a deadline.
    Abandoned,
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug)]
pub enum WriteEffect<'a> {
    /// The object is new.
    Created,
    /// The object has changed.
    Updated,
    /// The server found nothing to change.
    Unchanged,
    /// Nothing differed, so no request was made.
    Matched,
    /// The object is gone, or marked for deletion.
    Deleted,
    /// The server refused, or didn't answer.
    Failed {
        /// The server's own words.
        error: &'a str,
    },
}

/// The outcome of a Kubernetes Event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventOutcome {
    /// It was written for the first time.
    Created,
    /// It existed already, and its count was incremented.
    Repeated,
    /// It was dropped: its primary has had too many.
    Suppressed,
    /// It was dropped: too many waited to be written.
    Overflowed,
    /// The server refused, or didn't answer.
    Failed,
    /// It was forwarded, besides: see [`OperatorBuilder::forward_events`](crate::OperatorBuilder::forward_events).
    Forwarded,
    /// It was to be forwarded, and was dropped: too many waited, or the receiver refused or didn't answer.
    NotForwarded,
}

impl EventOutcome {
    /// The name used in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Repeated => "repeated",
            Self::Suppressed => "suppressed",
            Self::Overflowed => "overflowed",
            Self::Failed => "failed",
            Self::Forwarded => "forwarded",
            Self::NotForwarded => "not_forwarded",
        }
    }
}

/// What an event source reports about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SourceHealth {
    /// It has not seen all objects yet.
    #[default]
    Syncing,
    /// It has seen all objects and follows their changes.
    Healthy,
    /// It can't follow, and retries.
    Unhealthy {
        /// What went wrong, in the server's own words.
        reason: String,
        /// What the reader can do about it, if that is known.
        advice: Option<String>,
    },
}
