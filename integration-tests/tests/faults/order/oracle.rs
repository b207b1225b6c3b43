//! What exists after each stage, and what each node says: computed from the answers alone.

use std::collections::{BTreeMap, BTreeSet};

use super::{Says, World};

/// The objects by name, each with the node that made it.
pub(super) type Objects = BTreeMap<String, usize>;

/// The outcome of a stage.
pub(super) struct Expected {
    pub(super) objects: Objects,
    /// The first words of the states, node by node.
    pub(super) states: Vec<&'static str>,
}

/// `before` is what existed. Each call does what it would do alone, but what the calls before it have seen gone keeps nothing.
pub(super) fn expected(world: &World, stage: usize, before: &Objects) -> Expected {
    let mut all = Expected { objects: before.clone(), states: vec![""; world.nodes.len()] };
    for part in world.parts(stage) {
        let is_gone = |node: &usize| matches!(all.states[*node], "deleted" | "inactive");
        let gone = (0..world.nodes.len()).filter(|node| is_gone(node) && !part.contains(node)).collect();
        let Expected { objects, states } = after_call(world, stage, &all.objects, &part, &gone);
        all.objects = objects;
        part.iter().for_each(|node| all.states[*node] = states[*node]);
    }
    all
}

/// `gone` are nodes outside of the part of which nothing exists.
fn after_call(
    world: &World,
    stage: usize,
    before: &Objects,
    part: &BTreeSet<usize>,
    gone: &BTreeSet<usize>,
) -> Expected {
    let nodes = 0..world.nodes.len();
    let says = |node: usize| &world.nodes[node].says[stage];
    let is_outside = |node: usize| !part.contains(&node) && !gone.contains(&node);
    let (mut out, mut states) = (BTreeSet::new(), vec!["waiting"; world.nodes.len()]);
    // Nodes are declared in any order, but each comes after some with smaller numbers.
    for node in nodes.clone() {
        let words = &world.nodes[node].after;
        let doomed = words.iter().any(|(other, requires)| *requires && out.contains(other));
        let waits = words.iter().any(|(other, _)| !out.contains(other) && states[*other] != "ready");
        states[node] = match says(node) {
            _ if gone.contains(&node) => "gone",
            // It stays as it is, and keeps what it comes after.
            _ if is_outside(node) => "outside",
            Says::Inactive => "inactive",
            Says::Hold => "held",
            Says::Fail if doomed || !waits => "failed",
            Says::None => "deleted",
            Says::Names { .. } if doomed => "deleted",
            Says::Names { .. } | Says::Fail if waits => "waiting",
            Says::Names { ready: false, .. } => "not ready",
            Says::Names { .. } | Says::Fail => "ready",
        };
        if matches!(states[node], "inactive" | "deleted" | "gone") {
            out.insert(node);
        }
    }
    let names = |node: usize| match says(node) {
        Says::Names { names, .. } if !out.contains(&node) && !is_outside(node) => names.clone(),
        _ => BTreeSet::new(),
    };
    let mut objects = before.clone();
    for node in nodes.clone().filter(|node| matches!(states[*node], "ready" | "not ready")) {
        objects.extend(names(node).into_iter().map(|name| (name, node)));
    }
    // From the far end: what a node no longer wants goes if everything behind it was brought about.
    let mut settled = BTreeSet::new();
    for node in nodes.clone().rev() {
        let mut behind =
            nodes.clone().filter(|other| world.nodes[*other].after.iter().any(|(of, _)| *of == node));
        let is_free = behind.all(|other| settled.contains(&other));
        let removes = is_free && matches!(states[node], "deleted" | "ready" | "not ready");
        let left: Vec<String> =
            objects.iter().filter(|(_, by)| **by == node).map(|(name, _)| name.clone()).collect();
        let mut keeps = false;
        for name in left.into_iter().filter(|name| removes && !names(node).contains(name)) {
            // Keys of records are nobody else's.
            let is_map = |node: &usize| !world.nodes[*node].is_records;
            let others = || nodes.clone().filter(|other| *other != node && is_map(&node) && is_map(other));
            let is_unsure = |other: usize| {
                let has_no_word = matches!(says(other), Says::Hold | Says::Fail);
                has_no_word && !gone.contains(&other) && !world.is_late(other)
            };
            match others().any(|other| names(other).contains(&name)) {
                true => {}
                false if others().any(is_unsure) => keeps = true,
                false => drop(objects.remove(&name)),
            }
        }
        match states[node] {
            "deleted" if keeps => states[node] = "deleting",
            "deleted" if !is_free => states[node] = "waiting",
            "deleted" | "ready" | "not ready" if removes && !keeps => drop(settled.insert(node)),
            "inactive" | "gone" if is_free => drop(settled.insert(node)),
            _ => {}
        }
    }
    Expected { objects, states }
}
