//! Whether an apply would change anything.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Map, Value};

use super::sanitize::sanitized;
use crate::operations::matcher::{self, Match, is_applied_by, owned_fields};

/// The annotation in which JOSDK used to keep the previous state. Differences in it are ignored, because otherwise what
/// JOSDK has left behind would be one. JOSDK: `PREVIOUS_ANNOTATION_KEY` of `KubernetesDependentResource`.
pub(crate) const PREVIOUS_ANNOTATION: &str = "javaoperatorsdk.io/previous";

/// The matcher's name for that annotation.
const PREVIOUS_PATH: &str = "metadata.annotations[javaoperatorsdk.io/previous]";

/// Whether a server-side apply of the dependent `desired` by `manager` would change `actual`, whose managed fields are
/// `managed`.
///
/// It is [`operations::matcher::matches_owned_fields`](crate::operations::matcher::matches_owned_fields) on the main
/// resource, which defines what counts as a difference. In addition, the following are ignored, because the server
/// would treat both sides the same:
/// - a quantity that is written differently, in all kinds that come with Kubernetes;
/// - a default that the server has written into a value that is owned as a whole: of references to fields and resources,
///   items of volumes, claim templates, ports of network policies, subjects and roles of bindings;
/// - zero values that were applied and that the server stores as nothing: an empty variable, `hostNetwork: false`;
/// - zero values that let the server choose: `clusterIP: ""`, `nodePort: 0`;
/// - empty strategies and behaviors that the server has filled in;
/// - `stringData` of a Secret that is in its `data`;
/// - the annotation `javaoperatorsdk.io/previous`.
///
/// # What costs a request that changes nothing, each time
/// - A default inside a list of a custom resource that has no `x-kubernetes-list-type: map`. Its definition is not
///   known here, and managed fields don't distinguish a default from what was applied. Write the default, or use
///   [`Matcher::Custom`](super::Matcher::Custom).
/// - Anything that a webhook writes into what is applied.
/// - The limits that a `LimitRange` derives from others.
///
/// There are no errors: what can't be interpreted is a difference, because applying again corrects it. JOSDK:
/// `SSABasedGenericKubernetesResourceMatcher`, whose sanitizers know only quantities, empty variables and claim
/// templates.
pub fn matches_applied(
    desired: &Value,
    actual: &Value,
    managed: &[ManagedFieldsEntry],
    manager: &str,
) -> Match {
    let matches = |desired: &Value| {
        without_previous(matcher::matches_owned_fields(desired, actual, managed, manager, None))
    };
    let plain = matches(desired);
    if !matches!(plain, Match::Differs(_)) {
        return plain;
    }
    match sanitized(desired, actual, owned_by(managed, manager).as_deref()) {
        Some(desired) => matches(&desired),
        None => plain,
    }
}

/// Whether another word that is owned is a difference, wherever it is met: nothing in `desired` says that it may be one and is none.
pub(crate) fn words_decide(desired: &Value) -> bool {
    desired.get("stringData").is_none()
        && desired["metadata"]["annotations"].get(PREVIOUS_ANNOTATION).is_none()
}

/// There is at most one such path, and it is among the first ones if there are more than can be reported.
fn without_previous(found: Match) -> Match {
    let Match::Differs(mut paths) = found else { return found };
    paths.retain(|path| path != PREVIOUS_PATH);
    if paths.is_empty() { Match::Equal } else { Match::Differs(paths) }
}

fn owned_by<'m>(managed: &'m [ManagedFieldsEntry], manager: &str) -> Option<Cow<'m, Map<String, Value>>> {
    let entry = managed.iter().find(|entry| is_applied_by(entry, manager, None))?;
    owned_fields(entry)
}
