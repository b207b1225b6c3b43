//! Why a command failed, and what to do about it.

use std::{error::Error as StdError, io, path::PathBuf};

use super::ExitStatus;
use crate::{
    controller::Mistakes,
    observe::with_sources,
    operator::{self, LeaderElectionError},
};

/// What a command can fail with. Shown as three lines: what failed, why, and what to type next.
#[derive(Debug, thiserror::Error)]
#[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "some are those of `dev`"))]
pub(super) enum Error {
    /// The operator's declaration contradicts itself.
    #[error("the operator's declaration is wrong")]
    Declaration(#[source] Mistakes),
    /// The operator could not start.
    #[error("the operator could not start")]
    Operator(#[source] operator::Error),
    /// No kubeconfig and no pod's service account leads to a cluster.
    #[error("no cluster is configured")]
    NoCluster(#[source] Box<dyn StdError + Send + Sync>),
    /// There is a kubeconfig, and it can't be used.
    #[error("the kubeconfig can't be used")]
    Kubeconfig(#[source] Box<dyn StdError + Send + Sync>),
    /// The kubeconfig has no such context.
    #[error("{}", no_context(name))]
    NoContext {
        /// The context; empty if none was chosen.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// The operator runs in a pod, whose service account can't be used.
    #[error("the pod's service account can't be used")]
    ServiceAccount(#[source] Box<dyn StdError + Send + Sync>),
    /// The operator is not declared in that style.
    #[error("this operator has no style `{style}`")]
    NoSuchStyle {
        /// The requested style.
        style: String,
        /// The existing styles.
        known: String,
    },
    /// The workbench has no scenario of that name.
    #[error("this operator has no scenario `{scenario}`")]
    NoSuchScenario {
        /// The requested scenario.
        scenario: String,
        /// The existing ones.
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
    /// The process can't receive signals.
    #[error("cannot listen to the process's signals")]
    Signals(#[source] io::Error),
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
        /// Whether it waited in vain.
        timed_out: bool,
        /// Why.
        source: Box<dyn StdError + Send + Sync>,
    },
}

fn no_context(name: &str) -> String {
    match name {
        "" => "the kubeconfig has no current context".to_owned(),
        name => format!("the kubeconfig has no context `{name}`"),
    }
}

impl Error {
    /// The exit code of the process.
    pub(super) fn exit_status(&self) -> ExitStatus {
        match self {
            Self::Declaration(_) => ExitStatus::Configuration,
            Self::Operator(operator::Error::LeaderElection(LeaderElectionError::Forbidden { .. })) => {
                ExitStatus::Forbidden
            }
            Self::Operator(operator::Error::LeaderElection(_)) => ExitStatus::Configuration,
            Self::Operator(operator::Error::Definitions { forbidden: true, .. }) => ExitStatus::Forbidden,
            Self::Stale { .. } => ExitStatus::Stale,
            Self::NoSuchStyle { .. } | Self::NoSuchScenario { .. } | Self::NotOurs => ExitStatus::Usage,
            Self::Forbidden { .. } => ExitStatus::Forbidden,
            Self::Step { timed_out: true, .. } => ExitStatus::TimedOut,
            _ => ExitStatus::Failed,
        }
    }

    /// Why it failed, in one line; in the server's own words where there are any.
    pub(super) fn why(&self) -> Option<String> {
        match self {
            Self::Forbidden { missing, .. } => Some(format!("it may not {}", missing.join(", "))),
            Self::NoContext { known, .. } if known.is_empty() => Some("it has no contexts".to_owned()),
            Self::NoContext { known, .. } => Some(format!("its contexts are {}", known.join(", "))),
            _ => self.source().map(one_line),
        }
    }

    /// What to do next.
    pub(super) fn advice(&self, program: &str) -> String {
        match self {
            Self::Declaration(_) | Self::Yaml(_) => "change the declaration and build again".to_owned(),
            #[cfg(feature = "http")]
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
            Self::Operator(operator::Error::NotSynced { sources, .. }) => {
                let namespace = sources.first().and_then(|source| source.namespace.as_deref());
                let place = namespace.map_or_else(String::new, |name| format!(" --namespace {name}"));
                format!("kubectl auth can-i --list{place} --as <account>; then {program} run")
            }
            Self::Operator(_) => format!("kubectl cluster-info; then {program} run"),
            Self::NoCluster(_) => {
                let own = if cfg!(feature = "testing") {
                    format!(", or {program} dev for a cluster of its own")
                } else {
                    String::new()
                };
                format!("export KUBECONFIG=<file>, then {program} run{own}")
            }
            Self::Kubeconfig(_) => format!("kubectl config view, then {program} run"),
            Self::NoContext { .. } => format!("{program} run --context NAME, with one of them"),
            Self::ServiceAccount(_) => format!(
                "look at serviceAccountName and automountServiceAccountToken of the pod, then {program} run"
            ),
            Self::NoSuchStyle { known, .. } if known.is_empty() => "leave `--style` out".to_owned(),
            Self::NoSuchStyle { known, .. } => format!("{program} run --style NAME, one of {known}"),
            Self::NoSuchScenario { known, .. } if known.is_empty() => "leave `--scenario` out".to_owned(),
            Self::NoSuchScenario { known, .. } => {
                format!("{program} dev --once --scenario NAME, one of {known}")
            }
            Self::NoCrd => "declare the controller with `Controller::of::<MyKind>()` or the derive, which bring the definition".to_owned(),
            Self::Read { path, .. } => format!("ls -l {}", path.display()),
            Self::Stale { path } => format!("{program} crd > {}", path.display()),
            Self::Signals(_) => format!("{program} run"),
            Self::Cluster { .. } => format!("RUST_LOG=debug {program} dev"),
            Self::NotOurs => format!("env -u USE_EXISTING_CLUSTER {program} dev"),
            Self::Forbidden { .. } => {
                format!("add the rules to the role in the operator's manifests, then {program} dev")
            }
            Self::Step { .. } => format!("{program} dev, and repeat the step by hand"),
        }
    }
}

impl From<operator::Error> for Error {
    fn from(error: operator::Error) -> Self {
        match error {
            operator::Error::Declaration(mistakes) => Self::Declaration(mistakes),
            other => Self::Operator(other),
        }
    }
}

/// An error and its sources in one line, whatever line breaks they hold.
pub(super) fn one_line(error: &(dyn StdError + 'static)) -> String {
    let mut texts = Vec::new();
    for error in with_sources(error) {
        // kube's own text has the server's message three times, once within a value of Rust.
        if let Some(message) = refusal(error) {
            texts.push(message.to_owned());
            break;
        }
        texts.push(error.to_string());
    }
    texts.join(": ").replace('\n', " ")
}

/// The server's message, if the error is its refusal.
fn refusal<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e str> {
    let boxed = || error.downcast_ref::<Box<kube::Error>>().map(AsRef::as_ref);
    match error.downcast_ref().or_else(boxed)? {
        kube::Error::Api(status) if !status.message.is_empty() => Some(&status.message),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("could not apply Wiki cats")]
    struct Refused<E: StdError + 'static>(#[source] E);

    fn api(message: &str) -> kube::Error {
        kube::Error::Api(Box::new(Status { message: message.to_owned(), code: 422, ..Status::default() }))
    }

    #[test]
    fn a_refusal_is_shown_once_in_the_servers_words() {
        let (plain, boxed) = (Refused(api("no\nsuch field")), Refused(Box::new(api("no\nsuch field"))));
        for error in [&plain as &dyn StdError, &boxed] {
            assert_eq!(one_line(error), "could not apply Wiki cats: no such field");
        }
        assert!(one_line(&Refused(api(""))).contains("422"), "a refusal without words keeps its code");
    }
}
