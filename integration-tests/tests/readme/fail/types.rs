//! What is given as a condition or a dependent is none.
#![allow(dead_code, unused_imports)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operator_core::{
    BoxError, Context, ControllerConfiguration, Desired, KubernetesDependent, Operator, Reconciler,
    UpdateControl,
    workflow::{Condition, ConditionResult, NodeView},
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

/// A condition, but not one that could be asked of the cluster.
struct OfThePrimary;

impl Condition<Pod> for OfThePrimary {
    async fn check(
        &self,
        _: &NodeView<'_, Pod>,
        _: &Arc<Pod>,
        _: &Context<Pod>,
    ) -> Result<ConditionResult, BoxError> {
        Ok(ConditionResult::met())
    }
}

fn is_open(_: &Pod, _: &Context<Pod>) -> bool {
    true
}

struct NoDefault;

#[derive(Default)]
struct NoDependent;

#[derive(ControllerConfiguration)]
#[workflow(
    dependent(Map, ready_postcondition = NoCondition), //~ `NoCondition` is not a condition for workflows of `Pod`
    dependent(Map, name = "held", hold_unless = NoCondition, ready_postcondition = |pod| true), //~ `NoCondition` is not a condition for workflows of `Pod` //~ closure is expected to take 2 arguments
    dependent(Map, name = "able", activation_condition = OfThePrimary), //~ `OfThePrimary` is no capability of the cluster
    dependent(Map, name = "gated", gate = NoCondition), //~ `NoCondition` is no gate for workflows of `Pod`
    dependent(Map, name = "open", reconcile_precondition = is_open), //~ is not a condition for workflows of `Pod` //~ a closure: `|primary, context| is_exposed(primary, context)`
    dependent(NoDefault), //~ `NoDefault: Default` is not satisfied //~ `NoDefault` is not a dependent resource of `Pod`
    dependent(NoDependent), //~ `NoDependent` is not a dependent resource of `Pod` //~ derive `KubernetesDependent` for it
)]
struct PodReconciler;

impl Reconciler for PodReconciler {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

fn main() {}
