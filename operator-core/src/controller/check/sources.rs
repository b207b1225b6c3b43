//! Event sources, and what is read from them.

use super::{DeclaredSource, Facts, Mistake, Node};
use crate::{
    dependent::Reading,
    event_source::{Contradiction, SourceContents},
    resource::ResourceType,
};

pub(super) fn check<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = Mistake> + 'f {
    let foreign = facts.sources.iter().filter_map(|source| of_another_primary(source, facts));
    let readings = facts.draft.nodes.iter().flat_map(|node| {
        node.declaration.reads.iter().filter_map(|reading| match reading.is_by_key {
            true => unrelated(node, reading, facts),
            false => unread(&node.name, reading, facts),
        })
    });
    let contradictions = facts.sources.iter().flat_map(|source| {
        source.contradictions.iter().map(|Contradiction([what, why, write])| {
            Mistake::new(format!("event source `{}`: {what}", source.name), why, write)
        })
    });
    foreign.chain(contradictions).chain(readings)
}

/// A source that queries another system for primaries of another type would never be queried.
fn of_another_primary(source: &DeclaredSource, facts: &Facts<'_>) -> Option<Mistake> {
    let SourceContents::Resources { primary: Some(other), .. } = &source.contents else { return None };
    let (other, own) = (*other, facts.draft.settings.primaries.of);
    (other != own).then(|| {
        let (name, other, own) = (&source.name, other.name(), own.name());
        Mistake::new(
            format!("event source `{name}` fetches for primaries of type `{other}`"),
            format!("the controller's primaries are of type `{own}`, so it would fetch for none"),
            format!("`|{}: Arc<{own}>| …` as the source's `fetch`", own.to_lowercase()),
        )
    })
}

/// A dependent that reads objects that no source has.
fn unread(node: &str, reading: &Reading, facts: &Facts<'_>) -> Option<Mistake> {
    let Reading { source, of, kind, .. } = reading;
    let declare = || format!("`.watches(InformerEventSource::<{}>::new().name(\"{source}\"))`", of.name());
    let objects = |kind: &ResourceType| format!("objects of kind `{}`", kind.kind());
    let wanted = objects(kind);
    match facts.sources.iter().find(|known| known.name == **source) {
        None => Some(unknown(node, source, &declare(), facts)),
        Some(DeclaredSource { contents: SourceContents::Objects { of: found, kind: other, .. }, .. }) => {
            let same = found == of && other.is_kind_of(kind);
            let version = |with: &ResourceType| format!("{} of `{}`", objects(with), with.api_version());
            let (wanted, found) = match wanted == objects(other) {
                true => (version(kind), version(other)),
                false => (wanted, objects(other)),
            };
            (!same).then(|| other_type(node, source, &wanted, &found))
        }
        Some(found) if found.contents.may_have(*of) => None,
        Some(_) => Some(other_type(node, source, &wanted, "none")),
    }
}

/// A dependent that reads all objects of its primary, where no source would relate any to it.
fn unrelated(node: &Node, Reading { of, kind, .. }: &Reading, facts: &Facts<'_>) -> Option<Mistake> {
    let relates = |source: &DeclaredSource| match &source.contents {
        SourceContents::Objects { of: found, kind: other, .. } => found == of && other.is_kind_of(kind),
        _ => false,
    };
    let is_all = node.declaration.several && !facts.sources.iter().any(relates);
    let (name, kind) = (&node.name, kind.kind());
    is_all.then(|| {
        Mistake::new(
            format!("node `{name}` reads each `{kind}` that is related to its primary"),
            format!("nothing relates a `{kind}` to it, so it would find none"),
            format!(
                "`.owns::<{}>()` on the controller, for owner references; or `.informer(InformerEventSource::new().map_to_primary(…))` on the node",
                of.name()
            ),
        )
    })
}

fn unknown(node: &str, source: &str, declare: &str, facts: &Facts<'_>) -> Mistake {
    let known: Vec<String> = facts.sources.iter().map(|source| format!("`{}`", source.name)).collect();
    let known = if known.is_empty() { "no event source at all".to_owned() } else { known.join(", ") };
    Mistake::new(
        format!("node `{node}` reads from an event source `{source}`"),
        format!("the controller has {known}, and none with that name"),
        format!("{declare} on the controller, or the name of a source that it has"),
    )
}

fn other_type(node: &str, source: &str, wanted: &str, found: &str) -> Mistake {
    Mistake::new(
        format!("node `{node}` reads {wanted} from the event source `{source}`"),
        format!("that source has {found}"),
        "`.name(\"…\")` with another name on one of two sources, or the name of another source on the node",
    )
}
