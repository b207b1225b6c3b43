//! What is given as a condition or a dependent is none.
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

struct NoCondition;
struct NoDefault;

#[derive(Default)]
struct NoDependent;

#[derive(ControllerConfiguration)]
#[workflow(
    dependent(Map, ready_postcondition = NoCondition),
    dependent(Map, name = "held", hold_unless = NoCondition, activation_condition = |pod| true),
    dependent(Map, name = "gated", gate = NoCondition),
    dependent(NoDefault),
    dependent(NoDependent),
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
