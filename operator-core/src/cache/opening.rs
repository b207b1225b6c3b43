//! Between the untyped engine and the handlers, indexers and filters of a kind: opens what is passed to them.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    observe::SourceHealth,
    resource::{KubeObject, Object, ObjectKey},
};

use super::{
    Change, ChangeHandler, ChangeKind, Indexer, InformerConfig,
    config::Settings,
    engine::Parts,
    indexers::Indexers,
    scopes::Scopes,
    store::ItemStore,
    text::{Kept, View},
};

/// The parts of an informer's engine.
pub(super) fn parts(
    settings: &Settings,
    view: &Arc<View>,
    handler: Arc<dyn ChangeHandler<Kept>>,
    indexers: BTreeMap<String, Indexer<Arc<Kept>>>,
    store: Box<dyn ItemStore>,
) -> Parts {
    Parts {
        name: settings.name.clone(),
        scopes: Scopes::new(&settings.scope, &settings.resource_type).within(settings.cluster.clone()),
        face: Arc::clone(view) as _,
        store,
        indexers: Indexers::new(indexers),
        handler,
        selector: selector(settings),
        takes_metadata: settings.take_over_metadata,
    }
}

/// The same for a configuration and a handler that know a type.
pub(super) fn typed_parts<K: KubeObject>(
    config: InformerConfig<K>,
    view: &Arc<View>,
    handler: Arc<dyn ChangeHandler<K>>,
    store: Box<dyn ItemStore>,
) -> Parts {
    let settings = config.settings();
    let handler = Arc::new(Opening { view: Arc::clone(view), handler });
    let indexers = config.indexers.into_iter().map(|(name, indexer)| (name, opening(indexer)));
    parts(&settings, view, handler, view.opens(indexers.collect()), store)
}

/// An indexer of objects of any type.
pub(crate) type AnyIndexer = Arc<dyn Fn(&dyn Object) -> Vec<String> + Send + Sync>;

/// An indexer that is called only for its own type.
pub(crate) fn opening<K: KubeObject>(indexer: Indexer<K>) -> AnyIndexer {
    Arc::new(move |object| object.typed_ref().map_or_else(Vec::new, |object| indexer(object)))
}

/// The selectors of an informer, as text.
fn selector(settings: &Settings) -> Option<String> {
    let labels = settings.label_selector.as_ref().map(|labels| format!("labels {labels}"));
    let fields = settings.field_selector.as_ref().map(|fields| format!("fields {fields}"));
    let shard = settings.shard.as_ref().map(|shard| format!("shard {shard}"));
    let all: Vec<String> = [labels, fields, shard].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Opens changes for a handler of objects of type `K`.
struct Opening<K> {
    view: Arc<View>,
    handler: Arc<dyn ChangeHandler<K>>,
}

impl View {
    /// The user's indexers, evaluated on what is kept. They are called once for each state, when it arrives, so that
    /// neither a read of the index nor the next state needs a decoded object. A panic of one counts as "no value": the
    /// informer must continue.
    pub(crate) fn opens(
        self: &Arc<Self>,
        indexers: BTreeMap<String, AnyIndexer>,
    ) -> BTreeMap<String, Indexer<Arc<Kept>>> {
        let (names, indexers): (Vec<_>, Vec<_>) = indexers.into_iter().unzip();
        let (view, indexers) = (Arc::clone(self), Arc::<[AnyIndexer]>::from(indexers));
        let ask = move |kept: &Arc<Kept>| match view.open(kept) {
            Some(object) => indexers
                .iter()
                .map(|indexer| catch_unwind(AssertUnwindSafe(|| indexer(&*object))).unwrap_or_default())
                .collect(),
            None => Vec::new(),
        };
        let (ask, id) = (Arc::new(ask), self.id());
        let of = |(position, name)| {
            let ask = Arc::clone(&ask);
            let values = move |kept: &Arc<Kept>| {
                kept.indexed(id, || ask(kept)).get(position).cloned().unwrap_or_default()
            };
            (name, Arc::new(values) as Indexer<Arc<Kept>>)
        };
        names.into_iter().enumerate().map(of).collect()
    }

    /// The same change with its objects opened.
    pub(crate) fn opened(&self, kind: &ChangeKind<Kept>) -> Option<ChangeKind<dyn Object>> {
        Some(match kind {
            ChangeKind::Added { new, initial } => {
                ChangeKind::Added { new: self.open(new)?, initial: *initial }
            }
            ChangeKind::Updated { old, new } => {
                ChangeKind::Updated { old: self.open(old)?, new: self.open(new)? }
            }
            ChangeKind::Deleted { last, final_state_unknown } => {
                ChangeKind::Deleted { last: self.open(last)?, final_state_unknown: *final_state_unknown }
            }
        })
    }
}

impl ChangeKind<dyn Object> {
    /// The same for objects of type `K`.
    fn typed<K: KubeObject>(self) -> Option<ChangeKind<K>> {
        Some(match self {
            Self::Added { new, initial } => ChangeKind::Added { new: new.typed()?, initial },
            Self::Updated { old, new } => ChangeKind::Updated { old: old.typed()?, new: new.typed()? },
            Self::Deleted { last, final_state_unknown } => {
                ChangeKind::Deleted { last: last.typed()?, final_state_unknown }
            }
        })
    }
}

impl<K: KubeObject> ChangeHandler<Kept> for Opening<K> {
    fn on_change(&self, change: Change<Kept>) {
        // What can't be opened is said where that was tried.
        if let Some(kind) = self.view.opened(&change.kind).and_then(ChangeKind::typed) {
            self.handler.on_change(Change { key: change.key, kind });
        }
    }

    fn on_health(&self, health: &SourceHealth) {
        self.handler.on_health(health);
    }

    fn on_silent_watch(&self) {
        self.handler.on_silent_watch();
    }

    fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.handler.leftovers(exists)
    }

    fn on_not_selected(&self, key: &ObjectKey) {
        self.handler.on_not_selected(key);
    }

    fn on_left(&self, key: &ObjectKey, uid: &str) {
        self.handler.on_left(key, uid);
    }

    fn on_outdated(&self, key: &ObjectKey) {
        self.handler.on_outdated(key);
    }

    fn on_undecodable_objects(&self, objects: usize) {
        self.handler.on_undecodable_objects(objects);
    }

    fn on_undecodable(&self, key: Option<&ObjectKey>, error: &str) {
        self.handler.on_undecodable(key, error);
    }
}
