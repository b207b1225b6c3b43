//! Groups of Kubernetes' community need a word of it: an annotation with a URL, or the admission that there is none.

use serde_json::Value;

use super::{Found, text};
use crate::in_process::go::uri::Uri;

const ANNOTATION: &str = "api-approved.kubernetes.io";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// What the annotation says.
enum Approval {
    Missing,
    Invalid,
    Unapproved(String),
    Approved(String),
}

impl Approval {
    /// None for a group that needs none.
    fn of(definition: &Value) -> Option<Self> {
        let group = text(&definition["spec"], "group");
        let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|domain| {
            group == *domain || group.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
        });
        is_protected.then(|| match annotation(definition) {
            "" => Self::Missing,
            said if said.starts_with("unapproved") => Self::Unapproved(said.to_owned()),
            said if Uri::request(said).is_ok_and(|uri| !uri.host.is_empty() && !uri.scheme.is_empty()) => {
                Self::Approved(said.to_owned())
            }
            _ => Self::Invalid,
        })
    }

    fn message(&self) -> String {
        match self {
            Self::Missing => format!("protected groups must have approval annotation {ANNOTATION:?}, {SEE}"),
            Self::Invalid => format!(
                "protected groups must have approval annotation {ANNOTATION:?} with either a URL or a reason \
                 starting with \"unapproved\", {SEE}"
            ),
            Self::Unapproved(said) => format!("not approved: {said:?}"),
            Self::Approved(said) => format!("approved in {said}"),
        }
    }
}

fn annotation(definition: &Value) -> &str {
    definition["metadata"]["annotations"].get(ANNOTATION).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a new annotation, or that of a new definition, is right.
pub(super) fn check(definition: &Value, old: Option<&Value>, found: &mut Found) {
    if old.is_some_and(|old| annotation(old) == annotation(definition)) {
        return;
    }
    let field = format!("metadata.annotations[{ANNOTATION}]");
    match Approval::of(definition) {
        Some(approval @ Approval::Missing) => found.required(&field, &approval.message()),
        Some(approval @ Approval::Invalid) => {
            found.invalid(&field, &annotation(definition).into(), &approval.message());
        }
        Some(Approval::Unapproved(_) | Approval::Approved(_)) | None => {}
    }
}

/// Status, reason and message of the condition `KubernetesAPIApprovalPolicyConformant`.
pub(in crate::in_process) fn approval(definition: &Value) -> Option<(&'static str, &'static str, String)> {
    let approval = Approval::of(definition)?;
    let (status, reason) = match approval {
        Approval::Missing => ("False", "MissingAnnotation"),
        Approval::Invalid => ("False", "InvalidAnnotation"),
        Approval::Unapproved(_) => ("False", "UnapprovedAnnotation"),
        Approval::Approved(_) => ("True", "ApprovedAnnotation"),
    };
    Some((status, reason, approval.message()))
}
