//! Event sources that runs add, and remove again.
//!
//! ```text
//!  add ──▶ its own slot, claimed by the controller ──▶ lists, wakes waiting primaries ──▶ can be read, wakes its primaries
//!  remove ──▶ the slot is closed: it wakes no primary any more, and its objects are forgotten
//! ```

use std::{fmt, sync::Arc};

use crate::event_source::{Error, PrimaryScope, SourceContents, SourceDeclaration, Sources};

/// Event sources that are added and removed while the controller runs, for kinds that are known only then. JOSDK:
/// `EventSourceRetriever.dynamicallyRegisterEventSource` and `dynamicallyDeRegisterEventSource`.
///
/// They belong to the controller, not to a primary: each is added once, whichever run does it first, and lives until it
/// is removed or the controller stops. A controller that is started again begins without them.
#[derive(Clone, Copy)]
pub struct EventSources<'c> {
    pub(crate) sources: &'c Sources,
    /// The scope of the run's primary.
    pub(crate) scope: PrimaryScope<'c>,
}

impl EventSources<'_> {
    /// Adds an event source, unless there is one of this name. It lists and watches from now on, needs the rights for
    /// that, and triggers primaries like any other.
    ///
    /// Nothing waits for it: returns whether it has seen everything that exists, and can be read. If not, this primary
    /// is triggered once it has, as are those that its objects belong to. Until then a read finds nothing in it: the
    /// run has to leave the work with these objects to that later run.
    ///
    /// # Errors
    /// If the controller's declaration has a source of this name, or an earlier run has added one for another kind, or one
    /// that selects, maps or keeps something else. Remove that source first, or give the new one another name.
    pub fn add(&self, source: impl SourceDeclaration + 'static) -> Result<bool, Error> {
        let taken = |by: &str| Error::NameTaken { event_source: source.name(), by: by.to_owned() };
        let conditional = self.sources.conditional();
        if self.sources.declares(&source.name()) {
            return Err(taken("by a source of the controller's declaration"));
        }
        if let Some(slot) = conditional.slot(&source.name()) {
            if !are_alike(&slot.declaration.contents(), &source.contents()) {
                return Err(taken("for another kind"));
            }
            if slot.declaration.identity() != source.identity() {
                return Err(taken(
                    "by a source that selects, maps or keeps something else, and would have to be removed first",
                ));
            }
        }
        // A run that outlives its primary must not have anything wait for it.
        if !self.scope.exists() {
            return Ok(false);
        }
        let slot = conditional.slot_for(Arc::new(source));
        Ok(slot.is_some_and(|slot| slot.claim(self.scope, None)))
    }

    /// Removes an event source that a run has added: it causes no event any more, and can't be read. Returns whether
    /// there was one.
    pub fn remove(&self, name: &str) -> bool {
        let Some(slot) = self.sources.conditional().take(name) else { return false };
        slot.close();
        let controller = &*slot.wiring.controller;
        tracing::debug!(controller, source = name, "event source stops: a run has removed it");
        true
    }
}

impl fmt::Debug for EventSources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let added = self.sources.conditional().added();
        f.debug_list().entries(added.map(|slot| slot.name.clone())).finish()
    }
}

/// Whether one may stand for the other.
pub(super) fn are_alike(one: &SourceContents, other: &SourceContents) -> bool {
    match (one, other) {
        (
            SourceContents::Objects { of, kind, .. },
            SourceContents::Objects { of: other, kind: other_kind, .. },
        ) => of == other && kind == other_kind,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use kube::Config;

    use super::*;
    use crate::{
        cache::{Bounds, InitialList},
        event_source::{InformerEventSource, remote::RemoteCluster},
        resource::{MappingAnnotations, ObjectKey},
    };

    type Source = InformerEventSource<ConfigMap>;

    fn differ(one: &dyn SourceDeclaration, other: &dyn SourceDeclaration) -> bool {
        !are_alike(&one.contents(), &other.contents()) || one.identity() != other.identity()
    }

    /// All settings that distinguish sources of one name. Values that a function has captured don't count.
    #[test]
    fn no_source_stands_for_one_that_differs_from_it() {
        let remote = |name: &str| {
            RemoteCluster::new(name, Config::new("https://edge.example".parse().expect("an address")))
        };
        let (edge, rotated) = (remote("edge"), remote("edge"));
        type Change<'c> = (&'c str, &'c dyn Fn(Source) -> Source);
        let changes: &[Change<'_>] = &[
            ("nothing", &|source| source),
            ("cluster", &|source| source.on(&edge)),
            ("another one of that name", &|source| source.on(&rotated)),
            ("no namespaces", &|source| source.cluster_scoped()),
            ("namespaces", &|source| source.namespaces(["shop"])),
            ("other namespaces", &|source| source.namespaces(["bank"])),
            ("its own namespaces", &|source| source.follow_namespace_changes(false)),
            ("labels", &|source| source.label_selector("team=a")),
            ("other labels", &|source| source.label_selector("team=b")),
            ("labels and fields", &|source| source.label_selector("team=a").field_selector("a=b")),
            ("fields", &|source| source.field_selector("a=b")),
            ("marked", &|source| source.marked()),
            ("mapper", &|source| source.map_to_primary(|_| Vec::new())),
            ("another mapper", &|source| source.map_to_primary(|map| vec![ObjectKey::of(map)])),
            ("annotations", &|source| source.map_by_annotations(MappingAnnotations::default())),
            ("index", &|source| source.index("a", |_| Vec::new())),
            ("filter", &|source| source.on_add(|_| true)),
            ("bounds", &|source| source.bounded(Bounds::new(1))),
            ("transform", &|source| source.transform(|map| map)),
            ("metadata", &|source| source.metadata_only()),
            ("streams", &|source| source.initial_list(InitialList::Streaming)),
            ("pages", &|source| source.page_size(7)),
            ("unshared", &|source| source.unshared()),
        ];
        for (one, change) in changes {
            assert!(!differ(&change(Source::new()), &change(Source::new())), "{one}: each run adds the same");
            for (other, other_change) in changes.iter().filter(|(other, _)| other != one) {
                assert!(differ(&change(Source::new()), &other_change(Source::new())), "{one}, {other}");
            }
        }
        assert!(differ(&Source::new(), &InformerEventSource::<Secret>::new()));
    }
}
