//! The result of a condition.

use std::{any::Any, fmt, sync::Arc, time::Duration};

/// The kind of a node's condition, named after the method that declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionKind {
    /// `needs`: whether the node takes part at all. JOSDK: `activationCondition`.
    Needs,
    /// `only_if`, or the result of its function: whether it should exist. JOSDK: `reconcilePrecondition`.
    OnlyIf,
    /// `ready`: whether it is ready, and nodes that come after it may follow. JOSDK: `readyPostcondition`.
    Ready,
    /// `gone`: whether it is gone, and nodes that it comes after may follow. JOSDK: `deletePostcondition`.
    Gone,
}

impl fmt::Display for ConditionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Needs => "condition `needs`",
            Self::OnlyIf => "condition `only_if`",
            Self::Ready => "condition `ready`",
            Self::Gone => "condition `gone`",
        })
    }
}

/// The result of a condition: whether it is met, why, and a detail for code that knows its type. JOSDK:
/// `DetailedCondition.Result`.
///
/// ```
/// use operator_core::Verdict;
///
/// let answer = Verdict::not_met("1/3 replicas").with_detail(1_u32);
/// assert!(!answer.is_met());
/// assert_eq!(answer.reason(), "1/3 replicas");
/// assert_eq!(answer.detail::<u32>(), Some(&1));
/// ```
#[derive(Clone)]
#[must_use]
pub struct Verdict {
    met: bool,
    reason: String,
    detail: Option<Arc<dyn Any + Send + Sync>>,
    again_in: Option<Duration>,
}

/// The code with which a dependent holds its node or lets it wait, suitable for a condition of the status: the detail of its
/// verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantCode(pub(crate) &'static str);

impl Verdict {
    /// The condition is met.
    pub fn met() -> Self {
        Self { met: true, reason: String::new(), detail: None, again_in: None }
    }

    /// The condition isn't met, for this reason: a few words that complete "waiting for it to be ready: …".
    pub fn not_met(reason: impl Into<String>) -> Self {
        Self { met: false, reason: reason.into(), detail: None, again_in: None }
    }

    /// Met or not; the reason is used if it isn't met.
    pub fn when(met: bool, otherwise: impl Into<String>) -> Self {
        if met { Self::met() } else { Self::not_met(otherwise) }
    }

    /// Adds a detail, which code that knows its type can read from the result of the workflow.
    pub fn with_detail<T: Send + Sync + 'static>(mut self, detail: T) -> Self {
        self.detail = Some(Arc::new(detail));
        self
    }

    /// Adds a reason, or replaces it.
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// If it isn't met, it is evaluated again in another run of the primary, after this time at the latest. For changes
    /// that no event source reports.
    pub fn again_in(mut self, delay: Duration) -> Self {
        self.again_in = Some(delay);
        self
    }

    /// The delay after which the primary is run again for this condition.
    pub(crate) fn asked_again_in(&self) -> Option<Duration> {
        self.again_in.filter(|_| !self.met)
    }

    /// Whether it is met.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.met
    }

    /// The reason; empty if there is none.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The detail, if it has type `T`.
    #[must_use]
    pub fn detail<T: 'static>(&self) -> Option<&T> {
        self.detail.as_deref()?.downcast_ref()
    }
}

debug_of!(Verdict: "Verdict", |it| met: it.met, reason: it.reason);
