//! The error of a workflow, known as `workflow::Error`, and the error of a node that panicked.

use std::{any::Any, fmt, sync::Arc};

use super::{dependent_error::kind_in_workflow, failure_kind::of_several};
use crate::{error::BoxError, observe::error_chain, processor::FailureKind, resource::did_you_mean};

/// An error of a workflow.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// Nodes failed; each with its name. All others that could run did. JOSDK's `AggregatedOperatorException`.
    #[error("{}", failed(.0))]
    Nodes(Vec<(Arc<str>, Arc<BoxError>)>),
    /// The controller has no workflow.
    #[error("the controller has no workflow; declare one with `.workflow(…)` or `#[workflow(…)]`")]
    NoWorkflow,
    /// The primary is no longer known.
    #[error("the primary is gone, so its workflow can't run")]
    PrimaryGone,
    /// The controller's workflow has no such node.
    #[error("`{node}` isn't a node of the controller's workflow{}", did_you_mean(nearest.as_deref()))]
    UnknownNode {
        /// The name that was given.
        node: String,
        /// The node whose name is most similar, if there is one.
        nearest: Option<String>,
    },
    /// A function of one node asks for what another one has, and doesn't come after that one.
    #[error("`{node}` asks for what `{other}` has, and doesn't come after it: write `{node}.after({other})`")]
    Unordered {
        /// The node of the function.
        node: String,
        /// The one that it asks for.
        other: String,
    },
}

fn failed(nodes: &[(Arc<str>, Arc<BoxError>)]) -> String {
    let failed = nodes.iter().map(|(name, error)| format!("{name}: {}", error_chain(&***error)));
    let plural = if nodes.len() == 1 { "" } else { "s" };
    format!("{} dependent{plural} failed: {}", nodes.len(), failed.collect::<Vec<_>>().join("; "))
}

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
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Panicked(String);

impl Panicked {
    /// `what` is the part that panicked, `payload` the payload of the panic.
    pub(crate) fn new(what: &impl fmt::Display, payload: &(dyn Any + Send)) -> Self {
        Self(format!("the {what} panicked: {}", panic_text(payload)))
    }
}

/// The text of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}
