//! Finds objects by computed values.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

use parking_lot::RwLock;

use crate::{
    environment::fenced,
    resource::{KubeObject, Object, ObjectKey},
};

use super::text::{TextObject, View};

/// Returns the values under which an object is found in an index.
pub(crate) type Indexer<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// An indexer of objects of any type.
pub(crate) type AnyIndexer = Arc<dyn Fn(&dyn Object) -> Vec<String> + Send + Sync>;

/// An indexer that is called only for objects of its own type.
pub(crate) fn opening<K: KubeObject>(indexer: Indexer<K>) -> AnyIndexer {
    Arc::new(move |object| object.typed_ref().map_or_else(Vec::new, |object| indexer(object)))
}

impl View {
    /// The user's indexers, evaluated on kept objects. They are called once for each state, when it arrives: neither a
    /// read of the index nor the next state needs a decoded object. A panic of one counts as "no value": the
    /// informer must continue.
    pub(crate) fn opens(
        self: &Arc<Self>,
        indexers: BTreeMap<String, AnyIndexer>,
    ) -> BTreeMap<String, Indexer<Arc<TextObject>>> {
        let (names, indexers): (Vec<_>, Vec<_>) = indexers.into_iter().unzip();
        let (view, indexers) = (Arc::clone(self), Arc::<[AnyIndexer]>::from(indexers));
        let ask = move |kept: &Arc<TextObject>| match view.open(kept) {
            Some(object) => {
                indexers.iter().map(|indexer| fenced(|| indexer(&*object)).unwrap_or_default()).collect()
            }
            None => Vec::new(),
        };
        let (ask, id) = (Arc::new(ask), self.id());
        let of = |(position, name)| {
            let ask = Arc::clone(&ask);
            let values = move |kept: &Arc<TextObject>| {
                kept.indexed(id, || ask(kept)).get(position).cloned().unwrap_or_default()
            };
            (name, Arc::new(values) as Indexer<Arc<TextObject>>)
        };
        names.into_iter().enumerate().map(of).collect()
    }
}

/// The indexes of the objects of one informer, or of the operator's own writes. Written only under the informer's lock;
/// readable at any time.
#[derive(Default)]
pub(super) struct Indexers {
    by_name: BTreeMap<String, Index>,
}

/// The values of one object, index by index; by default it has none.
#[derive(Debug, Default)]
pub(super) struct Values(Vec<BTreeSet<String>>);

struct Index {
    indexer: Indexer<Arc<TextObject>>,
    keys: RwLock<HashMap<String, BTreeSet<ObjectKey>>>,
}

impl Index {
    /// Users' functions are fenced where they are opened.
    fn values(&self, object: &Arc<TextObject>) -> BTreeSet<String> {
        (self.indexer)(object).into_iter().collect()
    }
}

impl Indexers {
    pub(super) fn new(indexers: BTreeMap<String, Indexer<Arc<TextObject>>>) -> Self {
        let by_name = indexers
            .into_iter()
            .map(|(name, indexer)| (name, Index { indexer, keys: RwLock::default() }))
            .collect();
        Self { by_name }
    }

    /// The same indexes for other objects.
    pub(super) fn anew(&self) -> Self {
        let anew = |(name, index): (&String, &Index)| {
            let index = Index { indexer: Arc::clone(&index.indexer), keys: RwLock::default() };
            (name.clone(), index)
        };
        Self { by_name: self.by_name.iter().map(anew).collect() }
    }

    /// Adds the new values of an object. Called before the store changes, as [`Indexers::remove`] is called after it: a
    /// reader may then find a key too many, which it notices by [`Indexers::matches`], but never one too few. Returns
    /// the values.
    pub(super) fn add(&self, key: &ObjectKey, new: &Arc<TextObject>) -> Values {
        let add = |index: &Index| {
            let values = index.values(new);
            if !values.is_empty() {
                let mut keys = index.keys.write();
                for value in &values {
                    keys.entry(value.clone()).or_default().insert(key.clone());
                }
            }
            values
        };
        Values(self.by_name.values().map(add).collect())
    }

    /// Removes the values that `old` had, except for those that its successor has.
    pub(super) fn remove(&self, key: &ObjectKey, old: &Arc<TextObject>, new: &Values) {
        let old = Values(self.by_name.values().map(|index| index.values(old)).collect());
        self.remove_values(key, &old, new);
    }

    /// The same if the values are known.
    pub(super) fn remove_values(&self, key: &ObjectKey, old: &Values, new: &Values) {
        for (position, (index, old)) in self.by_name.values().zip(&old.0).enumerate() {
            let kept = new.0.get(position);
            let mut gone =
                old.iter().filter(|value| kept.is_none_or(|kept| !kept.contains(*value))).peekable();
            if gone.peek().is_none() {
                continue;
            }
            let mut keys = index.keys.write();
            for value in gone {
                if let Some(holders) = keys.get_mut(value) {
                    holders.remove(key);
                    if holders.is_empty() {
                        keys.remove(value);
                    }
                }
            }
        }
    }

    pub(super) fn keys(&self, index: &str, value: &str) -> BTreeSet<ObjectKey> {
        self.by_name.get(index).and_then(|index| index.keys.read().get(value).cloned()).unwrap_or_default()
    }

    pub(super) fn matches(&self, index: &str, value: &str, object: &Arc<TextObject>) -> bool {
        self.by_name.get(index).is_some_and(|index| index.values(object).contains(value))
    }

    /// The number of entries about objects that don't exist.
    pub(super) fn leftovers(&self, exists: impl Fn(&ObjectKey) -> bool) -> usize {
        let of = |index: &Index| index.keys.read().values().flatten().filter(|key| !exists(key)).count();
        self.by_name.values().map(of).sum()
    }

    /// The number of values in the indexes.
    pub(super) fn len(&self) -> usize {
        self.by_name.values().map(|index| index.keys.read().len()).sum()
    }
}

impl fmt::Debug for Indexers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_name.keys()).finish()
    }
}
