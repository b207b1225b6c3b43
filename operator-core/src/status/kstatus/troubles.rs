//! The conditions by which the built-in kinds say what is the matter with an object.
//!
//! kstatus doesn't look at them. An object that has one isn't current here, and its own words are the message.

use super::{
    Error, Kstatus, Status,
    fields::{Fields, SeenCondition},
};

/// What a condition means.
enum Means {
    /// Its controller tries again.
    Waits,
    /// Its controller has given up.
    Fails,
}
use Means::{Fails, Waits};

/// A condition of a kind: its group, kind, type and the status that means trouble.
type Row = (&'static str, &'static str, &'static str, &'static str, Means);

/// Conditions of [`Deployment`](super::workloads::deployment)s, definitions and jobs that have more meanings are with the
/// rules of their kinds.
const TROUBLES: &[Row] = &[
    ("", "ReplicationController", "ReplicaFailure", "True", Waits),
    ("", "PersistentVolumeClaim", "ControllerResizeError", "True", Waits),
    ("", "PersistentVolumeClaim", "NodeResizeError", "True", Waits),
    ("", "PersistentVolumeClaim", "ModifyVolumeError", "True", Waits),
    ("", "Service", "LoadBalancerPortsError", "True", Waits),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "NonStructuralSchema", "True", Waits),
    ("apiregistration.k8s.io", "APIService", "Available", "False", Waits),
    ("apps", "DaemonSet", "ReplicaFailure", "True", Waits),
    ("apps", "StatefulSet", "ReplicaFailure", "True", Waits),
    ("autoscaling", "HorizontalPodAutoscaler", "AbleToScale", "False", Waits),
    ("autoscaling", "HorizontalPodAutoscaler", "ScalingActive", "False", Waits),
    ("batch", "Job", "FailureTarget", "True", Fails),
    ("certificates.k8s.io", "CertificateSigningRequest", "Denied", "True", Fails),
    ("certificates.k8s.io", "CertificateSigningRequest", "Failed", "True", Fails),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", "Dangling", "True", Waits),
    ("policy", "PodDisruptionBudget", "DisruptionAllowed", "False", Waits),
];

/// Reasons that are ordinary: no replicas are wanted, or none may be missing just now.
const ORDINARY: &[&str] = &["ScalingDisabled", "InsufficientPods"];

/// What the object itself says is the matter, unless its kind's rule already says that it has failed.
pub(super) fn or_trouble(fields: Fields<'_>, rule: Kstatus) -> Result<Kstatus, Error> {
    if rule.status == Status::Failed {
        return Ok(rule);
    }
    let (group, kind) = fields.group_and_kind()?;
    let conditions = fields.conditions()?;
    let rows = TROUBLES.iter().filter(|(of, name, ..)| (*of, *name) == (group, kind));
    let found = rows.flat_map(|(_, _, r#type, status, means)| {
        let is = move |of: &&SeenCondition<'_>| (of.r#type, of.status) == (r#type, status);
        conditions.iter().filter(is).map(move |condition| (condition, means))
    });
    let mut trouble =
        found.filter(|(condition, _)| !ORDINARY.contains(&condition.reason)).map(|(of, means)| {
            let reason = of.reason_or("Trouble").into_owned();
            match means {
                Waits => Kstatus::in_progress(reason, of.words()),
                Fails => Kstatus::failed(reason, of.words()),
            }
        });
    Ok(trouble.next().or(broken(fields, (group, kind))?).unwrap_or(rule))
}

/// Kinds that have their words elsewhere.
fn broken(fields: Fields<'_>, kind: (&str, &str)) -> Result<Option<Kstatus>, Error> {
    let words = |path: &str, what: &str| {
        Ok(fields.text(path)?.filter(|text| !text.is_empty()).unwrap_or(what).to_owned())
    };
    Ok(match kind {
        ("", "PersistentVolume") if fields.text("status.phase")? == Some("Failed") => {
            Some(Kstatus::failed("VolumeFailed", words("status.message", "its reclamation has failed")?))
        }
        ("", "PersistentVolumeClaim") if fields.text("status.phase")? == Some("Lost") => {
            Some(Kstatus::failed("ClaimLost", "its volume is lost"))
        }
        ("storage.k8s.io", "VolumeAttachment") => {
            let error = fields.text("status.attachError.message")?;
            error.map(|error| Kstatus::in_progress("AttachError", error.to_owned()))
        }
        _ => None,
    })
}

/// Why something that is being deleted stays, if it says so.
pub(super) fn stays(fields: Fields<'_>) -> Result<String, Error> {
    let words: Vec<_> = match fields.group_and_kind()? {
        ("", "Namespace") => {
            fields.conditions()?.iter().filter(|of| of.is_true()).map(SeenCondition::words).collect()
        }
        _ => Vec::new(),
    };
    Ok(if words.is_empty() {
        "being deleted".to_owned()
    } else {
        format!("being deleted: {}", words.join("; "))
    })
}
