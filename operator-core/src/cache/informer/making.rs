//! How an informer is made: of which store, and who is told.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU64},
};

use kube::Client;

use crate::{
    cache::{
        Bounds, ChangeHandler, Error, Indexer, InformerConfig,
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
    /// An informer that has not started yet. `client` is the one that lists and watches, and that gives up a list which falls
    /// silent, as those of [`Clients`](crate::client::Clients) do; `handler` is told of every change.
    #[must_use]
    pub fn new(
        config: InformerConfig<K>,
        client: Client,
        environment: Environment,
        handler: Arc<dyn ChangeHandler<K>>,
    ) -> Self {
        Self::with_store(config, client, environment, handler, Box::new(FullStore::new()))
    }

    /// An informer that holds only some objects in full: for types of which there are too many, or too large ones, for the
    /// memory there is. Of all others it keeps a minimal object: name, namespace, uid, version, generation, labels,
    /// finalizers, owners and mark for deletion. JOSDK's `BoundedItemStore`.
    ///
    /// What is different then:
    /// - [`Informer::get`] answers what is held in full, and `None` doesn't mean that the object doesn't exist; that is
    ///   for [`Informer::fetch`] and [`Informer::contains`] to say.
    /// - [`Informer::list`] and [`Informer::list_in`] give minimal objects only, so that nobody mistakes one for a whole
    ///   object by chance.
    /// - The `old` of an update and the `last` of a missed deletion may be minimal. A filter that compares more than the
    ///   metadata named above then sees a difference where there may be none, so it lets through too much, never too
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
        let template = bounds.template(&config.resource_type).map_err(|error| {
            refused(format!(
                "a {} doesn't decode from metadata alone ({error}); give an object without content by \
                 `Bounds::with_template`",
                config.resource_type
            ))
        })?;
        let store = Box::new(BoundedStore::new(bounds, template));
        Ok(Self::with_store(config, client, environment, handler, store))
    }

    fn with_store(
        config: InformerConfig<K>,
        client: Client,
        environment: Environment,
        handler: Arc<dyn ChangeHandler<K>>,
        store: Box<dyn ItemStore>,
    ) -> Self {
        let (settings, view) = (config.settings(), Arc::new(View::new(&config, &environment)));
        let parts = typed_parts(config, &view, handler, store);
        Self::of_any(AnyInformer::of(settings, client, environment, view, parts))
    }
}

impl AnyInformer {
    /// One whose handler and indexers are told of objects as they are kept, and open with `view` what they need.
    pub(crate) fn of_kept(
        settings: Settings,
        view: Arc<View>,
        client: Client,
        environment: Environment,
        handler: Arc<dyn ChangeHandler<Kept>>,
        indexers: BTreeMap<String, Indexer<Arc<Kept>>>,
    ) -> Self {
        let parts = parts(&settings, &view, handler, indexers, Box::new(FullStore::new()));
        Self::of(settings, client, environment, view, parts)
    }

    fn of(
        settings: Settings,
        client: Client,
        environment: Environment,
        view: Arc<View>,
        parts: Parts,
    ) -> Self {
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
        }))
    }
}
