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
        engine::Engine,
        list_watch::{
            Collection,
            feed::{Feed, Key, Share},
        },
        scopes::ScopeIndex,
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
            None => Box::new(FullStore::default()),
        };
        let settings =
            InformerSettings { scope: settings.scope.in_place(client.default_namespace()), ..settings };
        let is_bounded = store.is_bounded();
        let engine = Arc::new(Engine::new(&settings, &view, handler, indexers, store));
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
            let mut followed = settings.clone();
            if let Some(labels) = share.and_then(Share::wider) {
                followed.label_selector = Some(labels.to_owned());
            }
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
