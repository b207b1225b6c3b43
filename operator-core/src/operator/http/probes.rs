//! What is answered to a probe.

use std::{fmt, sync::atomic::Ordering};

use crate::{
    observe::SourceHealth,
    operator::{Running, UnhealthySource},
};

/// Whether an operator does its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// All event sources are synced and follow the cluster.
    Ready,
    /// The operator has not started yet, or has stopped.
    NotRunning,
    /// The operator waits for its last runs.
    Stopping,
    /// These event sources don't work, or have not seen everything yet.
    Waiting(Vec<UnhealthySource>),
}

impl fmt::Display for Readiness {
    /// One line for each source: controller, source, reason, advice.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ok"),
            Self::NotRunning => f.write_str("the operator is not running\n"),
            Self::Stopping => f.write_str("the operator is stopping\n"),
            Self::Waiting(sources) => sources.iter().try_for_each(|source| {
                let UnhealthySource { controller, source, health } = source;
                write!(f, "controller {controller}, source {source}: ")?;
                match health {
                    SourceHealth::Healthy => f.write_str("healthy")?,
                    SourceHealth::Syncing => f.write_str("syncing, it has not seen all objects yet")?,
                    SourceHealth::Unhealthy { reason, advice } => {
                        f.write_str(&one_line(reason))?;
                        if let Some(advice) = advice {
                            write!(f, "; {}", one_line(advice))?;
                        }
                    }
                }
                f.write_str("\n")
            }),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Running {
    pub(super) fn readiness(&self) -> Readiness {
        if self.stopping.load(Ordering::Relaxed) {
            return Readiness::Stopping;
        }
        let unhealthy = self.unhealthy_sources();
        if unhealthy.is_empty() { Readiness::Ready } else { Readiness::Waiting(unhealthy) }
    }

    /// The tasks that should never end and have ended: nothing but a new process brings them back. Empty while the
    /// operator stops, as they are meant to end then.
    pub(super) fn ended_tasks(&self) -> Vec<String> {
        if self.stopping.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let ended = self.controllers.iter().flat_map(|controller| {
            let name = controller.name();
            controller
                .ended_tasks()
                .into_iter()
                .map(move |task| format!("controller {name}: {task} has ended"))
        });
        ended.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_that_does_not_work_is_a_line_of_its_own() {
        let source = |source: &str, health| UnhealthySource {
            controller: "web".to_owned(),
            source: source.to_owned(),
            health,
        };
        let unhealthy = |reason: &str, advice: Option<&str>| SourceHealth::Unhealthy {
            reason: reason.to_owned(),
            advice: advice.map(str::to_owned),
        };
        let waiting = Readiness::Waiting(vec![
            source("primary", unhealthy("404 page\n not found", Some("install its definition"))),
            source("ConfigMap", SourceHealth::Syncing),
            source("Secret", unhealthy("forbidden", None)),
        ]);
        assert_eq!(
            waiting.to_string(),
            "controller web, source primary: 404 page not found; install its definition\n\
             controller web, source ConfigMap: syncing, it has not seen all objects yet\n\
             controller web, source Secret: forbidden\n"
        );
    }
}
