//! Between the untyped engine and the handlers, indexers and filters of a kind: what they get is opened for them.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    observe::SourceHealth,
    resource::{KubeObject, ObjectKey},
};

use super::{
    Change, ChangeHandler, ChangeKind, Indexer, InformerConfig,
    engine::Parts,
    indexers::Indexers,
    kept::{Kept, View},
    scopes::Scopes,
    store::ItemStore,
};

/// What the engine of an informer is made of; `indexers` are those that open nothing.
pub(super) fn parts<K: KubeObject>(
    config: &InformerConfig<K>,
    view: &Arc<View<K>>,
    handler: Arc<dyn ChangeHandler<Kept>>,
    indexers: BTreeMap<String, Indexer<Arc<Kept>>>,
    store: Box<dyn ItemStore>,
) -> Parts {
    let opened = |(name, indexer): (&String, &Indexer<K>)| {
        let (view, indexer) = (Arc::clone(view), Arc::clone(indexer));
        let values = move |kept: &Arc<Kept>| view.open(kept).map_or_else(Vec::new, |object| indexer(&object));
        (name.clone(), Arc::new(values) as Indexer<Arc<Kept>>)
    };
    Parts {
        name: config.name.clone(),
        scopes: Scopes::new(&config.scope, &config.resource_type),
        face: Arc::clone(view) as _,
        store,
        indexers: Indexers::new(config.indexers.iter().map(opened).chain(indexers).collect()),
        handler,
        selector: selector(config),
        takes_metadata: config.take_over_metadata,
    }
}

/// The selectors of an informer, in words.
fn selector<K: KubeObject>(config: &InformerConfig<K>) -> Option<String> {
    match (&config.label_selector, &config.field_selector) {
        (Some(labels), Some(fields)) => Some(format!("labels {labels}, fields {fields}")),
        (Some(labels), None) => Some(format!("labels {labels}")),
        (None, Some(fields)) => Some(format!("fields {fields}")),
        (None, None) => None,
    }
}

/// Opens changes for a handler of objects of type `K`.
pub(super) struct Opening<K> {
    pub(super) view: Arc<View<K>>,
    pub(super) handler: Arc<dyn ChangeHandler<K>>,
}

impl<K: KubeObject> View<K> {
    /// The same change with its objects opened.
    pub(crate) fn opened(&self, kind: &ChangeKind<Kept>) -> Option<ChangeKind<K>> {
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

impl<K: KubeObject> ChangeHandler<Kept> for Opening<K> {
    fn on_change(&self, change: Change<Kept>) {
        // What can't be opened is said where that was tried.
        if let Some(kind) = self.view.opened(&change.kind) {
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
