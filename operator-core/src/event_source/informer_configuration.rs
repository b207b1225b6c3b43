//! What an informer of a controller follows and how, as it is declared: for primaries and for secondaries.

use std::{collections::BTreeMap, sync::Arc};

use super::{NeededShard, Needs, References, RustType, WatchScope, Wiring};
use crate::{
    cache::{
        AnyBounds, AnyIndexer, AnyKind, Bounds, InformerPlan, InformerSettings, InitialList, KeySet, Shard,
        Transform, View, kind_of, transformed_kind, wrong_namespace,
    },
    resource::{KubeObject, ResourceType},
};

/// Something in a declaration that contradicts itself: what, why, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Contradiction(pub(crate) [String; 3]);

impl Contradiction {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>, write: impl Into<String>) -> Self {
        Self([what.into(), why.into(), write.into()])
    }

    /// The mistake in a choice of namespaces.
    pub(crate) fn of_scope(scope: &WatchScope) -> Option<Self> {
        let WatchScope::Namespaces(names) = scope else { return None };
        let (what, why) = match names.iter().find_map(|name| Some((name, wrong_namespace(name)?))) {
            Some((name, why)) => (format!("`{name}` is in the list of namespaces"), why),
            None if names.is_empty() => {
                ("the list of namespaces is empty".to_owned(), "nothing would ever run")
            }
            None => return None,
        };
        Some(Self::new(what, why, "`WatchScope::All` alone, or only the names of namespaces"))
    }
}

/// What an informer of a controller follows and how, whatever the type of the objects. JOSDK: `InformerConfiguration`.
#[derive(Clone)]
pub(crate) struct InformerConfiguration {
    /// The Rust type of the objects.
    pub(crate) of: RustType,
    /// Their kind, the selectors, and how they are listed. The informer's name and namespaces are known when it is made.
    pub(crate) settings: InformerSettings,
    /// The namespaces, if it has its own.
    pub(crate) scope: Option<WatchScope>,
    /// Indexes over the objects, by name.
    pub(crate) indexers: BTreeMap<String, AnyIndexer>,
    /// Whether its informer is its own in any case.
    pub(crate) unshared: bool,
    /// Decodes the objects, and transforms them if that was requested.
    decodes: AnyKind,
    bounds: Option<Result<AnyBounds, String>>,
    /// Why the type doesn't decode from metadata alone, if no more is requested from the server.
    metadata_error: Option<String>,
    shard: Option<Result<Shard, String>>,
}

impl InformerConfiguration {
    /// The defaults, for objects of type `K`.
    pub(crate) fn of<K: KubeObject>(resource_type: ResourceType) -> Self {
        Self::new(RustType::of::<K>(), resource_type, kind_of::<K>())
    }

    fn new(of: RustType, resource_type: ResourceType, decodes: AnyKind) -> Self {
        let settings = InformerSettings::new(resource_type.kind().to_owned(), resource_type);
        Self {
            of,
            settings: InformerSettings { follows_controller: true, ..settings },
            scope: None,
            indexers: BTreeMap::new(),
            unshared: false,
            decodes,
            bounds: None,
            metadata_error: None,
            shard: None,
        }
    }

    /// The kind of the objects.
    pub(crate) const fn resource_type(&self) -> &ResourceType {
        &self.settings.resource_type
    }

    pub(crate) fn bound<K: KubeObject>(&mut self, bounds: &Bounds<K>) {
        self.bounds = Some(bounds.any(self.resource_type()));
    }

    pub(crate) fn transform<K: KubeObject>(&mut self, transform: Transform<K>) {
        self.decodes = transformed_kind(transform);
    }

    pub(crate) fn keep_metadata_only<K: KubeObject>(&mut self) {
        const PARTIAL: &str =
            r#"{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"minimal"}}"#;
        self.settings.metadata_only = true;
        self.metadata_error = serde_json::from_str::<K>(PARTIAL).err().map(|error| error.to_string());
    }

    pub(crate) fn select_shard(&mut self, selector: &str) {
        self.shard = Some(Shard::parse(selector));
    }

    /// Shows the metadata of these objects; their content is read separately.
    pub(crate) fn show_metadata_of(&mut self, kept: KeySet) {
        self.settings.metadata_only = true;
        self.bounds = Some(Ok(AnyBounds::metadata_of(kept, self.resource_type())));
    }

    /// Whether its objects are as the server has them.
    pub(crate) fn is_whole(&self) -> bool {
        !self.settings.metadata_only && !self.decodes.transforms()
    }

    /// Whether it shows only some of the objects in its namespaces.
    pub(crate) const fn selects(&self) -> bool {
        let InformerSettings { label_selector, field_selector, .. } = &self.settings;
        label_selector.is_some() || field_selector.is_some() || self.shard.is_some()
    }

