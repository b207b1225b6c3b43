//! All mistakes in the attributes of one item are told at once.
#![allow(dead_code, unused_imports)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operator_core::{
    BoxError, Context, ControllerConfiguration, Desired, KubernetesDependent, Operator, Reconciler,
    UpdateControl,
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
#[controller(nam = "pods", max_reconciliation_interval = "ten hours", retry(multiplier = true))] //~ did you mean `name`? //~ `ten hours` is no duration //~ `multiplier` takes a number
#[workflow(
    dependent(Map, depends_on(Mpa)), //~ `Mpa` is no node of this workflow; did you mean `Map`?
    dependent(Map, name = "first", depends_on("second"), reconcil_precondition = NoCondition), //~ did you mean `reconcile_precondition`?
    dependent(Map, name = "second", depends_on("first")), //~ in a circle: first -> second -> first
    dependent(Map, name = "third", activation_condition = |pod, _| true), //~ asks the cluster, never the primary
    dependent(Map), //~ two nodes are called `Map`
)]
struct PodReconciler;

impl Reconciler for PodReconciler {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

fn main() {}
