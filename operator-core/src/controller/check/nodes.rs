//! Dependents: what belongs to whom, who deletes what, and which two would fight.

use super::{Facts, Mistake, Node};
use crate::{
    dependent::{Number, Objects},
    event_source::SourceContents,
};

pub(super) fn check<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = Mistake> + 'f {
    let alone =
        facts.nodes.iter().flat_map(|node| [unowned(node, facts), leaked(node, facts)].into_iter().flatten());
    let pairs = facts.nodes.iter().enumerate().flat_map(move |(at, node)| {
        facts.nodes[at + 1..].iter().filter_map(move |other| fight(node, other, facts))
    });
    alone.chain(pairs)
}

/// An object without a namespace can't be owned by one that has a namespace.
fn unowned(node: &Node, facts: &Facts<'_>) -> Option<Mistake> {
    let kind = &makes(node)?.kind;
    let owned = node.declaration.capabilities.is_garbage_collected();
    (owned && facts.primary_kind.is_namespaced() && !kind.is_namespaced()).then(|| {
        let (name, kind, primary) = (&node.name, kind.kind(), facts.primary_kind.kind());
        Mistake::new(
            format!("node `{name}` is a `{kind}`, which has no namespace, and is to be garbage collected"),
            format!("a `{primary}` is in a namespace, and can't own an object without one"),
            "`.capabilities(Capabilities::CRUD_NO_GC)`: the operator deletes it before its primary goes",
        )
    })
}

/// What the reconciler has to delete, where it is never asked to.
fn leaked(node: &Node, facts: &Facts<'_>) -> Option<Mistake> {
    (node.cleaned_up_by_hand && !facts.has_cleaner).then(|| {
        Mistake::new(
            format!(
                "dependent `{}` has to be deleted before its primary goes, and nobody does it",
                node.name
            ),
            "the reconciler calls it by itself, and has no clean-up, so that it would be left behind",
            "`.with_cleaner()`, with a `Cleaner` that calls `workflow.cleanup(…)` or `dependent.delete(…)`",
        )
    })
}

/// Two dependents that would write, or delete, the same objects.
fn fight(node: &Node, other: &Node, facts: &Facts<'_>) -> Option<Mistake> {
    let (a, b) = (makes(node)?, makes(other)?);
    if (a.kind.group(), a.kind.kind()) != (b.kind.group(), b.kind.kind()) {
        return None;
    }
    let kind = a.kind.kind();
    let (name, other_name) = (&node.name, &other.name);
    let (takes, other_takes) = (takes_all(node, a, b, facts), takes_all(other, b, a, facts));
    if takes || other_takes {
        let (who, whose) = if takes { (name, other_name) } else { (other_name, name) };
        let selects = match takes && other_takes {
            true => format!("`.selects(|primary, object| …)` on `{name}` and on `{other_name}`"),
            false => format!("`.selects(|primary, object| …)` on `{who}`"),
        };
        return Some(Mistake::new(
            format!("node `{who}` takes every `{kind}` of its primary for its own, and `{whose}` makes some"),
            format!(
                "`{who}` deletes what it doesn't desire, so what `{whose}` has made is deleted in each run"
            ),
            selects,
        ));
    }
    // One of them may take part where the other doesn't.
    let both = !node.conditional && !other.conditional;
    let alike = both && a.number == Number::One && b.number == Number::One && a.desired_by.is_some();
    (alike && a.desired_by == b.desired_by).then(|| {
        Mistake::new(
            format!("nodes `{name}` and `{other_name}` want the same `{kind}`"),
            "both are of one type that holds no data, so that it desires the same for both",
            "one node less, or a field in the type that tells the two apart",
        )
    })
}

/// The objects of a dependent that makes some.
fn makes(node: &Node) -> Option<&Objects> {
    let capabilities = node.declaration.capabilities;
    node.declaration.objects.as_ref().filter(|_| capabilities.can_create() || capabilities.can_update())
}

/// Whether a bulk dependent sees the other's objects, and so deletes them.
fn takes_all(node: &Node, own: &Objects, other: &Objects, facts: &Facts<'_>) -> bool {
    if own.number != Number::All || !node.declaration.deletes_while_reconciling {
        return false;
    }
    let source = facts.sources.iter().find(|source| source.name == *own.source);
    let sees_all =
        matches!(source.map(|source| &source.contents), Some(SourceContents::Objects { all: true, .. }));
    sees_all || own.source == other.source
}