    pub(crate) const fn is_bounded(&self) -> bool {
        self.bounds.is_some()
    }

    /// The part of the objects that is followed, if it isn't all of them.
    pub(crate) fn shard(&self) -> Option<&Shard> {
        self.shard.as_ref()?.as_ref().ok()
    }

    /// What has to be known for it where the operator starts.
    pub(crate) fn needs(&self) -> Needs {
        let namespace = match &self.scope {
            Some(WatchScope::Namespaces(namespaces)) => namespaces.first().cloned(),
            _ => None,
        };
        // Another cluster's server isn't asked before the start.
        let shard = self.shard().filter(|_| self.settings.cluster.name().is_none());
        let shard = shard.map(|_| NeededShard { kind: self.resource_type().clone(), namespace });
        Needs { current_namespace: self.scope == Some(WatchScope::Current), shard, remote: None }
    }

    /// What its informer is made of, if it has these `settings`. `marked`: it follows what the controller's dependents
    /// have written.
    pub(super) fn plan(&self, settings: InformerSettings, marked: bool, wiring: &Wiring) -> InformerPlan {
        let annotations = wiring.marks.names().annotations().chain(settings.annotations);
        let settings = InformerSettings {
            own_managers: wiring.own_managers.clone(),
            annotations: annotations.collect(),
            shard: self.shard().cloned(),
            // What is not decoded is not transformed.
            is_checked: settings.is_checked || self.decodes.transforms(),
            ..settings
        };
        let environment = wiring.environment.clone();
        InformerPlan {
            view: Arc::new(View::new(&settings, Arc::clone(&self.decodes), &environment)),
            bounds: self.bounds.as_ref().and_then(|bounds| bounds.as_ref().ok().cloned()),
            share: (!self.unshared).then(|| wiring.share(self.resource_type(), marked)),
            client: wiring.clients.direct.clone(),
            settings,
            environment,
        }
    }

