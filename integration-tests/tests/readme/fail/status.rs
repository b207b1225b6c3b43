//! A value that is given as a status function and isn't one.
#![allow(dead_code, unused_imports)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use operator_core::{BoxError, Context, Controller, ControllerConfiguration, Reconciler, Run, UpdateControl};
use serde_json::{Value, json};

struct NoFunction;

/// Of another primary.
fn of_a_map(_: &ConfigMap, _: &Run<ConfigMap>) -> Value {
    json!({})
}

/// Knows nothing of the run.
fn of_the_pod_alone(_: &Pod) -> Value {
    json!({})
}

/// It has no JSON.
struct Unserializable;

fn no_status(_: &Pod, _: &Run<Pod>) -> Unserializable {
    Unserializable
}

async fn later(_: &Pod, _: &Run<Pod>) -> Value {
    json!({})
}

struct PodReconciler;

impl Reconciler for PodReconciler {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

fn by_the_builder() {
    let _ = Controller::builder(PodReconciler).status(NoFunction); //~ `NoFunction` can't make the status of `Pod`
    let _ = Controller::builder(PodReconciler).status(of_a_map); //~ of_a_map
    let _ = Controller::builder(PodReconciler).status(of_the_pod_alone); //~ can't make the status of `Pod` //~ expected `fn(&Pod, &Run<Pod>) -> Status`
    let _ = Controller::builder(PodReconciler).status(no_status); //~ can't make the status of `Pod` //~ any type that is `Serialize`
    let _ = Controller::builder(PodReconciler).status(later); //~ can't make the status of `Pod`
}

#[derive(ControllerConfiguration)]
#[controller(primary = Pod, status = of_a_map)] //~ of_a_map
struct Derived;

impl Reconciler for Derived {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

fn main() {}
