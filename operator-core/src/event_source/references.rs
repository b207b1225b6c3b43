//! Secondaries that primaries refer to.

use std::{any::Any, collections::BTreeSet, sync::Arc};

use super::{Primaries, filter::fenced_or};
use crate::{
    cache::{AnyIndexer, Indexer, Informer, opening},
    resource::{KubeObject, ObjectKey},
};

type Lookup = Arc<dyn Fn(&dyn Primaries, &ObjectKey) -> BTreeSet<ObjectKey> + Send + Sync>;

/// The secondaries that a primary refers to, by a function of the primary. JOSDK: `PrimaryToSecondaryMapper`.
///
/// The other direction needs no second function: the primaries are indexed by their references.
#[derive(Clone)]
pub(crate) struct References {
    index: String,
    lookup: Lookup,
}

impl References {
    /// The prefix of the names of its indexes.
    pub(crate) const INDEX: &str = "references/";

    /// The references of primaries of type `P` to the objects of the source called `source`, and the index over the
    /// primaries for the opposite direction.
    pub(crate) fn new<P: KubeObject>(
        source: &str,
        map: impl Fn(&P) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> (Self, String, AnyIndexer) {
        let map = Arc::new(map);
        // A slash separates it from the names that users give, which have none by convention.
        let index = format!("{}{source}", Self::INDEX);
        let lookup: Lookup = Arc::new({
            let map = Arc::clone(&map);
            move |primaries, key| {
                // A controller binds its sources to its own primaries only, so the type is always the one expected.
                let informer = (primaries as &dyn Any).downcast_ref::<Informer>();
                let primary = informer.and_then(|informer| informer.get(key)?.typed());
                primary
                    .map(|primary| fenced_or(|| map(&primary), Vec::new()))
                    .unwrap_or_default()
                    .into_iter()
                    .collect()
            }
        });
        let indexer: Indexer<P> =
            Arc::new(move |primary| map(primary).iter().map(ToString::to_string).collect());
        let indexer = opening(indexer);
        (Self { index: index.clone(), lookup }, index, indexer)
    }

    /// The keys of the secondaries that a primary refers to now, whether they exist or not.
    pub(super) fn secondaries_of(
        &self,
        primaries: &dyn Primaries,
        primary: &ObjectKey,
    ) -> BTreeSet<ObjectKey> {
        (self.lookup)(primaries, primary)
    }

    /// The primaries that refer to a secondary now.
    pub(super) fn primaries_of(&self, primaries: &dyn Primaries, secondary: &ObjectKey) -> Vec<ObjectKey> {
        primaries.by_index(&self.index, &secondary.to_string())
    }
}

debug_of!(References: "References", |it| index: it.index);
