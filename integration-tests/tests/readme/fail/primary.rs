//! Another primary than the reconciler's, types that aren't reconcilers, and reconcilers without a declaration.
#![allow(dead_code, unused_imports)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operator_core::{
    BoxError, Context, ControllerConfiguration, Operator, Reconciler, UpdateControl,
};

#[derive(ControllerConfiguration)]
#[controller(primary = Secret)] //~ type mismatch resolving `<PodReconciler as Reconciler>::Primary == Secret`
struct PodReconciler;

#[derive(ControllerConfiguration)] //~ `NoReconciler` is not a reconciler
struct NoReconciler; //~ `NoReconciler` is not a reconciler

struct Undeclared;

fn register() {
    let _ = Operator::builder().register(Undeclared); //~ `Undeclared` is not a controller //~ or add `#[derive(ControllerConfiguration)]` to the reconciler
}

impl Reconciler for PodReconciler {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

fn main() {}
