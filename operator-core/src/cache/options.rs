//! How the informer of a declared source lists its objects, and what it keeps of them.

use std::fmt;

use super::{
    AnyBounds, Bounds, InitialList,
    config::{InformerSettings, Transform},
    shard::Shard,
    text::{AnyKind, kind_of, transformed_kind},
};
use crate::resource::{KubeObject, ResourceType};

/// Something in a declaration that contradicts itself: what, why, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Contradiction(pub(crate) [String; 3]);

impl Contradiction {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>, write: impl Into<String>) -> Self {
        Self([what.into(), why.into(), write.into()])
    }
}

/// The options of a source in the cluster, whatever the type of its objects.
#[derive(Clone)]
pub(crate) struct Options {
    /// Decodes the objects, and transforms them if that was requested.
    pub(crate) kind: AnyKind,
    bounds: Option<Result<AnyBounds, String>>,
    /// Whether the type decodes from metadata alone, if no more is requested from the server.
    metadata_only: Option<Result<(), String>>,
    initial_list: InitialList,
    page_size: Option<u32>,
    shard: Option<Result<Shard, String>>,
    /// Whether its informer is its own in any case.
    pub(crate) unshared: bool,
}

impl Options {
    /// The defaults, for objects of type `K`.
    pub(crate) fn of<K: KubeObject>() -> Self {
        Self {
            kind: kind_of::<K>(),
            bounds: None,
            metadata_only: None,
            initial_list: InitialList::default(),
            page_size: None,
            shard: None,
            unshared: false,
        }
    }

    pub(crate) fn bound<K: KubeObject>(&mut self, bounds: &Bounds<K>, kind: &ResourceType) {
        self.bounds = Some(bounds.any(kind));
    }

    pub(crate) fn transform<K: KubeObject>(&mut self, transform: Transform<K>) {
        self.kind = transformed_kind(transform);
    }

    pub(crate) fn keep_metadata_only<K: KubeObject>(&mut self) {
        const PARTIAL: &str =
            r#"{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"minimal"}}"#;
        let decoded = serde_json::from_str::<K>(PARTIAL);
        self.metadata_only = Some(decoded.map(drop).map_err(|error| error.to_string()));
    }

    pub(crate) fn list_initially(&mut self, how: InitialList) {
        self.initial_list = how;
    }

    pub(crate) fn limit_pages(&mut self, objects: u32) {
        self.page_size = Some(objects);
    }

    pub(crate) fn select_shard(&mut self, selector: &str) {
        self.shard = Some(Shard::parse(selector));
    }

    /// Sets them on an informer.
    pub(crate) fn apply(&self, settings: &mut InformerSettings) {
        settings.metadata_only = self.metadata_only.is_some();
        settings.initial_list = self.initial_list;
        settings.page_size = self.page_size.unwrap_or(settings.page_size);
        settings.shard = self.shard().cloned();
        // An object that isn't decoded isn't transformed.
        settings.is_checked |= self.kind.transforms();
    }

    /// The bounds, if they are valid.
    pub(crate) fn bounds(&self) -> Option<AnyBounds> {
        self.bounds.as_ref()?.as_ref().ok().cloned()
    }

    pub(crate) const fn is_bounded(&self) -> bool {
        self.bounds.is_some()
    }

    /// The part of the objects that is followed, if it isn't all of them.
    pub(crate) fn shard(&self) -> Option<&Shard> {
        self.shard.as_ref()?.as_ref().ok()
    }

    /// What is wrong with them, for objects of the type called `of`. `index` is something that needs an index over them,
    /// if there is such a thing.
    pub(crate) fn contradictions(&self, of: &str, index: Option<&str>) -> Vec<Contradiction> {
        let bounds = self.bounds.as_ref().and_then(|bounds| bounds.as_ref().err());
        let partial = self.metadata_only.as_ref().and_then(|decodes| decodes.as_ref().err());
        let shard = self.shard.as_ref().and_then(|shard| shard.as_ref().err());
        let index = index.filter(|_| self.is_bounded());
        let contradictions = [
            index.map(|index| {
                Contradiction::new(
                    format!("it is bounded, and has {index}"),
                    "an index is made of whole objects, which a bounded cache doesn't have",
                    "`.transform(…)` with a function that drops large fields, instead of `.bounded(…)`; or no index",
                )
            }),
            bounds.map(|error| {
                Contradiction::new(
                    format!("it is bounded, and a `{of}` doesn't decode from metadata alone"),
                    format!("of objects that are not held in full only the metadata is kept: {error}"),
                    "`Bounds::new(…).with_template(…)` with an object without content",
                )
            }),
            partial.map(|error| {
                Contradiction::new(
                    format!("it asks for metadata only, and a `{of}` can't be made of that"),
                    format!("no content ever arrives, so none could be decoded: {error}"),
                    format!("`PartialObjectMeta<{of}>` as the type, or no `.metadata_only()`"),
                )
            }),
            (self.page_size == Some(0)).then(|| {
                Contradiction::new(
                    "its lists have pages of 0 objects",
                    "that would be one page with everything",
                    "`.page_size(500)`, or leave it out for that",
                )
            }),
            shard.map(|error| {
                Contradiction::new(
                    "its shard selector can't be used",
                    error.clone(),
                    "`shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')` for the first half",
                )
            }),
            (self.shard.is_some() && self.initial_list == InitialList::Streaming).then(|| {
                Contradiction::new(
                    "it has a shard selector, and its lists are streamed",
                    "only a list in pages says whether the server knows the selector; others would bring all objects",
                    "`.initial_list(InitialList::Paged)`, or leave it out",
                )
            }),
            (self.shard.is_some() && self.metadata_only.is_some()).then(|| {
                Contradiction::new(
                    "it has a shard selector, and asks for metadata only",
                    "a list of metadata doesn't say whether the server knows the selector; others would bring all objects",
                    "no `.metadata_only()`, perhaps a `.transform(…)` that drops large fields",
                )
            }),
        ];
        contradictions.into_iter().flatten().collect()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("bounds", &self.bounds)
            .field("metadata_only", &self.metadata_only.is_some())
            .field("initial_list", &self.initial_list)
            .field("page_size", &self.page_size)
            .field("shard", &self.shard)
            .field("unshared", &self.unshared)
            .finish_non_exhaustive()
    }
}

