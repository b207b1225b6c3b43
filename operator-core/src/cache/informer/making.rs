//! How an informer is made: with which store, and with which handler.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
};

use kube::Client;

use crate::{
    cache::{
        AnyBounds, Bounds, ChangeHandler, Error, Indexer, InformerConfig,
        config::Settings,
        engine::Parts,
        kept::{Kept, View},
        opening::{parts, typed_parts},
        store::{BoundedStore, FullStore, ItemStore},
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
        Self::of_any(AnyInformer::of(settings, client, environment, view, parts))
    }
}

impl AnyInformer {
    /// An informer whose handler and indexers get objects as they are kept, and open what they need with `view`; with
    /// `bounds` it holds only some in full.
    pub(crate) fn of_kept(
        settings: Settings,
        bounds: Option<AnyBounds>,
        view: Arc<View>,
        client: Client,
        environment: Environment,
        handler: Arc<dyn ChangeHandler<Kept>>,
        indexers: BTreeMap<String, Indexer<Arc<Kept>>>,
    ) -> Self {
        let store: Box<dyn ItemStore> = match bounds {
            Some(bounds) => Box::new(BoundedStore::new(bounds)),
            None => Box::new(FullStore::new()),
        };
        let settings = Settings { scope: settings.scope.in_place(client.default_namespace()), ..settings };
        let parts = parts(&settings, &view, handler, indexers, store);
        Self::of(settings, client, environment, view, parts)
    }

    fn of(
        settings: Settings,
        client: Client,
        environment: Environment,
        view: Arc<View>,
        parts: Parts,
    ) -> Self {
        let is_bounded = parts.store.is_bounded();
        #[cfg(feature = "testing")]
        let engine = crate::cache::planted::engine(parts, &environment);
        #[cfg(not(feature = "testing"))]
        let engine = Arc::new(crate::cache::engine::Engine::new(parts));
        view.tells(&engine);
        Self(Arc::new(Inner {
            settings,
            client,
            environment,
            view,
            engine,
            last_activity: AtomicU64::new(0),
            is_given: AtomicBool::new(false),
            is_bounded,
        }))
    }
}
