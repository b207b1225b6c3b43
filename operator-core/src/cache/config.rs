//! The configuration of an informer.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use crate::resource::{Cluster, KubeObject, ResourceType};

use super::{WatchScope, shard::Shard};

/// Returns the values under which an object is found in an index.
pub(crate) type Indexer<K> = Arc<dyn Fn(&K) -> Vec<String> + Send + Sync>;

/// Changes an object before it is stored, to save memory.
pub(crate) type Transform<K> = Arc<dyn Fn(K) -> K + Send + Sync>;

/// How an informer lists all objects: at its start, and after a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialList {
    /// Page by page. Every server supports this, an interrupted list continues with the page it has reached, and at
    /// most one page is held in addition to the objects themselves. The default, because it is never the wrong choice.
    #[default]
    Paged,
    /// As the first events of the watch (`sendInitialEvents`), one object at a time: the least memory on both sides,
    /// and one request less. A stream that is interrupted starts from the beginning, so the next list comes in pages
    /// after any trouble. A server that can't stream (before 1.32, 1.33, or with the feature gate `WatchList` off) is
    /// always listed in pages.
    Streaming,
}

/// The configuration of one [`Informer`](super::Informer). JOSDK: `InformerConfiguration`.
#[derive(Clone)]
pub struct InformerConfig<K: KubeObject> {
    /// The name in logs and metrics.
    pub name: String,
    /// The type of object to follow.
    pub resource_type: ResourceType,
    /// The namespaces to follow; all by default.
    pub scope: WatchScope,
    /// Only objects with these labels, in the API's syntax (`app=web,tier!=test`).
    pub label_selector: Option<String>,
    /// Only objects with these fields, in the API's syntax (`metadata.name=web`).
    pub field_selector: Option<String>,
    /// Ask the server for metadata only. For kube's `PartialObjectMeta`; other types will not decode.
    pub metadata_only: bool,
    /// The maximum number of objects in one response to a list; 500 by default. JOSDK: `informerListLimit`.
    pub page_size: u32,
    /// How all objects are listed at the start and after a gap; in pages by default.
    pub initial_list: InitialList,
    /// After this time the server ends a watch, and a new one continues it; 90 s by default, at most 240 s, spread by
    /// up to a fifth. A silent watch is given up 5 s later, so this limits how long the silence stays unnoticed.
    pub watch_timeout: Duration,
    /// Entries of `managedFields` are kept for these field managers only, all operations and subresources; by default
    /// for none. What they own, `fieldsV1`, is kept as it came: a JSON string, not a tree, which would take many times the
    /// memory of the object itself.
    pub own_managers: Vec<String>,
    /// Applied to each object before it is stored, and to the responses to the operator's own writes. The fields that
    /// identify an object, its version, generation, owners, finalizers and deletion timestamp are restored afterwards.
    /// JOSDK: `TransformingItemStore`.
    pub transform: Option<Transform<K>>,
    /// If an object that is known can no longer be decoded, take over its metadata: its deletion timestamp, finalizers
    /// and version. The rest stays as it was decoded last. It is reported like any change. By default the whole older
    /// state stays.
    pub take_over_metadata: bool,
    /// Indexes by name. JOSDK: `addIndexers`.
    pub indexers: BTreeMap<String, Indexer<K>>,
}

/// The number of objects in one answer to a list by default.
const DEFAULT_PAGE_SIZE: u32 = 500;

/// What of it concerns objects of any type.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) name: String,
    /// The cluster that the objects live in.
    pub(crate) cluster: Cluster,
    pub(crate) resource_type: ResourceType,
    pub(crate) scope: WatchScope,
    /// Whether it follows its controller's namespaces when they change.
    pub(crate) follows_controller: bool,
    pub(crate) label_selector: Option<String>,
    pub(crate) field_selector: Option<String>,
    /// The part of the objects that is followed, if it isn't all of them.
    pub(crate) shard: Option<Shard>,
    pub(crate) metadata_only: bool,
    pub(crate) page_size: u32,
    pub(crate) initial_list: InitialList,
    pub(crate) watch_timeout: Duration,
    pub(crate) take_over_metadata: bool,
    /// Whether each object is decoded when it arrives, to check that it can be; otherwise it is decoded when it is
    /// read.
    pub(crate) is_checked: bool,
    /// Whether some function of the user's receives each object as soon as it arrives. Then it gets the object that was
    /// decoded for the check.
    pub(crate) is_asked: bool,
}

impl Settings {
    /// The defaults.
    pub(crate) fn new(name: impl Into<String>, resource_type: ResourceType) -> Self {
        Self {
            name: name.into(),
            cluster: Cluster::local(),
            resource_type,
            scope: WatchScope::All,
            follows_controller: false,
            label_selector: None,
            field_selector: None,
            shard: None,
            metadata_only: false,
            page_size: DEFAULT_PAGE_SIZE,
            initial_list: InitialList::default(),
            watch_timeout: Duration::from_secs(90),
            take_over_metadata: false,
            is_checked: true,
            is_asked: false,
        }
    }
}

impl<K: KubeObject> InformerConfig<K> {
    /// What of it concerns objects of any type.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            name: self.name.clone(),
            cluster: Cluster::local(),
            resource_type: self.resource_type.clone(),
            scope: self.scope.clone(),
            follows_controller: false,
            label_selector: self.label_selector.clone(),
            field_selector: self.field_selector.clone(),
            shard: None,
            metadata_only: self.metadata_only,
            page_size: self.page_size,
            initial_list: self.initial_list,
            watch_timeout: self.watch_timeout,
            take_over_metadata: self.take_over_metadata,
            is_checked: true,
            is_asked: false,
        }
    }

    /// The defaults for following all objects of `resource_type`.
    #[must_use]
    pub fn new(name: impl Into<String>, resource_type: ResourceType) -> Self {
        let settings = Settings::new(name, resource_type);
        Self {
            name: settings.name,
            resource_type: settings.resource_type,
            scope: settings.scope,
            label_selector: settings.label_selector,
            field_selector: settings.field_selector,
            metadata_only: settings.metadata_only,
            page_size: settings.page_size,
            initial_list: settings.initial_list,
            watch_timeout: settings.watch_timeout,
            own_managers: Vec::new(),
            transform: None,
            take_over_metadata: settings.take_over_metadata,
            indexers: BTreeMap::new(),
        }
    }

    /// Adds an index, which [`Informer::by_index`](super::Informer::by_index) then knows under `name`.
    #[must_use]
    pub fn with_indexer(
        mut self,
        name: impl Into<String>,
        indexer: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.indexers.insert(name.into(), Arc::new(indexer));
        self
    }
}

impl<K: KubeObject> fmt::Debug for InformerConfig<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerConfig")
            .field("name", &self.name)
            .field("resource_type", &self.resource_type)
            .field("scope", &self.scope)
            .field("label_selector", &self.label_selector)
            .field("field_selector", &self.field_selector)
            .field("metadata_only", &self.metadata_only)
            .field("page_size", &self.page_size)
            .field("initial_list", &self.initial_list)
            .field("watch_timeout", &self.watch_timeout)
            .field("own_managers", &self.own_managers)
            .field("transform", &self.transform.is_some())
            .field("take_over_metadata", &self.take_over_metadata)
            .field("indexers", &self.indexers.keys())
            .finish()
    }
}
