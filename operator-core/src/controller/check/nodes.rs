//! Dependents: ownership, deletion, and pairs that would conflict.

use super::{Facts, Mistake, Node};
use crate::{
    dependent::{DependentSource, OfKind},
    event_source::SourceContents,
};

pub(super) fn check<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = Mistake> + 'f {
    let alone = facts.draft.nodes.iter().flat_map(|node| {
        [unsound(node), unowned(node, facts), leaked(node, facts), unseen(node, facts)].into_iter().flatten()
    });
    let pairs = facts.draft.nodes.iter().enumerate().flat_map(move |(at, node)| {
        facts.draft.nodes[at + 1..].iter().filter_map(move |other| fight(node, other))
    });
    alone.chain(pairs)
}

/// The statements of a dependent about itself.
fn unsound(node: &Node) -> Option<Mistake> {
    let of = node.declaration.unsound.as_ref()?;
    Some(Mistake::new(format!("node `{}` {}", node.name, of.what), of.why.clone(), of.write))
}

/// An object without a namespace can't be owned by one that has a namespace.
fn unowned(node: &Node, facts: &Facts<'_>) -> Option<Mistake> {
    let kind = &makes(node)?.kind;
    let owned = node.declaration.capabilities.garbage_collected;
    let primary = facts.draft.settings.primaries.resource_type();
    (owned && primary.is_namespaced() && !kind.is_namespaced()).then(|| {
        let (name, kind, primary) = (&node.name, kind.kind(), primary.kind());
        Mistake::new(
            format!("node `{name}` is a `{kind}`, which has no namespace, and is to be garbage-collected"),
            format!("a `{primary}` is namespaced, and can't own a cluster-scoped object"),
            "`.without_owner()`: the operator deletes it before its primary is removed",
        )
    })
}

/// Objects that the reconciler has to delete, if its clean-up is never called.
fn leaked(node: &Node, facts: &Facts<'_>) -> Option<Mistake> {
    (node.cleaned_up_by_hand && !facts.has_cleaner).then(|| {
        Mistake::new(
            format!(
                "dependent `{}` has to be deleted before its primary is removed, but nothing deletes it",
                node.name
            ),
            "the reconciler calls it itself and has no clean-up, so it would be left behind",
            "a reconciler that is a `Cleaner` and calls `workflow.cleanup(…)` or `dependent.delete(…)` in its `cleanup`",
        )
    })
}

/// Two dependents that would write, or delete, the same objects.
fn fight(node: &Node, other: &Node) -> Option<Mistake> {
    if let Some(field) =
        node.declaration.keeps.as_ref().filter(|field| other.declaration.keeps.as_ref() == Some(*field))
    {
        return Some(Mistake::new(
            format!(
                "the nodes `{}` and `{}` keep their ids in the same field, `status.{field}`",
                node.name, other.name
            ),
            "each would mistake the other's record for its own, and change or delete it",
            "`.id_in_status(\"…\")` with another field on one of them",
        ));
    }
    let (a, b) = (makes(node)?, makes(other)?);
    if (a.kind.group(), a.kind.kind()) != (b.kind.group(), b.kind.kind()) {
        return None;
    }
    let kind = a.kind.kind();
    let (name, other_name) = (&node.name, &other.name);
    if name == other_name {
        return Some(Mistake::new(
            format!("two dependents that make a `{kind}` are called `{name}`"),
            "the objects of a dependent are identified by its name, so each would delete the other's objects",
            "`.named(\"…\")` with another name on one of them",
        ));
    }
    None
}

/// The objects of a dependent that creates some.
fn makes(node: &Node) -> Option<&OfKind> {
    node.declaration.objects.as_ref().filter(|_| node.writes())
}

/// A source that doesn't show a node all its own objects, or triggers other primaries for them.
fn unseen(node: &Node, facts: &Facts<'_>) -> Option<Mistake> {
    let made = makes(node)?;
    let source = facts.sources.iter().find(|source| source.name == *made.source)?;
    let SourceContents::Objects { selects, maps, .. } = &source.contents else { return None };
    let brings = |with: &DependentSource| with.declaration.name() == source.name;
    let brought = node.declaration.event_sources.iter().find(|with| brings(with));
    let (name, kind, source) = (&node.name, made.kind.kind(), &source.name);
    let own = "`.informer(InformerEventSource::new())` on the node: one of its own";
    match brought {
        // An informer of its own is the user's choice.
        Some(DependentSource { shared: false, .. }) => None,
        Some(_) if selects.is_some() || *maps => {
            let what = selects.as_deref().unwrap_or("its mapper");
            Some(Mistake::new(
                format!(
                    "node `{name}` makes a `{kind}`, and the controller's source `{source}` would replace its informer"
                ),
                format!(
                    "because of {what} the node wouldn't see, or wouldn't be triggered by, all of the objects it has made"
                ),
                format!("`.name(\"…\")` on the controller's source, so that the node has its own; or {own}"),
            ))
        }
        None => selects.as_ref().map(|selects| {
            Mistake::new(
                format!(
                    "node `{name}` makes a `{kind}`, and the source `{source}` doesn't show it all of them"
                ),
                format!("because of {selects}, the node would create the objects that it doesn't see again in each run"),
                format!("the source without it, or {own}"),
            )
        }),
        Some(_) => None,
    }
}
