//! How an informer is made: with which store, and with which handler.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
};

use kube::Client;

use crate::{
    cache::{
        AnyBounds, Bounds, ChangeHandler, Error, Indexer, InformerConfig,
        config::Settings,
        engine::Parts,
        list_watch::{
            Collection,
            feed::{Feed, Key, Share},
        },
        opening::{parts, typed_parts},
        scopes::ScopeIndex,
        store::{BoundedStore, FullStore, ItemStore},
        text::{Kept, View},
    },
    environment::Environment,
    resource::KubeObject,
};

use super::{AnyInformer, Informer, untyped::Inner};

impl<K: KubeObject> Informer<K> {
    /// An informer that has not started yet. `client` lists and watches, and abandons a list which falls silent, as
    /// those of [`Clients`](crate::client::Clients) do; `handler` is notified of every change.
    #[must_use]
    pub fn new(
        config: InformerConfig<K>,
        client: Client,
        environment: Environment,
        handler: Arc<dyn ChangeHandler<K>>,
    ) -> Self {
        Self::with_store(config, client, environment, handler, Box::new(FullStore::new()))
    }

    /// An informer that holds only some objects in full: for types with too many objects, or too large ones, for the
    /// available memory. Of all others it keeps a minimal object: name, namespace, uid, version, generation, labels,
    /// finalizers, owners and deletion timestamp. JOSDK: `BoundedItemStore`.
    ///
    /// It differs in the following:
    /// - [`Informer::get`] returns what is held in full, and `None` doesn't mean that the object doesn't exist. Use
    ///   [`Informer::fetch`] or [`Informer::contains`] for that.
    /// - [`Informer::list`] and [`Informer::list_in`] return minimal objects only, so that none is mistaken for a
    ///   complete object by accident.
    /// - The `old` of an update and the `last` of a missed deletion may be minimal. A filter that compares more than
    ///   the metadata named above then sees a difference where there may be none, so it accepts too much, never too
    ///   little.
    ///
    /// # Errors
    /// [`Error::Configuration`]: the configuration has indexers, which need all objects in full; or the type doesn't
    /// decode from metadata alone and `template` in `Bounds` is missing.
    pub fn bounded(
        config: InformerConfig<K>,
        bounds: &Bounds<K>,
        client: Client,
        environment: Environment,
        handler: Arc<dyn ChangeHandler<K>>,
    ) -> Result<Self, Error> {
        let refused = |reason| Error::Configuration { informer: config.name.clone(), reason };
        if let Some(name) = config.indexers.keys().next() {
            return Err(refused(format!(
                "the index `{name}` needs all objects in full, and a bounded informer doesn't hold them; use an \
                 unbounded informer (`Informer::new`), perhaps with a `transform` that drops what is large"
            )));
        }
        let bounds = bounds.any(&config.resource_type).map_err(|error| {
            refused(format!(
                "a {} doesn't decode from metadata alone ({error}); give an object without content by \
                 `Bounds::with_template`",
                config.resource_type
            ))
        })?;
        let store = Box::new(BoundedStore::new(bounds));
        Ok(Self::with_store(config, client, environment, handler, store))
    }

    fn with_store(
        config: InformerConfig<K>,
        client: Client,
        environment: Environment,
        handler: Arc<dyn ChangeHandler<K>>,
        store: Box<dyn ItemStore>,
    ) -> Self {
        let config = InformerConfig { scope: config.scope.in_place(client.default_namespace()), ..config };
        let (settings, view) = (config.settings(), Arc::new(View::new(&config, &environment)));
        let parts = typed_parts(config, &view, handler, store);
        Self::of_any(AnyInformer::of(settings, (client, environment), view, parts, None))
    }
}

/// What an informer is made of, whatever its type.
pub(crate) struct InformerPlan {
    pub(crate) settings: Settings,
    /// With these it holds only some objects in full.
    pub(crate) bounds: Option<AnyBounds>,
    /// With these it shares its list-watches.
    pub(crate) share: Option<Share>,
    pub(crate) view: Arc<View>,
    pub(crate) client: Client,
    pub(crate) environment: Environment,
}

impl AnyInformer {
    /// An informer whose handler and indexers get objects as they are kept, and open what they need with the plan's
    /// view.
    pub(crate) fn of_kept(
        plan: InformerPlan,
        handler: Arc<dyn ChangeHandler<Kept>>,
        indexers: BTreeMap<String, Indexer<Arc<Kept>>>,
    ) -> Self {
        let InformerPlan { settings, bounds, share, view, client, environment } = plan;
        let store: Box<dyn ItemStore> = match bounds {
            Some(bounds) => Box::new(BoundedStore::new(bounds)),
            None => Box::new(FullStore::new()),
        };
        let settings = Settings { scope: settings.scope.in_place(client.default_namespace()), ..settings };
        let parts = parts(&settings, &view, handler, indexers, store);
        Self::of(settings, (client, environment), view, parts, share)
    }

    fn of(
        settings: Settings,
        (client, environment): (Client, Environment),
        view: Arc<View>,
        parts: Parts,
        share: Option<Share>,
    ) -> Self {
        let is_bounded = parts.store.is_bounded();
        let engine = Arc::new(crate::cache::engine::Engine::new(parts));
        view.tells(&engine);
        // What is held of a bounded one is its own affair, and not enough for others.
        let share = share.filter(|_| !is_bounded);
        Self(Arc::new(Inner {
            settings,
            client,
            environment,
            view,
            engine,
            last_activity: Arc::default(),
            share,
            is_given: AtomicBool::new(false),
            is_bounded,
        }))
    }
}

impl Inner {
    /// Where what happens in one of its collections comes from.
    pub(super) fn feed(&self, scope: ScopeIndex) -> Arc<Feed> {
        let namespace = self.engine.scopes.namespace(scope);
        let (settings, share) = (&self.settings, self.share.as_ref());
        let make = || {
            let wider = share
                .and_then(Share::wider)
                .map(|labels| Settings { label_selector: Some(labels.to_owned()), ..settings.clone() });
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
