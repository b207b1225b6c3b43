//! `Desired` is missing, or says another type.
#![allow(dead_code, unused_imports)]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use operator_core::{
    BoxError, Context, ControllerConfiguration, Desired, KubernetesDependent, Operator, Reconciler,
    UpdateControl,
};

#[derive(KubernetesDependent, Default)] //~ `Silent` does not say what it should look like for a `Pod`
#[dependent(primary = Pod)]
struct Silent; //~ Desired<Pod>

#[derive(KubernetesDependent, Default)]
#[dependent(primary = Pod, resource = Secret)] //~ type mismatch resolving `<Map as Desired<Pod>>::Resource == Secret`
struct Map;

impl Desired<Pod> for Map {
    type Resource = ConfigMap;

    fn desired(&self, _: &Pod, _: &Context<Pod>) -> Result<ConfigMap, BoxError> {
        Ok(ConfigMap::default())
    }
}

fn main() {}
