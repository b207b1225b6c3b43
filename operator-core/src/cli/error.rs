//! Why a command failed, and what to do about it.

use std::{error::Error as StdError, io, path::PathBuf};

use super::ExitStatus;
use crate::{
    observe::error_chain,
    operator::{self, LeaderElectionError},
};

/// What a command can fail with. Shown as three lines: what failed, why, and what to type next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operator's declaration contradicts itself.
    #[error("the operator is declared wrongly")]
    Declaration(#[source] operator::Error),
    /// The operator could not start.
    #[error("the operator could not start")]
    Operator(#[source] operator::Error),
    /// No kubeconfig and no pod's service account leads to a cluster.
    #[error("no cluster is configured")]
    NoCluster(#[source] Box<dyn StdError + Send + Sync>),
    /// The operator is not declared in that style.
    #[error("this operator has no style `{style}`")]
    NoSuchStyle {
        /// What was asked for.
        style: String,
        /// The styles that there are.
        known: String,
    },
    /// The operator has no definition to print.
    #[error("this operator declares no custom resource definition")]
    NoCrd,
    /// A definition could not be written as YAML.
    #[error("the custom resource definition can't be written as YAML: {0}")]
    Yaml(String),
    /// A file could not be read.
    #[error("could not read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A generated file is not what would be generated now.
    #[error("{} is stale: it differs from what this operator would generate", path.display())]
    Stale {
        /// The file.
        path: PathBuf,
    },
    /// The process can't listen to its signals.
    #[error("cannot listen to the process's signals")]
    Signals(#[source] io::Error),
    /// Something in the development cluster failed.
    #[cfg(feature = "testing")]
    #[error("could not {doing}")]
    Cluster {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// `dev` was to use a cluster that it did not start.
    #[cfg(feature = "testing")]
    #[error(
        "USE_EXISTING_CLUSTER is set, and `dev` writes only to a control plane that it has started itself"
    )]
    NotOurs,
    /// The operator's own account lacks rights.
    #[cfg(feature = "testing")]
    #[error("{user} lacks {} of the rights that the operator needs from its start", missing.len())]
    Forbidden {
        /// The account.
        user: String,
        /// What is missing, as in "list configmaps".
        missing: Vec<String>,
    },
    /// A step of the scenario was refused, or was not fulfilled in time.
    #[cfg(feature = "testing")]
    #[error("the step `{step}` failed")]
    Step {
        /// The step's name.
        step: String,
        /// Why.
        source: Box<super::dev::StepError>,
    },
}

impl Error {
    /// How the process is to end.
    #[must_use]
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            Self::Declaration(_) => ExitStatus::Configuration,
            Self::Operator(operator::Error::LeaderElection(LeaderElectionError::Forbidden { .. })) => {
                ExitStatus::Forbidden
            }
            Self::Operator(operator::Error::LeaderElection(_)) => ExitStatus::Configuration,
            Self::Stale { .. } => ExitStatus::Stale,
            Self::NoSuchStyle { .. } => ExitStatus::Usage,
            #[cfg(feature = "testing")]
            Self::NotOurs => ExitStatus::Usage,
            #[cfg(feature = "testing")]
            Self::Forbidden { .. } => ExitStatus::Forbidden,
            #[cfg(feature = "testing")]
            Self::Step { source, .. } if source.is_timeout() => ExitStatus::TimedOut,
            _ => ExitStatus::Failed,
        }
    }

    /// Why it failed, in one line; in the server's own words where there are any.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        match self {
            #[cfg(feature = "testing")]
            Self::Forbidden { missing, .. } => Some(format!("it may not {}", missing.join(", "))),
            _ => self.source().map(one_line),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn advice(&self, program: &str) -> String {
        match self {
            Self::Declaration(_) | Self::Yaml(_) => "change the declaration and build again".to_owned(),
            Self::Operator(operator::Error::Http { address, .. }) => {
                format!("ss -ltnp 'sport = :{}', then {program} run", address.port())
            }
            Self::Operator(operator::Error::LeaderElection(LeaderElectionError::Forbidden {
                namespace,
                ..
            })) => {
                format!("kubectl auth can-i update leases --namespace {namespace} --as <account>")
            }
            Self::Operator(operator::Error::LeaderElection(_)) => format!("{program} run --help"),
            Self::Operator(_) => format!("kubectl cluster-info; then {program} run"),
            Self::NoCluster(_) => {
                let own = if cfg!(feature = "testing") {
                    format!(", or {program} dev for a cluster of its own")
                } else {
                    String::new()
                };
                format!("export KUBECONFIG=<file>, then {program} run{own}")
            }
            Self::NoSuchStyle { known, .. } if known.is_empty() => "leave `--style` out".to_owned(),
            Self::NoSuchStyle { known, .. } => format!("{program} run --style NAME, one of {known}"),
            Self::NoCrd => "name one with `.crd(MyKind::crd())` in the operator's declaration".to_owned(),
            Self::Read { path, .. } => format!("ls -l {}", path.display()),
            Self::Stale { path } => format!("{program} crd > {}", path.display()),
            Self::Signals(_) => format!("{program} run"),
            #[cfg(feature = "testing")]
            Self::Cluster { .. } => format!("RUST_LOG=debug {program} dev"),
            #[cfg(feature = "testing")]
            Self::NotOurs => format!("env -u USE_EXISTING_CLUSTER {program} dev"),
            #[cfg(feature = "testing")]
            Self::Forbidden { .. } => {
                format!("add the rules to the role in the operator's manifests, then {program} dev")
            }
            #[cfg(feature = "testing")]
            Self::Step { .. } => format!("{program} dev, and repeat the step by hand"),
        }
    }
}

/// An error and its sources in one line, whatever line breaks they hold.
fn one_line(error: &(dyn StdError + 'static)) -> String {
    error_chain(error).replace('\n', " ")
}
