//! The words for a state, and what each means for a condition.

use std::fmt;

use operator_core::status::conditions::ConditionStatus;

/// The state of an object or a component: the reason of a condition. `priorities.tsv`, beside this file, has them with their
/// priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Something failed in the run itself, for example a refused write.
    Error,
    /// Whether the component should exist could not be determined.
    FeatureGateError,
    /// The grace period is over, and nothing works.
    Down,
    /// The grace period is over, and a part works.
    Degraded,
    /// It is to be suspended, and nothing has been done about it yet.
    PendingSuspension,
    /// It is being suspended.
    Suspending,
    /// It is suspended, as it should be.
    Suspended,
    /// It doesn't exist, as it should be: its feature is off.
    Disabled,
    /// A workload can't do what it should.
    Failing,
    /// Something that depends on an external system can't work.
    OperationFailing,
    /// A task has failed.
    TaskFailing,
    /// A node waits, or is held.
    Blocked,
    /// The component has not been started: it comes after something that isn't ready.
    PrerequisiteNotMet,
    /// A workload doesn't have the replicas that it should have, and nothing else about it has changed.
    Scaling,
    /// A task runs.
    TaskRunning,
    /// An object is being changed.
    Updating,
    /// An object was created, and has not been ready yet.
    Creating,
    /// Something waits for an external system.
    OperationPending,
    /// A task has not begun.
    TaskPending,
    /// A workload, or the component, is as it should be.
    Healthy,
    /// Something that depends on an external system works.
    Operational,
    /// A task has succeeded.
    Completed,
    /// Nothing is known yet.
    Unknown,
}

/// Each reason with its name, priority and class, in the order of the variants.
const TABLE: [(Reason, &str, u8, Option<u8>); 23] = [
    (Reason::Error, "Error", 20, None),
    (Reason::FeatureGateError, "FeatureGateError", 20, None),
    (Reason::Down, "Down", 19, None),
    (Reason::Degraded, "Degraded", 18, None),
    (Reason::PendingSuspension, "PendingSuspension", 17, None),
    (Reason::Suspending, "Suspending", 16, None),
    (Reason::Suspended, "Suspended", 15, None),
    (Reason::Disabled, "Disabled", 14, None),
    (Reason::Failing, "Failing", 13, Some(5)),
    (Reason::OperationFailing, "OperationFailing", 12, Some(5)),
    (Reason::TaskFailing, "TaskFailing", 11, Some(5)),
    (Reason::Blocked, "Blocked", 10, Some(2)),
    (Reason::PrerequisiteNotMet, "PrerequisiteNotMet", 10, None),
    (Reason::Scaling, "Scaling", 9, Some(4)),
    (Reason::TaskRunning, "TaskRunning", 8, Some(4)),
    (Reason::Updating, "Updating", 7, Some(3)),
    (Reason::Creating, "Creating", 6, Some(2)),
    (Reason::OperationPending, "OperationPending", 5, Some(2)),
    (Reason::TaskPending, "TaskPending", 4, Some(2)),
    (Reason::Healthy, "Healthy", 3, Some(1)),
    (Reason::Operational, "Operational", 2, Some(1)),
    (Reason::Completed, "Completed", 1, Some(1)),
    (Reason::Unknown, "Unknown", 0, None),
];

impl Reason {
    const fn entry(self) -> (Self, &'static str, u8, Option<u8>) {
        TABLE[self as usize]
    }

    /// Its form in a condition.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.entry().1
    }

    /// The reason of a stored condition; `None` for one that isn't a component's.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        TABLE.into_iter().find(|(_, name, ..)| *name == text).map(|(reason, ..)| reason)
    }

    /// How critical it is, from 20 to 0: of several, the one with the highest priority is told.
    #[must_use]
    pub const fn priority(self) -> u8 {
        self.entry().2
    }

    /// The status of a condition with this reason: `True` if everything is in the state that it should be in, or is on
    /// its way to be suspended.
    #[must_use]
    pub fn status(self) -> ConditionStatus {
        let is_as_it_should_be = self.is_healthy()
            || matches!(self, Self::PendingSuspension | Self::Suspending | Self::Suspended | Self::Disabled);
        is_as_it_should_be.into()
    }

    /// Whether an object with this state is ready.
    #[must_use]
    pub const fn is_healthy(self) -> bool {
        matches!(self, Self::Healthy | Self::Operational | Self::Completed)
    }

    /// Whether it is on the way, and nothing is wrong.
    pub(crate) const fn is_progress(self) -> bool {
        matches!(
            self,
            Self::Scaling
                | Self::TaskRunning
                | Self::Updating
                | Self::Creating
                | Self::OperationPending
                | Self::TaskPending
        )
    }

    /// Whether the texts of rows with these reasons are told together.
    pub(crate) fn is_told_with(self, other: Self) -> bool {
        self == other || self.entry().3.is_some_and(|class| other.entry().3 == Some(class))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
