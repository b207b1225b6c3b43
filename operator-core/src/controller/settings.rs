//! The settings of a controller, as they are declared and as it uses them when it is started.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::builder::{DEFAULT_MAX_CONCURRENT_RECONCILES, DEFAULT_MAX_RECONCILIATION_INTERVAL};
use crate::{
    cache::{AnyIndexer, Contradiction, Options},
    event_source::{
        Filters, NeededShard, Needs, PrimaryEventSource, PrimaryFilters, References, RustType, WatchScope,
    },
    processor::{DEFAULT_SPREAD, GenericRetry, MachineConfig},
    reconciler::AnyStatus,
    resource::{Access, KubeObject, Nodes, Object, ResourceType},
    workflow::{AnyWorkflow, Outline},
};

/// The settings of a controller that the builder takes and the finished declaration keeps unchanged.
pub(super) struct Settings {
    /// The Rust type of the primaries.
    pub(super) of: RustType,
    pub(super) options: Options,
    pub(super) primary_type: ResourceType,
    /// Makes the definition of the primaries, if it belongs to the operator.
    pub(super) definition: Option<fn() -> CustomResourceDefinition>,
    /// The namespaces of its primaries, if it declares them itself.
    pub(super) scope: Option<WatchScope>,
    pub(super) label_selector: Option<String>,
    pub(super) field_selector: Option<String>,
    pub(super) indexers: BTreeMap<String, AnyIndexer>,
    pub(super) user_filters: Filters<dyn Object>,
    pub(super) default_filters: bool,
    pub(super) generation_aware: bool,
    pub(super) machine: MachineConfig,
    /// The share by which regular delays are spread, if one was given.
    pub(super) spread: Option<f64>,
    /// Whether the reconciler is called for all events.
    pub(super) all_events: bool,
    /// The retry, if it is the library's own, whose settings can be changed one by one.
    pub(super) retry: Option<GenericRetry>,
    pub(super) use_ssa_to_patch_primary: bool,
    pub(super) reconcile_timeout: Option<Duration>,
    /// Makes the status of each run.
    pub(super) status: Option<AnyStatus>,
    pub(super) workflow: Option<AnyWorkflow>,
    /// The controller's own workflow, and those that the reconciler calls itself.
    pub(super) outlines: Vec<Outline>,
    /// Its nodes that write objects in the cluster.
    pub(super) nodes: Nodes,
    /// The names that it had before, as values of labels.
    pub(super) former_names: BTreeSet<String>,
    /// The rights that standalone workflows need to write.
    pub(super) further_access: Vec<Access>,
    /// Whether it writes Events about its primaries.
    pub(super) records_events: bool,
}

impl Settings {
    /// The defaults.
    pub(super) fn new<P: KubeObject>(primary_type: ResourceType) -> Self {
        Self::of(RustType::of::<P>(), Options::of::<P>(), primary_type)
    }

    fn of(of: RustType, options: Options, primary_type: ResourceType) -> Self {
        Self {
            of,
            options,
            primary_type,
            definition: None,
            scope: None,
            label_selector: None,
            field_selector: None,
            indexers: BTreeMap::new(),
            user_filters: Filters::new(),
            default_filters: true,
            generation_aware: true,
            machine: MachineConfig {
                max_concurrent: DEFAULT_MAX_CONCURRENT_RECONCILES,
                retry: Arc::new(GenericRetry::default()),
                rate_limiter: None,
                max_reconciliation_interval: Some(DEFAULT_MAX_RECONCILIATION_INTERVAL),
                spread: DEFAULT_SPREAD,
                jitter: None,
            },
            spread: None,
            all_events: false,
            retry: Some(GenericRetry::default()),
            use_ssa_to_patch_primary: true,
            reconcile_timeout: None,
            status: None,
            workflow: None,
            outlines: Vec::new(),
            nodes: Nodes::default(),
            former_names: BTreeSet::new(),
            further_access: Vec::new(),
            records_events: false,
        }
    }

    /// The mistakes in how its primaries are followed.
    pub(super) fn contradictions(&self) -> Vec<Contradiction> {
        let index = self.indexers.keys().next().map(|index| match index.strip_prefix(References::INDEX) {
            Some(source) => format!("references to the objects of `{source}`, which take an index"),
            None => format!("the index `{index}`"),
        });
        self.options.contradictions(self.of.name(), index.as_deref())
    }

    /// The namespaces of its primaries.
    pub(super) fn scope(&self) -> &WatchScope {
        self.scope.as_ref().unwrap_or(&WatchScope::All)
    }

    /// The requirements of its primaries where the operator starts.
    pub(super) fn needs(&self) -> Needs {
        let namespace = match self.scope() {
            WatchScope::Namespaces(namespaces) => namespaces.first().cloned(),
            WatchScope::All | WatchScope::Current => None,
        };
        let kind = self.primary_type.clone();
        let shard = self.options.shard().map(|_| NeededShard { kind, namespace });
        Needs { current_namespace: *self.scope() == WatchScope::Current, shard }
    }

    /// The source of the primaries, for a controller that uses `finalizer` on them.
    pub(super) fn primary_source(&self, finalizer: Option<&str>) -> PrimaryEventSource {
        PrimaryEventSource {
            of: self.of,
            options: self.options.clone(),
            label_selector: self.label_selector.clone(),
            field_selector: self.field_selector.clone(),
            indexers: self.indexers.clone(),
            filters: PrimaryFilters {
                user: self.user_filters.clone(),
                default_filters: self.default_filters,
                generation_aware: self.generation_aware,
                finalizer: finalizer.map(str::to_owned),
            },
            shows_ends: self.all_events,
        }
    }
}
