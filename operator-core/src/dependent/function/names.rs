//! Default names and namespaces.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use sha2::{Digest, Sha256};

use crate::resource::{Nodes, ObjectKey, ResourceType, digits, hyphenated};

/// The number of digits in the hash after a name that had to be changed.
const DIGITS: usize = 8;

/// Adds a missing name or namespace to a wanted object of that kind: the namespace is the primary's, and the name consists of
/// those of the primary and the node. `nodes` are all of the controller. `only`: it is the node's only object, so it needs no
/// name that distinguishes it from others.
pub(crate) fn complete(
    meta: &mut ObjectMeta,
    kind: &ResourceType,
    primary: &ObjectKey,
    (node, nodes): (&str, &Nodes),
    only: bool,
) -> Result<(), &'static str> {
    if meta.name.as_deref().unwrap_or_default().is_empty() {
        if !only {
            return Err("each of several objects needs a name of its own, in `metadata.name`");
        }
        meta.name = Some(default_name(kind, primary.name(), node, nodes));
    }
    if !kind.is_namespaced() || meta.namespace.as_deref().is_some_and(|namespace| !namespace.is_empty()) {
        return Ok(());
    }
    match primary.namespace() {
        Some(namespace) => meta.namespace = Some(namespace.to_owned()),
        None => {
            return Err("its primary has no namespace, so it needs one of its own, in `metadata.namespace`");
        }
    }
    Ok(())
}

/// The maximum length of a name: that of a DNS label, or less if the controller of the kind makes labels or host names from the
/// name by adding to it.
fn longest(kind: &ResourceType) -> usize {
    match (kind.group(), kind.kind()) {
        ("apps", "StatefulSet") | ("batch", "CronJob" | "Job") => 52,
        _ => 63,
    }
}

/// Whether a name of this kind may begin like this.
fn may_begin(kind: &ResourceType, name: &str) -> bool {
    match (kind.group(), kind.kind()) {
        // Older servers demand a letter.
        ("", "Service") => name.starts_with(|c: char| c.is_ascii_alphabetic()),
        ("scheduling.k8s.io", "PriorityClass") => !name.starts_with("system-") && !name.is_empty(),
        _ => !name.is_empty(),
    }
}

/// `page-web` for the primary `page` and the node `web`: a DNS label that the kind accepts. If something had to be changed, or
/// another node may make this name for another primary, a hash keeps names apart that would otherwise be equal.
pub(super) fn default_name(kind: &ResourceType, primary: &str, node: &str, nodes: &Nodes) -> String {
    let of_node = hyphenated(node);
    let plain = format!("{primary}-{of_node}");
    let label = hyphenated(&plain).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let label = label.trim_matches('-');
    // Such a node is also called so in labels.
    let is_plain = label == plain && !of_node.starts_with('-');
    let fits = is_plain && label.len() <= longest(kind) && may_begin(kind, label);
    // `shop` and `web-admin`, `shop-web` and `admin`: the longer name of a node counts.
    let is_others = |(at, _): (usize, &str)| {
        let of_other = &label[at + 1..];
        let comes_first = |other: &str| other != node && (of_other.len(), node) > (of_node.len(), other);
        at > 0 && nodes.called(of_other, kind).any(comes_first)
    };
    if fits && !label.match_indices('-').any(is_others) {
        return label.to_owned();
    }
    let hash = digits(Sha256::digest(format!("{primary}/{node}")), DIGITS);
    let begin = if may_begin(kind, label) { "" } else { "x-" };
    let kept: String = begin.chars().chain(label.chars()).take(longest(kind) - DIGITS - 1).collect();
    format!("{}-{hash}", kept.trim_end_matches('-'))
}

/// Ends the name of an object with a hash of a key, so that each key has an object of its own.
pub(crate) fn name_for_key(meta: &mut ObjectMeta, kind: &ResourceType, key: &str) {
    let name = meta.name.take().unwrap_or_default();
    let hash = digits(Sha256::digest(format!("{name}/{key}")), DIGITS);
    let kept: String = name.chars().take(longest(kind) - DIGITS - 1).collect();
    meta.name = Some(format!("{}-{hash}", kept.trim_end_matches(['-', '.'])));
}
