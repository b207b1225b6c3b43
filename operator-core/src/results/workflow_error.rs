//! The error of a workflow, known as `workflow::Error`, and the error of a node that panicked.

use std::{any::Any, fmt, sync::Arc};

use super::{dependent_error::kind_in_workflow, failure_kind::of_several};
use crate::{error::BoxError, observe::error_chain, processor::FailureKind};

/// An error of a workflow.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WorkflowError {
    /// Nodes failed; each with its name. All others that could run did. JOSDK's `AggregatedOperatorException`.
    Nodes(Vec<(Arc<str>, Arc<BoxError>)>),
    /// The controller has no workflow.
    NoWorkflow,
    /// The primary is no longer known.
    PrimaryGone,
    /// The controller's workflow has no such node.
    UnknownNode {
        /// The name that was given.
        node: String,
        /// The node whose name is most similar, if there is one.
        nearest: Option<String>,
    },
    /// A function of one node asks for what another one has, and doesn't come after that one.
    Unordered {
        /// The node of the function.
        node: String,
        /// The one that it asks for.
        other: String,
    },
}

impl fmt::Display for WorkflowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => {
                let plural = if nodes.len() == 1 { "" } else { "s" };
                write!(f, "{} dependent{plural} failed", nodes.len())?;
                for (position, (name, error)) in nodes.iter().enumerate() {
                    let before = if position == 0 { ": " } else { "; " };
                    write!(f, "{before}{name}: {}", error_chain(&***error))?;
                }
                Ok(())
            }
            Self::NoWorkflow => f.write_str(
                "the controller has no workflow; declare one with `.workflow(…)` or `#[workflow(…)]`",
            ),
            Self::PrimaryGone => f.write_str("the primary is gone, so its workflow can't run"),
            Self::UnknownNode { node, nearest } => {
                write!(f, "`{node}` isn't a node of the controller's workflow")?;
                nearest.iter().try_for_each(|name| write!(f, "; did you mean `{name}`?"))
            }
            Self::Unordered { node, other } => write!(
                f,
                "`{node}` asks for what `{other}` has, and doesn't come after it: write `{node}.after({other})`"
            ),
        }
    }
}

impl std::error::Error for WorkflowError {}

impl WorkflowError {
    /// Whether a retry can help: it can, unless all failed nodes have errors of the framework for which a retry
    /// can't help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.failure_kind() != FailureKind::Permanent
    }

    /// The kind of the failure: the server's if any node has a failure of the server, because that node has to be retried.
    pub(crate) fn failure_kind(&self) -> FailureKind {
        match self {
            Self::Nodes(nodes) => of_several(nodes.iter().map(|(_, error)| kind_in_workflow(&***error))),
            Self::NoWorkflow | Self::UnknownNode { .. } | Self::Unordered { .. } => FailureKind::Permanent,
            Self::PrimaryGone => FailureKind::Retryable,
        }
    }

    /// Whether user code panicked.
    pub(crate) fn is_panic(&self) -> bool {
        matches!(self, Self::Nodes(nodes) if nodes.iter().any(|(_, error)| error.is::<Panicked>()))
    }
}

/// A part of a workflow that panicked: the error of its node.
#[derive(Debug)]
pub(crate) struct Panicked(String);

impl Panicked {
    /// `what` is the part that panicked, `payload` the payload of the panic.
    pub(crate) fn new(what: &impl fmt::Display, payload: &(dyn Any + Send)) -> Self {
        Self(format!("the {what} panicked: {}", panic_text(payload)))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Panicked {}

/// The text of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}