    /// What is wrong with it.
    pub(crate) fn contradictions(&self) -> Vec<Contradiction> {
        let of = self.of.name();
        let bounds = self.bounds.as_ref().and_then(|bounds| bounds.as_ref().err());
        let partial = self.metadata_error.as_ref();
        let shard = self.shard.as_ref().and_then(|shard| shard.as_ref().err());
        let index = self.indexers.keys().next().filter(|_| self.is_bounded());
        let index = index.map(|index| match index.strip_prefix(References::INDEX) {
            Some(source) => format!("references to the objects of `{source}`, which take an index"),
            None => format!("the index `{index}`"),
        });
        let contradictions = [
            self.scope.as_ref().and_then(Contradiction::of_scope),
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
            (self.settings.page_size == 0).then(|| {
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
            (self.shard.is_some() && self.settings.initial_list == InitialList::Streaming).then(|| {
                Contradiction::new(
                    "it has a shard selector, and its lists are streamed",
                    "only a list in pages says whether the server knows the selector; others would bring all objects",
                    "`.initial_list(InitialList::Paged)`, or leave it out",
                )
            }),
            (self.shard.is_some() && self.settings.metadata_only).then(|| {
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

debug_of!(InformerConfiguration: "InformerConfiguration", |it|
    settings: it.settings, scope: it.scope, indexes: it.indexers.keys(), transforms: it.decodes.transforms(),
    bounds: it.bounds, shard: it.shard, unshared: it.unshared);

/// The methods of a declaration that set its `$informer`, whose objects of type `$object` are called `$what`. Used in its
/// `impl`.
macro_rules! informer_methods {
    ($($informer:ident).+: $object:ty, $what:literal) => {
        #[doc = concat!("Follows only ", $what, " that the label selector matches, for example `app=web,tier!=cache`.")]
        pub fn label_selector(mut self, selector: impl Into<String>) -> Self {
            self.$($informer).+.settings.label_selector = Some(selector.into());
            self
        }

        #[doc = concat!("Follows only ", $what, " that the field selector matches, for example `metadata.name=web`.")]
        pub fn field_selector(mut self, selector: impl Into<String>) -> Self {
            self.$($informer).+.settings.field_selector = Some(selector.into());
            self
        }

        #[doc = concat!("Holds only some ", $what, " in full: for kinds with too many objects, or too large ones, for the available")]
        /// memory. Of all others only the metadata without annotations is kept. An object that isn't held is read from the
        /// server when it is needed, by one request with the right to `get` it. JOSDK: `BoundedItemStore`.
        ///
        /// The objects that a run needs are held until the run ends: its primary, the objects of its dependents, and
        /// those read by [`Context::fetch`](crate::Context::fetch) or
        /// [`Context::fetch_secondaries`](crate::Context::fetch_secondaries). Other reads can't wait for the server: they
        /// fail with [`NotHeld`](crate::operations::Error::NotHeld) for an object that exists. Indexes are not possible.
        /// In a filter, and in the old half of an update, an object may have nothing but that metadata. The primaries of a
        /// controller that is triggered on all events are always held in full, because their ends have to be shown.
        pub fn bounded(mut self, bounds: $crate::cache::Bounds<$object>) -> Self {
            self.$($informer).+.bound(&bounds);
            self
        }

        #[doc = concat!("Changes ", $what, " before they are kept, to save memory, for example by removing data that nothing reads. A later")]
        /// call replaces an earlier one. Afterwards what the framework itself needs is restored: name, namespace, uid,
        /// version, generation, owners, labels, finalizers, timestamps, managed fields, and the annotations that are its
        /// marks or map an object to its primary. A dependent compares with the result: don't remove fields that it sets.
        /// JOSDK: `TransformingItemStore`.
        pub fn transform(mut self, transform: impl Fn($object) -> $object + Send + Sync + 'static) -> Self {
            self.$($informer).+.transform::<$object>(std::sync::Arc::new(transform));
            self
        }

        /// Asks the server for metadata only. The type has to be kube's `PartialObjectMeta<K>`, because no content arrives.
        pub fn metadata_only(mut self) -> Self {
            self.$($informer).+.keep_metadata_only::<$object>();
            self
        }

        #[doc = concat!("How all ", $what, " are listed at the start and after a gap; in pages by default.")]
        pub fn initial_list(mut self, how: $crate::cache::InitialList) -> Self {
            self.$($informer).+.settings.initial_list = how;
            self
        }

        #[doc = concat!("The maximum number of ", $what, " in one answer to a list; 500 by default. JOSDK: `informerListLimit`.")]
        pub fn page_size(mut self, objects: u32) -> Self {
            self.$($informer).+.settings.page_size = objects;
            self
        }

        #[doc = concat!("Works only on a part of the ", $what, ", by a hash of their uids or namespaces: several operators can share the")]
        /// work. `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')` is the first half; ranges are
        /// combined by `||`. JOSDK: `shardSelector`.
        ///
        /// The API server needs Kubernetes 1.36 and its feature gate `ShardedListAndWatch`. Without it the operator reports
        /// an error and doesn't start, because the server would show all of them.
        pub fn shard_selector(mut self, selector: impl AsRef<str>) -> Self {
            self.$($informer).+.select_shard(selector.as_ref());
            self
        }

        /// Uses a separate informer. By default, all sources of an operator that follow the same objects in the same
        /// form share one: one list, one watch, and one copy of each object. JOSDK: `NonSharingInformerPool`.
        pub fn unshared(mut self) -> Self {
            self.$($informer).+.unshared = true;
            self
        }
    };
}

pub(crate) use informer_methods;

#[cfg(test)]
mod tests {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    #[kube(group = "sample.example.com", version = "v1", kind = "Page", namespaced)]
    struct PageSpec {
        html: String,
    }

    #[test]
    fn a_type_that_metadata_alone_is_not_enough_for_needs_a_template() {
        let contradictions = |bounds: &Bounds<Page>| {
            let mut pages = InformerConfiguration::of::<Page>(ResourceType::of::<Page>());
            pages.bound(bounds);
            pages.contradictions()
        };
        let told = format!("{:?}", contradictions(&Bounds::new(1)));
        assert!(told.contains("missing field `spec`") && told.contains("with_template"), "{told}");
        let template = Page::new("any", PageSpec::default());
        assert_eq!(contradictions(&Bounds::new(1).with_template(template)), []);
    }

    #[test]
    fn only_names_that_a_namespace_can_have_are_taken() {
        fn of_names<const N: usize>(names: [&str; N]) -> Option<Contradiction> {
            Contradiction::of_scope(&WatchScope::from(names))
        }
        for name in ["shop", "a", "0", "kube-system", &"a".repeat(63)] {
            assert_eq!(of_names([name]), None, "{name}");
        }
        for name in
            ["", "*", "JOSDK_ALL_NAMESPACES", "Not_A_Namespace", "-a", "a-", "a.b", "a/b", &"a".repeat(64)]
        {
            let wrong = of_names(["shop", name]);
            let what = wrong.map(|Contradiction([what, ..])| what);
            assert_eq!(what, Some(format!("`{name}` is in the list of namespaces")));
        }
        assert!(of_names([]).is_some_and(|Contradiction([what, ..])| what.contains("is empty")));
        assert_eq!(
            [WatchScope::All, WatchScope::Current].map(|scope| Contradiction::of_scope(&scope)),
            [None, None]
        );
    }
}
