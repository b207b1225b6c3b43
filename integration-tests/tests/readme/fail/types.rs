//! Values that are given as a condition, a capability or a dependent and aren't.
#![allow(dead_code, unused_imports)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operator_core::prelude::*;
use operator_core::{ControllerConfiguration, Reconciler, UpdateControl};

fn map(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

struct NoCondition;

fn is_open(_: &Pod) -> bool {
    true
}

#[derive(ControllerConfiguration)]
#[workflow(
    map(ready(NoCondition)), //~ `NoCondition` is not a condition of a node that makes `ConfigMap`
    held(ready(|map: &ConfigMap| map.data)) = map, //~ a condition can't return
    able(needs(is_open)) = map, //~ is not a capability of the cluster
)]
struct PodReconciler;

impl Reconciler for PodReconciler {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>> {
        Ok(UpdateControl::no_update())
    }
}

fn main() {}
