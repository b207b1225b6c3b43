//! Why `dev` failed, and what to do about it.

use std::error::Error as StdError;

use super::StepError;
use crate::cli::{ExitStatus, error::one_line};

/// What the command `dev` can fail with, in addition to what any command can.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum DevError {
    /// Something in the development cluster failed.
    #[error("could not {doing}")]
    Cluster {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// `dev` would have used a cluster that it did not start.
    #[error(
        "USE_EXISTING_CLUSTER is set, and `dev` writes only to a control plane that it has started itself"
    )]
    NotOurs,
    /// The operator's own account lacks rights.
    #[error("{user} lacks {} of the rights that the operator needs from its start", missing.len())]
    Forbidden {
        /// The account.
        user: String,
        /// What is missing, as in "list configmaps".
        missing: Vec<String>,
    },
    /// A step of the scenario was refused, or its condition was not met in time.
    #[error("the step `{step}` failed")]
    Step {
        /// The step's name.
        step: String,
        /// Why.
        source: Box<StepError>,
    },
}

impl DevError {
    /// The exit code of the process.
    pub(in crate::cli) fn exit_status(&self) -> ExitStatus {
        match self {
            Self::NotOurs => ExitStatus::Usage,
            Self::Forbidden { .. } => ExitStatus::Forbidden,
            Self::Step { source, .. } if source.is_timeout() => ExitStatus::TimedOut,
            Self::Cluster { .. } | Self::Step { .. } => ExitStatus::Failed,
        }
    }

    /// Why it failed, in one line.
    pub(in crate::cli) fn why(&self) -> Option<String> {
        match self {
            Self::Forbidden { missing, .. } => Some(format!("it may not {}", missing.join(", "))),
            Self::Cluster { .. } | Self::NotOurs | Self::Step { .. } => self.source().map(one_line),
        }
    }

    /// What to do next.
    pub(in crate::cli) fn advice(&self, program: &str) -> String {
        match self {
            Self::Cluster { .. } => format!("RUST_LOG=debug {program} dev"),
            Self::NotOurs => format!("env -u USE_EXISTING_CLUSTER {program} dev"),
            Self::Forbidden { .. } => {
                format!("add the rules to the role in the operator's manifests, then {program} dev")
            }
            Self::Step { .. } => format!("{program} dev, and repeat the step by hand"),
        }
    }
}