/// The methods of a declaration that set its `$options`: those of the informer of objects of type `$object`, which are
/// called `$what`, of the type in `$kind`. Used in its `impl`.
macro_rules! option_methods {
    ($($options:ident).+, $($kind:ident).+: $object:ty, $what:literal) => {
        #[doc = concat!("Holds only some ", $what, " in full: for kinds with too many objects, or too large ones, for the available")]
        /// memory. Of all others only the metadata without annotations is kept. An object that isn't held is read from the
        /// server when it is needed, by one request with the right to `get` it. JOSDK: `BoundedItemStore`.
        ///
        /// The objects that a run needs are held until the run ends: its primary, the objects of its dependents, and
        /// those read by [`Context::fetch`](crate::Context::fetch) or
        /// [`Context::fetch_secondaries`](crate::Context::fetch_secondaries). Other reads can't wait for the server: they
        /// fail with [`NotHeld`](crate::operations::Error::NotHeld) for an object that exists. Indexes are not possible.
        /// In a filter, and in the old half of an update, an object may have nothing but that metadata.
        pub fn bounded(mut self, bounds: $crate::cache::Bounds<$object>) -> Self {
            let kind = self.$($kind).+.clone();
            self.$($options).+.bound(&bounds, &kind);
            self
        }

        #[doc = concat!("Changes ", $what, " before they are kept, to save memory, for example by removing data that nothing reads. A later")]
        /// call replaces an earlier one. Name, namespace, uid, version, generation, owners, finalizers and the deletion
        /// timestamp are restored afterwards. A dependent compares with the result: don't remove fields that it sets. JOSDK:
        /// `TransformingItemStore`.
        pub fn transform(mut self, transform: impl Fn($object) -> $object + Send + Sync + 'static) -> Self {
            self.$($options).+.transform::<$object>(std::sync::Arc::new(transform));
            self
        }

        /// Asks the server for metadata only. The type has to be kube's `PartialObjectMeta<K>`, because no content arrives.
        pub fn metadata_only(mut self) -> Self {
            self.$($options).+.keep_metadata_only::<$object>();
            self
        }

        #[doc = concat!("How all ", $what, " are listed at the start and after a gap; in pages by default.")]
        pub fn initial_list(mut self, how: $crate::cache::InitialList) -> Self {
            self.$($options).+.list_initially(how);
            self
        }

        #[doc = concat!("The maximum number of ", $what, " in one answer to a list; 500 by default. JOSDK: `informerListLimit`.")]
        pub fn page_size(mut self, objects: u32) -> Self {
            self.$($options).+.limit_pages(objects);
            self
        }

        #[doc = concat!("Works only on a part of the ", $what, ", by a hash of their uids or namespaces: several operators can share the")]
        /// work. `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')` is the first half; ranges are
        /// combined by `||`. JOSDK: `shardSelector`.
        ///
        /// The API server needs Kubernetes 1.36 and its feature gate `ShardedListAndWatch`. Without it the operator reports
        /// an error and doesn't start, because the server would show all of them.
        pub fn shard_selector(mut self, selector: impl AsRef<str>) -> Self {
            self.$($options).+.select_shard(selector.as_ref());
            self
        }

        /// Uses a separate informer. By default, all sources of an operator that follow the same objects in the same
        /// form share one: one list, one watch, and one copy of each object. JOSDK: `NonSharingInformerPool`.
        pub fn unshared(mut self) -> Self {
            self.$($options).+.unshared = true;
            self
        }
    };
}

pub(crate) use option_methods;
