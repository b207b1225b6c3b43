//! `Desired` is missing, or says another type.
#![allow(unused_imports)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operator_core::{
    Context, ControllerConfiguration, Desired, KubernetesDependent, Operator, Reconciler, UpdateControl,
    reconciler::BoxError,
};

#[derive(KubernetesDependent, Default)]
#[dependent(primary = Pod)]
struct Silent;

#[derive(KubernetesDependent, Default)]
#[dependent(primary = Pod, resource = Secret)]
struct Map;

impl Desired<Pod> for Map {
    type Resource = ConfigMap;

    fn desired(&self, _: &Pod, _: &Context<Pod>) -> Result<ConfigMap, BoxError> {
        Ok(ConfigMap::default())
    }
}

fn main() {}
