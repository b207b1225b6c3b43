//! The relation between secondaries and primaries, in both directions.

use std::{collections::BTreeSet, sync::Arc};

use parking_lot::Mutex;

use super::{Primaries, SecondaryToPrimary, references::References};
use crate::{
    cache::{ChangeKind, SecondaryIndex, TextObject, View},
    resource::{ObjectKey, ResourceType},
};

/// The relation between the secondaries of one source and the controller's primaries.
pub(super) enum Relation {
    /// Secondaries refer to their primaries, and an index remembers it.
    Indexed { mapper: SecondaryToPrimary, links: Mutex<SecondaryIndex> },
    /// Primaries refer to their secondaries, and nothing is remembered. `mapper` is the user's own function for the
    /// opposite direction, if there is one.
    Referenced { references: References, mapper: Option<SecondaryToPrimary> },
}

impl Relation {
    pub(super) fn new(mapper: Option<SecondaryToPrimary>, references: Option<References>) -> Self {
        match references {
            Some(references) => Self::Referenced { references, mapper },
            None => {
                Self::Indexed { mapper: mapper.unwrap_or(SecondaryToPrimary::Marks), links: Mutex::default() }
            }
        }
    }

    /// The keys of the objects that belong to a primary. Of those that it refers to, some may not exist.
    pub(super) fn secondaries_of(&self, primary: &ObjectKey, primaries: &dyn Primaries) -> Vec<ObjectKey> {
        match self {
            Self::Indexed { links, .. } => links.lock().secondaries_of(primary),
            Self::Referenced { references, .. } => {
                references.secondaries_of(primaries, primary).into_iter().collect()
            }
        }
    }

    /// Processes a change of a secondary. Returns the primaries that it belongs to now or belonged to before.
    pub(super) fn changed(
        &self,
        key: &ObjectKey,
        change: &ChangeKind<TextObject>,
        view: &View,
        primary_type: &ResourceType,
        primaries: &dyn Primaries,
    ) -> BTreeSet<ObjectKey> {
        match self {
            Self::Indexed { mapper, links } => {
                let mapped = mapper.primaries(key, change.object(), view, primary_type, primaries);
                if matches!(change, ChangeKind::Deleted { .. }) {
                    let mut concerned = links.lock().unlink(key);
                    concerned.extend(mapped);
                    concerned
                } else {
                    links.lock().link(key, mapped)
                }
            }
            Self::Referenced { references, mapper: None } => {
                references.primaries_of(primaries, key).into_iter().collect()
            }
            Self::Referenced { mapper: Some(mapper), .. } => {
                let mut concerned = mapper.primaries(key, change.object(), view, primary_type, primaries);
                if let ChangeKind::Updated { old, .. } = change {
                    concerned.extend(mapper.primaries(key, old, view, primary_type, primaries));
                }
                concerned
            }
        }
    }

    /// The number of related secondaries that don't exist.
    pub(super) fn leftovers(&self, exists: impl Fn(&ObjectKey) -> bool) -> usize {
        match self {
            Self::Indexed { links, .. } => links.lock().secondaries().filter(|key| !exists(key)).count(),
            Self::Referenced { .. } => 0,
        }
    }

    /// Nothing will be reported about a secondary that was written: its relation is removed.
    pub(super) fn not_selected(&self, key: &ObjectKey) {
        if let Self::Indexed { links, .. } = self {
            links.lock().unlink(key);
        }
    }

