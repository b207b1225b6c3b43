//! DaemonSets that start a new Pod on a node before they end the old one.

use serde_json::Value;

use super::{
    super::view::View, Act, Found, HASH, create, delete, ended, is_available, is_deleting, is_over, is_ready,
    made, node_of, share, text, wait,
};
use crate::in_process::store::Path;

/// How many Pods may be added on nodes that have one.
pub(super) fn most(set: &Value, nodes: usize) -> i64 {
    let most = &set["spec"]["updateStrategy"]["rollingUpdate"]["maxSurge"];
    match set["spec"]["updateStrategy"]["type"] == "OnDelete" {
        true => 0,
        false => share(most, i64::try_from(nodes).unwrap_or_default(), true),
    }
}

/// The Pods of a node that run: the oldest of the present template, the oldest of others, and the rest.
#[derive(Default)]
struct OfNode<'s> {
    new: Option<Found<'s>>,
    old: Option<Found<'s>>,
    rest: Vec<Found<'s>>,
}

fn on_node<'s>(found: &[Found<'s>], node: &str, hash: &str) -> OfNode<'s> {
    let mut of_node = OfNode::default();
    let running = found.iter().filter(|(_, pod)| node_of(pod) == node && !is_deleting(pod) && !is_over(pod));
    for pod in running {
        let is_new = text(&pod.1["metadata"]["labels"][HASH]) == hash;
        let place = if is_new { &mut of_node.new } else { &mut of_node.old };
        match place {
            None => *place = Some(*pod),
            Some(_) => of_node.rest.push(*pod),
        }
    }
    of_node
}

/// The Pods that are missing, too many or outdated, if `most` may be added.
pub(super) fn changes(
    view: &View<'_>,
    path: &Path,
    set: &Value,
    found: &[Found<'_>],
    nodes: &[&str],
    hash: &str,
    most: i64,
) -> Vec<Act> {
    let well = |(_, pod): &Found<'_>| is_available(pod, wait(set), view.now);
    let mut acts: Vec<Act> = Vec::new();
    acts.extend(found.iter().flat_map(ended));
    let mut surging = 0;
    let mut candidates = Vec::new();
    for node in nodes {
        let OfNode { new, old, rest } = on_node(found, node, hash);
        acts.extend(rest.iter().map(|(path, _)| delete(path)));
        match (new, old) {
            (None, None) => acts.push(create(made(path, set, node, hash))),
            (None, Some(old)) if !well(&old) => acts.push(create(made(path, set, node, hash))),
            (None, Some(_)) => candidates.push(*node),
            (Some(new), Some(old)) if well(&new) || !is_ready(old.1) => acts.push(delete(old.0)),
            (Some(_), Some(_)) => surging += 1,
            (Some(_), None) => {}
        }
    }
    let misplaced = found.iter().filter(|(_, pod)| !nodes.contains(&node_of(pod)) && !is_deleting(pod));
    acts.extend(misplaced.map(|(path, _)| delete(path)));
    let room = usize::try_from(most - surging).unwrap_or_default();
    acts.extend(candidates.into_iter().take(room).map(|node| create(made(path, set, node, hash))));
    acts
}
