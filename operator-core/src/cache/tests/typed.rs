//! An informer, its settings and its writes, for tests that know the type of the objects.

use std::{collections::BTreeMap, marker::PhantomData, ops::Deref, ops::DerefMut, sync::Arc};

use kube::Client;

use crate::{
    cache::{
        AnyIndexer, AnyWrite, Bounds, ChangeHandler, Error, Informer, InformerPlan, InformerSettings,
        ResourceCache, View, kind_of, opening,
        text::{AnyKind, transformed_kind},
    },
    environment::Environment,
    resource::{AnyObject, KubeObject, ObjectKey, ResourceType},
};

/// The settings of an informer, and the functions of a user.
#[derive(Clone)]
pub(in crate::cache) struct TestConfig<K> {
    settings: InformerSettings,
    pub(in crate::cache) kind: AnyKind,
    pub(in crate::cache) indexers: BTreeMap<String, AnyIndexer>,
    of: PhantomData<fn() -> K>,
}

impl<K: KubeObject<DynamicType: Default>> TestConfig<K> {
    pub(in crate::cache) fn new() -> Self {
        let resource_type = ResourceType::with::<K>(&K::DynamicType::default());
        let settings = InformerSettings::new("test", resource_type);
        Self { settings, kind: kind_of::<K>(), indexers: BTreeMap::new(), of: PhantomData }
    }

    pub(in crate::cache) fn with_indexer(
        mut self,
        name: &str,
        indexer: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.indexers.insert(name.to_owned(), opening(Arc::new(indexer)));
        self
    }

    pub(super) fn transform(&mut self, transform: impl Fn(K) -> K + Send + Sync + 'static) {
        self.kind = transformed_kind(Arc::new(transform));
    }

    pub(super) fn informer(
        self,
        bounds: Option<&Bounds<K>>,
        client: Client,
        environment: &Environment,
        handler: Arc<dyn ChangeHandler>,
    ) -> TestInformer<K> {
        let Self { settings, kind, indexers, .. } = self;
        let settings = InformerSettings { is_asked: true, ..settings };
        let bounds = bounds.map(|bounds| bounds.any(&settings.resource_type).unwrap());
        let view = Arc::new(View::new(&settings, kind, environment));
        let indexers = view.opens(indexers);
        let environment = environment.clone();
        let plan = InformerPlan { settings, bounds, share: None, view, client, environment };
        let any = Informer::new(plan, handler, indexers);
        TestInformer { cache: ResourceCache::of(any.clone()), any }
    }
}

impl<K> Deref for TestConfig<K> {
    type Target = InformerSettings;

    fn deref(&self) -> &InformerSettings {
        &self.settings
    }
}

impl<K> DerefMut for TestConfig<K> {
    fn deref_mut(&mut self) -> &mut InformerSettings {
        &mut self.settings
    }
}

/// An informer whose reads and writes know the type.
#[derive(Clone, Debug)]
pub(super) struct TestInformer<K: KubeObject> {
    any: Informer,
    pub(super) cache: ResourceCache<K>,
}

impl<K: KubeObject> TestInformer<K> {
    pub(super) fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.cache.get(key)
    }

    pub(super) fn list(&self) -> Vec<Arc<K>> {
        self.cache.list()
    }

    pub(super) fn by_index(&self, index: &str, value: &str) -> Vec<Arc<K>> {
        self.cache.by_index(index, value)
    }

    pub(super) async fn fetch(&self, key: &ObjectKey) -> Result<Option<Arc<K>>, Error> {
        Ok(self.any.fetch(key).await?.and_then(|object| object.typed()))
    }

    pub(super) fn begin_write(&self, key: &ObjectKey) -> OwnWrite<K> {
        OwnWrite::new(self.any.begin_write(key), self.any.view())
    }

    pub(super) fn remember(&self, answer: K) -> AnyObject {
        self.any.remember_answer(self.any.answer_of(Arc::new(answer)))
    }
}

impl<K: KubeObject> Deref for TestInformer<K> {
    type Target = Informer;

    fn deref(&self) -> &Informer {
        &self.any
    }
}

/// One of the operator's own writes in progress.
#[must_use = "dropping it ends the write"]
pub(in crate::cache) struct OwnWrite<K> {
    write: AnyWrite,
    view: Arc<View>,
    of: PhantomData<fn() -> K>,
}

impl<K: KubeObject> OwnWrite<K> {
    pub(super) fn new(write: AnyWrite, view: &Arc<View>) -> Self {
        Self { write, view: Arc::clone(view), of: PhantomData }
    }

    /// The newest state that was known when the write began, or when it was rebased, or the last answer. From a bounded
    /// informer it may be a minimal object, which is all that an optimistic lock needs.
    pub(in crate::cache) fn base(&self) -> Option<Arc<K>> {
        self.view.open(self.write.base()?)?.typed()
    }

    /// Reads again, for another attempt after a conflict. Returns the new base.
    pub(super) fn rebase(&mut self) -> Option<Arc<K>> {
        self.write.base = self.write.engine.base(&self.write.key);
        self.base()
    }

    /// The write was answered with `answer`.
    pub(in crate::cache) fn wrote(&mut self, answer: K) {
        self.write.answered(self.view.answer_of(Arc::new(answer)));
    }
}
