//! The answers to probes.

use std::{fmt, sync::atomic::Ordering};

use crate::{
    event_source::HeldBack,
    observe::SourceHealth,
    operator::{Leadership, LostLeadership, UndecodableObject, UnhealthySource, lifecycle::Running},
};

/// Whether an operator does its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OperatorReadiness {
    /// All event sources are synced and follow the cluster.
    Ready,
    /// The same, and another replica leads, if there is a leader.
    Standby {
        /// Its identity.
        leader: Option<String>,
    },
    /// This replica was the leader, and no longer is.
    Lost(LostLeadership),
    /// The operator has not started yet, or has stopped.
    NotRunning,
    /// The operator waits for its last runs.
    Stopping,
    /// These event sources don't work, or have not seen everything yet.
    Waiting(Vec<UnhealthySource>),
}

impl fmt::Display for OperatorReadiness {
    /// One line for each part of a source: controller, source, namespace, reason, advice, and which primaries wait.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ok"),
            Self::Standby { leader: Some(leader) } => write!(f, "ok, standing by: {leader} leads"),
            Self::Standby { leader: None } => f.write_str("ok, standing by"),
            Self::Lost(lost) => writeln!(f, "leadership is lost: {lost}"),
            Self::NotRunning => f.write_str("the operator is not running\n"),
            Self::Stopping => f.write_str("the operator is stopping\n"),
            Self::Waiting(sources) => sources.iter().try_for_each(|source| {
                let UnhealthySource { controller, source, namespace, holds_back, health } = source;
                write!(f, "controller {controller}, source {source}")?;
                if let Some(namespace) = namespace {
                    write!(f, ", namespace {namespace}")?;
                }
                f.write_str(": ")?;
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
                match holds_back {
                    HeldBack::Nobody => {}
                    HeldBack::Namespace(namespace) => {
                        write!(f, "; the primaries in namespace {namespace} wait")?;
                    }
                    HeldBack::Everybody => f.write_str("; all primaries wait")?,
                }
                f.write_str("\n")
            }),
        }
    }
}

/// A line for each object that can't be decoded, up to a readable number.
pub(super) fn undecodable(objects: &[UndecodableObject]) -> Vec<String> {
    const MOST_LINES: usize = 20;
    let line = |undecodable: &UndecodableObject| {
        let UndecodableObject { controller, source, object, reason } = undecodable;
        format!("controller {controller}, source {source}: {object} can't be decoded: {}", one_line(reason))
    };
    let mut lines: Vec<String> = objects.iter().take(MOST_LINES).map(line).collect();
    if objects.len() > MOST_LINES {
        lines.push(format!("and {} more that can't be decoded", objects.len() - MOST_LINES));
    }
    lines
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Running {
    pub(super) fn readiness(&self) -> OperatorReadiness {
        if self.stopping.load(Ordering::Relaxed) {
            return OperatorReadiness::Stopping;
        }
        let leadership = self.leadership();
        if let Some(Leadership::Lost(lost)) = leadership {
            return OperatorReadiness::Lost(lost);
        }
        let unhealthy = self.unhealthy_sources();
        match leadership {
            _ if !unhealthy.is_empty() => OperatorReadiness::Waiting(unhealthy),
            Some(Leadership::Standby { leader }) => OperatorReadiness::Standby { leader },
            _ => OperatorReadiness::Ready,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::ObjectKey;

    #[test]
    fn each_source_that_does_not_work_is_a_line_of_its_own() {
        let source = |source: &str, health| UnhealthySource {
            controller: "web".to_owned(),
            source: source.to_owned(),
            namespace: None,
            holds_back: HeldBack::Nobody,
            health,
        };
        let in_bank = |holds_back, health| UnhealthySource {
            namespace: Some("bank".to_owned()),
            holds_back,
            ..source("Secret", health)
        };
        let unhealthy = |reason: &str, advice: Option<&str>| SourceHealth::Unhealthy {
            reason: reason.to_owned(),
            advice: advice.map(str::to_owned),
        };
        let waiting = OperatorReadiness::Waiting(vec![
            source("primary", unhealthy("404 page\n not found", Some("install its definition"))),
            source("ConfigMap", SourceHealth::Syncing),
            source("Secret", unhealthy("forbidden", None)),
            in_bank(HeldBack::Nobody, unhealthy("forbidden", None)),
            in_bank(HeldBack::Namespace("bank".to_owned()), unhealthy("forbidden", Some("grant it"))),
            UnhealthySource { holds_back: HeldBack::Everybody, ..source("Node", SourceHealth::Syncing) },
        ]);
        assert_eq!(
            waiting.to_string(),
            "controller web, source primary: 404 page not found; install its definition\n\
             controller web, source ConfigMap: syncing, it has not seen all objects yet\n\
             controller web, source Secret: forbidden\n\
             controller web, source Secret, namespace bank: forbidden\n\
             controller web, source Secret, namespace bank: forbidden; grant it; the primaries in namespace bank wait\n\
             controller web, source Node: syncing, it has not seen all objects yet; all primaries wait\n"
        );
    }

    #[test]
    fn each_object_that_cannot_be_decoded_is_a_line_up_to_twenty() {
        let object = |number: usize| UndecodableObject {
            controller: "web".to_owned(),
            source: "primary".to_owned(),
            object: ObjectKey::namespaced("shop", &format!("p{number:02}")),
            reason: "spec.mode: unknown variant,\nexpected `Slow`".to_owned(),
        };
        let lines = undecodable(&[object(1)]);
        let expected = "controller web, source primary: shop/p01 can't be decoded: spec.mode: unknown variant, expected `Slow`";
        assert_eq!(lines, [expected]);
        let lines = undecodable(&(0..25).map(object).collect::<Vec<_>>());
        assert_eq!((lines.len(), &*lines[20]), (21, "and 5 more that can't be decoded"));
    }

    #[test]
    fn a_standby_is_ready_and_says_who_leads() {
        let standby = |leader: Option<&str>| OperatorReadiness::Standby { leader: leader.map(str::to_owned) };
        assert_eq!(standby(Some("web-1")).to_string(), "ok, standing by: web-1 leads");
        assert_eq!(standby(None).to_string(), "ok, standing by");
        let lost = OperatorReadiness::Lost(LostLeadership::Taken { by: Some("web-1".to_owned()) });
        assert_eq!(lost.to_string(), "leadership is lost: the lease was taken by web-1\n");
    }
}
