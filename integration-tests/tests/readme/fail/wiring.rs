//! All mistakes in the attributes of one item are reported together.
#![allow(dead_code, unused_imports)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operator_core::{
    BoxError, Context, ControllerConfiguration, Operator, Reconciler, UpdateControl,
};

fn map(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

fn is_open(_: &Pod) -> bool {
    true
}

#[derive(ControllerConfiguration)]
#[controller(nam = "pods", max_reconciliation_interval = "ten hours", retry(multiplier = true))] //~ did you mean `name`? //~ `ten hours` isn't a duration //~ `multiplier` takes a number
#[workflow(
    map(after(mpa)), //~ `mpa` isn't a node of this workflow; did you mean `map`?
    first(after(second), redy(is_open)) = map, //~ did you mean `ready`?
    second(after(first)) = map, //~ in a cycle: first -> second -> first
    third(ready(|pod| true)) = map, //~ a closure needs the types of its arguments
    map, //~ `map` is two nodes of this workflow
)]
struct PodReconciler;

impl Reconciler for PodReconciler {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

fn main() {}
