//! All mistakes in the attributes of one item are told at once.
#![allow(unused_imports)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operator_core::{
    Context, ControllerConfiguration, Desired, KubernetesDependent, Operator, Reconciler, UpdateControl,
    reconciler::BoxError,
};

#[derive(KubernetesDependent, Default)]
#[dependent(primary = Pod)]
struct Map;

impl Desired<Pod> for Map {
    type Resource = ConfigMap;

    fn desired(&self, _: &Pod, _: &Context<Pod>) -> Result<ConfigMap, BoxError> {
        Ok(ConfigMap::default())
    }
}

#[derive(ControllerConfiguration)]
#[controller(nam = "pods", max_reconciliation_interval = "ten hours", retry(multiplier = true))]
#[workflow(
    dependent(Map, depends_on(Mpa)),
    dependent(Map, name = "first", depends_on("second"), reconcil_precondition = NoCondition),
    dependent(Map, name = "second", depends_on("first")),
    dependent(Map),
)]
struct PodReconciler;

impl Reconciler for PodReconciler {
    type Primary = Pod;
    type Error = BoxError;

    async fn reconcile(&self, _: Arc<Pod>, _: &Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

fn main() {}
