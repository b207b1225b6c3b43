//! Makes an informer with its store and its handler.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
};

use kube::Client;

use super::{Informer, Inner};
use crate::{
    cache::{
        AnyBounds, ChangeHandler, Indexer,
        config::InformerSettings,
        engine::EngineParts,
        indexers::Indexers,
        list_watch::{
            Collection,
            feed::{Feed, Key, Share},
        },
        scopes::{ScopeIndex, Scopes},
        store::{BoundedStore, FullStore, ItemStore},
        text::{TextObject, View},
    },
    environment::Environment,
};

/// The parts that an informer is made of.
pub(crate) struct InformerPlan {
    pub(crate) settings: InformerSettings,
    /// With these it holds only some objects in full.
    pub(crate) bounds: Option<AnyBounds>,
    /// With these it shares its list-watches.
    pub(crate) share: Option<Share>,
    pub(crate) view: Arc<View>,
    pub(crate) client: Client,
    pub(crate) environment: Environment,
}

impl Informer {
    /// An informer whose handler and indexers get objects as they are kept, and open what they need with the plan's
    /// view.
    pub(crate) fn new(
        plan: InformerPlan,
        handler: Arc<dyn ChangeHandler>,
        indexers: BTreeMap<String, Indexer<Arc<TextObject>>>,
    ) -> Self {
        let InformerPlan { settings, bounds, share, view, client, environment } = plan;
        let only = bounds.as_ref().and_then(|bounds| bounds.only.clone());
        let store: Box<dyn ItemStore> = match bounds {
            Some(bounds) => Box::new(BoundedStore::new(bounds)),
            None => Box::new(FullStore::new()),
        };
        let settings =
            InformerSettings { scope: settings.scope.in_place(client.default_namespace()), ..settings };
        let is_bounded = store.is_bounded();
        let parts = parts(&settings, &view, handler, indexers, store);
        let engine = Arc::new(crate::cache::engine::Engine::new(parts));
        view.tells(&engine);
        // A bounded informer doesn't hold enough for others.
        let share = share.filter(|_| !is_bounded);
        Self(Arc::new(Inner {
            settings,
            client,
            environment,
            view,
            engine,
            share,
            is_given: AtomicBool::new(false),
            is_bounded,
            only,
        }))
    }
}

impl Inner {
    /// The feed that shows one of its collections.
    pub(super) fn feed(&self, scope: ScopeIndex) -> Arc<Feed> {
        let namespace = self.engine.scopes.namespace(scope);
        let (settings, share) = (&self.settings, self.share.as_ref());
        let make = || {
            let wider = share.and_then(Share::wider).map(|labels| InformerSettings {
                label_selector: Some(labels.to_owned()),
                ..settings.clone()
            });
            let followed = wider.as_ref().unwrap_or(settings);
            let collection = Collection::new(followed, self.client.clone(), namespace.as_deref());
            let (face, view) = (Arc::clone(&self.engine.face), Arc::clone(&self.view));
            Feed::new(&settings.name, collection, face, view, share.is_some())
        };
        match share {
            Some(share) => {
                let key = Key::new(share, settings, &self.view, namespace.as_deref());
                share.pool.feed(key, &self.view, make)
            }
            None => Arc::new(make()),
        }
    }
}

/// The parts of an informer's engine.
pub(in crate::cache) fn parts(
    settings: &InformerSettings,
    view: &Arc<View>,
    handler: Arc<dyn ChangeHandler>,
    indexers: BTreeMap<String, Indexer<Arc<TextObject>>>,
    store: Box<dyn ItemStore>,
) -> EngineParts {
    EngineParts {
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

/// The selectors of an informer, as text.
fn selector(settings: &InformerSettings) -> Option<String> {
    let labels = settings.label_selector.as_ref().map(|labels| format!("labels {labels}"));
    let fields = settings.field_selector.as_ref().map(|fields| format!("fields {fields}"));
    let shard = settings.shard.as_ref().map(|shard| format!("shard {shard}"));
    let all: Vec<String> = [labels, fields, shard].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}
