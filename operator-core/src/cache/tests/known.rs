//! An engine with its typed face, as an informer has them, without the informer's tasks; and what is kept of an object.

use std::{marker::PhantomData, ops::Deref, sync::Arc};

use k8s_openapi::api::core::v1::ConfigMap;

use crate::{
    cache::{
        AnyWrite, ChangeHandler,
        engine::{Decoded, Engine},
        store::{FullStore, ItemStore},
        text::{TextObject, View},
    },
    resource::{KubeObject, ObjectKey},
};

use super::typed::{OwnWrite, TestConfig};

pub(in crate::cache) struct TestEngine<K: KubeObject> {
    pub(in crate::cache) engine: Arc<Engine>,
    pub(in crate::cache) view: Arc<View>,
    of: PhantomData<fn() -> K>,
}

impl<K: KubeObject> TestEngine<K> {
    pub(in crate::cache) fn new(config: &TestConfig<K>, handler: Arc<dyn ChangeHandler>) -> Self {
        Self::with_store(config, handler, Box::new(FullStore::default()))
    }

    pub(in crate::cache) fn with_store(
        config: &TestConfig<K>,
        handler: Arc<dyn ChangeHandler>,
        store: Box<dyn ItemStore>,
    ) -> Self {
        let view = Arc::new(View::with_memo(config, Arc::clone(&config.kind), Arc::default()));
        let indexers = view.opens(config.indexers.clone());
        let engine = Arc::new(Engine::new(config, &view, handler, indexers, store));
        Self { engine, view, of: PhantomData }
    }

    pub(in crate::cache) fn begin(&self, key: &ObjectKey) -> OwnWrite<K> {
        let write = AnyWrite::begin(Arc::clone(&self.engine), key.clone());
        OwnWrite::new(write, &self.view)
    }

    pub(in crate::cache) fn base(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.view.open(&self.engine.base(key)?)?.typed()
    }
}

impl<K: KubeObject> Deref for TestEngine<K> {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

/// Objects as an informer with one own manager, `me`, keeps them.
pub(crate) fn view<K: KubeObject<DynamicType: Default>>() -> View {
    let mut config = TestConfig::<K>::new();
    config.own_managers = vec!["me".to_owned()];
    View::with_memo(&config, Arc::clone(&config.kind), Arc::default())
}

/// An object as such an informer keeps it.
pub(crate) fn kept<K: KubeObject<DynamicType: Default>>(object: &K) -> Arc<TextObject> {
    view::<K>().answer_of(Arc::new(object.clone())).kept.expect("it can be kept")
}

/// The same as it comes from the server.
pub(in crate::cache) fn decoded(map: &ConfigMap) -> Decoded {
    Decoded::Object { key: ObjectKey::of(map), kept: kept(map) }
}
