//! The feeds of an operator, found by their keys.

use std::{
    any::TypeId,
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;

use super::{Feed, Selects};
use crate::{
    cache::{InitialList, config::InformerSettings, text::View},
    resource::Cluster,
};

/// The list-watches of one operator that several informers may share. Cheap to clone; clones are the same. JOSDK:
/// `InformerPool`.
#[derive(Clone, Default)]
pub(crate) struct InformerPool(Arc<Mutex<BTreeMap<Key, Weak<Feed>>>>);

/// How an informer takes part in a pool.
pub(crate) struct Share {
    pub(crate) pool: InformerPool,
    /// A wider label selector than the informer's own, for all that share it; and the informer's own selection.
    pub(crate) wider: Option<(String, Selects)>,
}

impl Share {
    /// The label selector for all that share.
    pub(in crate::cache) fn wider(&self) -> Option<&str> {
        self.wider.as_ref().map(|(labels, _)| &**labels)
    }

    /// The informer's own selection; `None` for all objects.
    pub(in crate::cache) fn selects(&self) -> Option<Selects> {
        self.wider.as_ref().map(|(_, selects)| Arc::clone(selects))
    }
}

/// Distinguishes one list-watch from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cache) struct Key {
    cluster: (Cluster, u64),
    /// Group, version, kind and plural.
    kind: [String; 4],
    namespace: Option<String>,
    selectors: [Option<String>; 3],
    metadata_only: bool,
    /// The type that objects are decoded to, and the function that transforms them.
    form: (TypeId, usize),
    /// The annotations that the function doesn't drop, if there is one.
    annotations: Vec<String>,
    managers: Vec<String>,
    /// The size of pages, whether lists are streamed, and the duration of a watch.
    requests: (u32, bool, Duration),
}

impl Key {
    pub(in crate::cache) fn new(
        share: &Share,
        settings: &InformerSettings,
        view: &View,
        namespace: Option<&str>,
    ) -> Self {
        let kind = &settings.resource_type;
        let labels = share.wider().map(str::to_owned);
        let shard = settings.shard.as_ref().map(ToString::to_string);
        let labels = labels.or_else(|| settings.label_selector.clone());
        Self {
            cluster: (settings.cluster.clone(), settings.cluster_number),
            kind: [kind.group(), kind.version(), kind.kind(), kind.plural()].map(str::to_owned),
            namespace: namespace.map(str::to_owned),
            selectors: [labels, settings.field_selector.clone(), shard],
            metadata_only: settings.metadata_only,
            form: view.form(),
            annotations: if view.form().1 > 0 { settings.annotations.clone() } else { Vec::new() },
            managers: view.keeping.own_managers.clone(),
            requests: (
                settings.page_size,
                settings.initial_list == InitialList::Streaming,
                settings.watch_timeout,
            ),
        }
    }
}

impl InformerPool {
    /// The feed with this key, for an informer with this view; `make` makes one if none is in use.
    pub(in crate::cache) fn feed(&self, key: Key, view: &View, make: impl FnOnce() -> Feed) -> Arc<Feed> {
        let mut feeds = self.0.lock();
        if let Some(feed) = feeds.get(&key).and_then(Weak::upgrade) {
            feed.also_as(view);
            return feed;
        }
        feeds.retain(|_, feed| feed.strong_count() > 0);
        let feed = Arc::new(make());
        feeds.insert(key, Arc::downgrade(&feed));
        feed
    }
}

debug_of!(InformerPool: "InformerPool", |it| feeds: it.0.lock().len());
