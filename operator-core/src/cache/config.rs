//! The configuration of an informer.

use std::{sync::Arc, time::Duration};

use crate::resource::{Cluster, ResourceType};

use super::{WatchScope, shard::Shard};

/// Changes an object before it is stored, to save memory.
pub(crate) type Transform<K> = Arc<dyn Fn(K) -> K + Send + Sync>;

/// How an informer lists all objects: at its start, and after a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialList {
    /// Page by page. Every server supports this, an interrupted list continues with the page it has reached, and at
    /// most one page is held in addition to the objects themselves. The default, because it is always a safe choice.
    #[default]
    Paged,
    /// As the first events of the watch (`sendInitialEvents`), one object at a time: the least memory on both sides,
    /// and one request less. A stream that is interrupted starts from the beginning, so the next list comes in pages
    /// after any trouble. A server that can't stream (before 1.32, 1.33, or with the feature gate `WatchList` off) is
    /// always listed in pages.
    Streaming,
}

/// The number of objects in one answer to a list by default.
const DEFAULT_PAGE_SIZE: u32 = 500;

/// What an informer follows, and how.
#[derive(Clone, Debug)]
pub struct InformerSettings {
    /// The name in logs and metrics.
    pub name: String,
    /// The cluster that the objects live in.
    pub(crate) cluster: Cluster,
    /// Distinguishes other clusters of one name; 0 for the operator's own.
    pub(crate) cluster_number: u64,
    /// The type of object to follow.
    pub resource_type: ResourceType,
    /// The namespaces to follow; all by default.
    pub scope: WatchScope,
    /// Whether it follows its controller's namespaces when they change.
    pub(crate) follows_controller: bool,
    /// Only objects with these labels, in the API's syntax (`app=web,tier!=test`).
    pub label_selector: Option<String>,
    /// Only objects with these fields, in the API's syntax (`metadata.name=web`).
    pub field_selector: Option<String>,
    /// The part of the objects that is followed, if it isn't all of them.
    pub(crate) shard: Option<Shard>,
    /// Ask the server for metadata only. Types other than kube's `PartialObjectMeta` won't decode.
    pub metadata_only: bool,
    /// The maximum number of objects in one response to a list; 500 by default.
    pub page_size: u32,
    /// How all objects are listed at the start and after a gap; in pages by default.
    pub initial_list: InitialList,
    /// After this time the server ends a watch, and a new one continues it; 90 s by default, at most 240 s, spread by
    /// up to a fifth. A silent watch is given up 5 s later, so this limits how long the silence stays unnoticed.
    pub watch_timeout: Duration,
    /// Entries of `managedFields` are kept for these field managers only; by default for none. Their `fieldsV1` is kept
    /// as the server sent it: as JSON text, because a tree would take many times the memory of the object itself.
    pub own_managers: Vec<String>,
    /// The keys of the annotations on which the library's decisions rest: a transform doesn't drop them.
    pub(crate) annotations: Vec<String>,
    /// If an object that is known can no longer be decoded, take over its metadata: its deletion timestamp, finalizers
    /// and version. The rest stays as it was decoded last. By default the whole older state stays.
    pub take_over_metadata: bool,
    /// Whether each object is decoded when it arrives, to check that it can be; otherwise it is decoded when it is
    /// read.
    pub(crate) is_checked: bool,
    /// Whether a function of the user's receives each object as soon as it arrives. It gets the object that was
    /// decoded for the check.
    pub is_asked: bool,
}

impl InformerSettings {
    /// The defaults for following all objects of `resource_type`.
    pub fn new(name: impl Into<String>, resource_type: ResourceType) -> Self {
        Self {
            name: name.into(),
            cluster: Cluster::local(),
            cluster_number: 0,
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
            own_managers: Vec::new(),
            annotations: Vec::new(),
            take_over_metadata: false,
            is_checked: true,
            is_asked: false,
        }
    }

    /// The selectors, as text.
    pub(super) fn selector(&self) -> Option<String> {
        let labels = self.label_selector.as_ref().map(|labels| format!("labels {labels}"));
        let fields = self.field_selector.as_ref().map(|fields| format!("fields {fields}"));
        let shard = self.shard.as_ref().map(|shard| format!("shard {shard}"));
        let all: Vec<String> = [labels, fields, shard].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}
