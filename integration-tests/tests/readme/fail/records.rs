//! Records outside the cluster that are declared wrongly.
#![allow(dead_code, unused_imports, unused_variables, unused_must_use, unreachable_code)]

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Service};
use operator_core::dependent::{Deletion, External, Records, Token};
use operator_core::{ControllerBuilder, controller::NoReconciler, prelude::*};

fn of() -> ControllerBuilder<NoReconciler<Pod>> {
    Controller::of_existing::<Pod>()
}

fn map(_: &Pod) -> ConfigMap {
    todo!()
}

/// The four calls for texts.
macro_rules! calls {
    () => {
        async fn observe(&self, id: &str) -> Result<Option<String>> {
            todo!()
        }
        async fn create(&self, want: &String, token: &Token) -> Result<(String, String)> {
            todo!()
        }
        async fn update(&self, id: &str, actual: &String, want: &String) -> Result<String> {
            todo!()
        }
        async fn delete(&self, id: &str) -> Result<Deletion> {
            todo!()
        }
    };
}

struct Sound;

impl External<Service> for Sound {
    type Resource = String;
    type Want = Option<String>;
    fn want(&self, service: &Service) -> Option<String> {
        todo!()
    }
    calls!();
}

struct Plain;

impl External<ConfigMap> for Plain {
    type Resource = String;
    type Want = Option<String>;
    fn want(&self, map: &ConfigMap) -> Option<String> {
        todo!()
    }
    calls!();
}

struct Numbers;

impl External<Pod> for Numbers {
    type Resource = String;
    type Want = Option<u32>; //~ `std::option::Option<u32>` doesn't say which records of `std::string::String` should exist
    fn want(&self, pod: &Pod) -> Option<u32> {
        todo!()
    }
    calls!();
}

struct WithoutKeys;

impl External<Pod> for WithoutKeys {
    type Resource = String;
    type Want = Vec<String>; //~ `Vec<std::string::String>` doesn't say which records of `std::string::String` should exist
    fn want(&self, pod: &Pod) -> Vec<String> {
        todo!()
    }
    calls!();
}

fn of_another_primary() {
    of().workflow((map, Records::new(Sound).id_in_config_map())); //~ can't be a node of a workflow of `Pod` //~ all nodes of a workflow have the same primary
}

fn of_another_primary_wired() {
    of().workflow((map, Records::new(Sound).id_in_config_map().after(map))); //~ this dependent takes `&Pod`, but the workflow is one of `k8s_openapi::api::core::v1::Service`
}

fn in_no_status() {
    Controller::of_existing::<ConfigMap>().workflow((Records::new(Plain).id_in_status("recordId"),)); //~ the trait `HasStatus` is not implemented for `ConfigMap`
}

struct Nothing;

fn of_no_external() {
    of().workflow((map, Records::new(Nothing).id_in_config_map())); //~ `Nothing` is not a record outside the cluster
}

fn not_declared() {
    of().workflow((map, Sound)); //~ `Sound` can't be a dependent or a condition //~ `Records::new(…)`
}

fn main() {}
