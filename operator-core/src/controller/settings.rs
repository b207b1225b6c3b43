//! The settings of a controller, as they are declared and as it uses them when it is started.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::{
    event_source::{InformerConfiguration, PrimaryFilters},
    processor::{GenericRetry, MachineConfig},
    reconciler::AnyStatus,
    resource::{Access, KubeObject, Nodes, ResourceType},
    workflow::{AnyWorkflow, Outline},
};

/// The settings of a controller that the builder takes and the finished declaration keeps unchanged.
pub(super) struct Settings {
    pub(super) primaries: InformerConfiguration,
    /// Which of their changes cause a run; the finalizer is the controller's.
    pub(super) filters: PrimaryFilters,
    /// Makes the definition of the primaries, if it belongs to the operator.
    pub(super) definition: Option<fn() -> CustomResourceDefinition>,
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
        Self {
            primaries: InformerConfiguration::of::<P>(primary_type),
            filters: PrimaryFilters::default(),
            definition: None,
            machine: MachineConfig::default(),
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
}