    /// Processes a write of a secondary by the operator itself, and returns the primaries that it belongs to now or
    /// belonged to before. `newest` reads its newest known state.
    ///
    /// It is read under the lock of the index: the watch may have shown the object's end, or a newer state, before the
    /// answer to the write arrived. An object that is gone must not be related again, because nothing would ever remove
    /// the relation.
    pub(super) fn written(
        &self,
        key: &ObjectKey,
        change: &ChangeKind<TextObject>,
        view: &View,
        primary_type: &ResourceType,
        primaries: &dyn Primaries,
        newest: impl FnOnce() -> Option<Arc<TextObject>>,
    ) -> BTreeSet<ObjectKey> {
        let Self::Indexed { mapper, links } = self else {
            return self.changed(key, change, view, primary_type, primaries);
        };
        let mut links = links.lock();
        match newest() {
            Some(newest) => links.link(key, mapper.primaries(key, &newest, view, primary_type, primaries)),
            None => BTreeSet::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};

    use super::*;
    use crate::{
        cache::tests::known::{kept, view},
        event_source::wiring_for_tests::MockPrimaries,
    };

    fn key(name: &str) -> ObjectKey {
        ObjectKey::namespaced("shop", name)
    }

    /// A secondary that belongs to the primaries named in its data.
    fn secondary<const N: usize>(of: [&str; N]) -> Arc<TextObject> {
        kept(&map(of))
    }

    fn map<const N: usize>(of: [&str; N]) -> ConfigMap {
        let metadata = ObjectMeta {
            name: Some("s".to_owned()),
            namespace: Some("shop".to_owned()),
            ..ObjectMeta::default()
        };
        let data = of.into_iter().map(|name| (name.to_owned(), String::new())).collect();
        ConfigMap { metadata, data: Some(data), ..ConfigMap::default() }
    }

    fn mapper() -> SecondaryToPrimary {
        SecondaryToPrimary::function(|map: &ConfigMap, _| {
            map.data.iter().flatten().map(|(name, _)| key(name)).collect()
        })
    }

    fn changed(relation: &Relation, change: &ChangeKind<TextObject>) -> Vec<String> {
        let kind = ResourceType::of::<ConfigMap>();
        let woken =
            relation.changed(&key("s"), change, &view::<ConfigMap>(), &kind, &MockPrimaries::default());
        woken.iter().map(|key| key.name().to_owned()).collect()
    }

    #[test]
    fn a_dropped_reference_concerns_the_dropped_primary_too() {
        let relation = Relation::new(Some(mapper()), None);
        let (old, new) = (secondary(["a", "b"]), secondary(["b", "c"]));
        let added = ChangeKind::Added { new: Arc::clone(&old), initial: false };
        assert_eq!(changed(&relation, &added), ["a", "b"]);
        let updated = ChangeKind::Updated { old, new: Arc::clone(&new) };
        assert_eq!(changed(&relation, &updated), ["a", "b", "c"]);
        assert!(relation.secondaries_of(&key("a"), &MockPrimaries::default()).is_empty());
        let deleted = ChangeKind::Deleted { last: new, final_state_unknown: false };
        assert_eq!(changed(&relation, &deleted), ["b", "c"]);
        assert!(relation.secondaries_of(&key("c"), &MockPrimaries::default()).is_empty());
    }

    #[test]
    fn the_answer_to_a_write_of_something_gone_relates_nothing() {
        let relation = Relation::new(Some(mapper()), None);
        let kind = ResourceType::of::<ConfigMap>();
        let change = ChangeKind::Added { new: secondary(["a"]), initial: false };
        let gone = relation.written(
            &key("s"),
            &change,
            &view::<ConfigMap>(),
            &kind,
            &MockPrimaries::default(),
            || None,
        );
        assert!(gone.is_empty() && relation.secondaries_of(&key("a"), &MockPrimaries::default()).is_empty());
        relation.written(&key("s"), &change, &view::<ConfigMap>(), &kind, &MockPrimaries::default(), || {
            Some(secondary(["a"]))
        });
        assert_eq!(relation.secondaries_of(&key("a"), &MockPrimaries::default()), [key("s")]);
    }

    #[test]
    fn references_are_turned_round_by_the_index_over_the_primaries() {
        let (references, index, indexer) =
            References::new::<ConfigMap>("s", |primary| vec![key(&primary.metadata.name.clone().unwrap())]);
        assert_eq!(indexer(&map([])), ["shop/s"]);
        let known = MockPrimaries::default().with_index(&index, "shop/s", "shop/a");
        let relation = Relation::new(None, Some(references));
        let added = ChangeKind::Added { new: secondary([]), initial: false };
        let woken = relation.changed(
            &key("s"),
            &added,
            &view::<ConfigMap>(),
            &ResourceType::of::<ConfigMap>(),
            &known,
        );
        assert_eq!(woken, [key("a")].into());
    }
}
