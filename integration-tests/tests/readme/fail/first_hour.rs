//! What a newcomer writes in the first hour: a wrong answer, argument, condition, status function or error.
#![allow(dead_code, unused_imports, unused_must_use)]

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod, Secret},
};
use operator_core::prelude::*;

fn of() -> operator_core::ControllerBuilder<operator_core::controller::NoReconciler<Pod>> {
    Controller::of_existing::<Pod>()
}

fn map(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

mod answers {
    use super::*;
    fn name(_: &Pod) -> String {
        String::new()
    }
    fn web(_: &Pod) -> Result<Option<Want<ConfigMap>>> {
        Ok(None)
    }
    fn of_a_name() {
        of().workflow((name,)); //~ a dependent can't return `std::string::String` //~ it returns what should exist
    }
    fn option_of_want() {
        of().workflow((map, web)); //~ a dependent can't return `Result<Option<Want<ConfigMap>>, Box<dyn Error + Send + Sync>>` //~ it returns what should exist
    }
}

mod arguments {
    use super::*;
    fn order(_: &Context<Pod>, _: &Pod) -> ConfigMap {
        ConfigMap::default()
    }
    async fn owned(pod: Pod) -> ConfigMap {
        drop(pod);
        ConfigMap::default()
    }
    fn context_first() {
        of().workflow((order,)); //~ this dependent takes `&operator_core::Context<k8s_openapi::api::core::v1::Pod>` //~ its first argument should be `&k8s_openapi::api::core::v1::Pod`
    }
    fn async_of_an_owned_primary() {
        of().workflow((owned,)); //~ can't be a dependent or a condition //~ a dependent is `fn(&P) -> K`, with a reference to the primary
    }
}

mod conditions {
    use super::*;
    fn rolled_out(_: &Deployment) -> bool {
        true
    }
    fn text(_: &ConfigMap) -> String {
        String::new()
    }
    fn two(_: &ConfigMap, _: &ConfigMap) -> bool {
        true
    }
    fn no_argument() -> bool {
        true
    }
    fn of_another_kind() {
        of().workflow((map.ready(rolled_out),)); //~ a condition of this node can't be about `k8s_openapi::api::apps::v1::Deployment` //~ its first argument should be the child, `&k8s_openapi::api::core::v1::ConfigMap`
    }
    fn that_answers_text() {
        of().workflow((map.ready(text),)); //~ a condition can't return `std::string::String` //~ a condition returns `bool`, `Verdict`
    }
    fn of_two_objects() {
        of().workflow((map.ready(two),)); //~ `&k8s_openapi::api::core::v1::ConfigMap` can't be an argument of a dependent or a condition //~ after the first argument come `&Context<
    }
    fn of_nothing() {
        of().workflow((map.also_ready(no_argument),)); //~ is not a condition of a node that makes `k8s_openapi::api::core::v1::ConfigMap` //~ expected `fn(&k8s_openapi::api::core::v1::ConfigMap) -> bool`
    }
}

mod statuses {
    use super::*;
    fn alone(_: &Pod) -> serde_json::Value {
        serde_json::Value::Null
    }
    fn swapped(_: &Run<Pod>, _: &Pod) -> serde_json::Value {
        serde_json::Value::Null
    }
    fn owned(_: Pod, _: Run<Pod>) -> serde_json::Value {
        serde_json::Value::Null
    }
    fn of_the_primary_alone() {
        of().status(alone); //~ can't make the status of `k8s_openapi::api::core::v1::Pod` //~ expected `fn(&k8s_openapi::api::core::v1::Pod, &Run<k8s_openapi::api::core::v1::Pod>) -> Status`
    }
    fn in_the_wrong_order() {
        of().status(swapped); //~ can't make the status of `k8s_openapi::api::core::v1::Pod`
    }
    fn of_values() {
        of().status(owned); //~ can't make the status of `k8s_openapi::api::core::v1::Pod`
    }
    fn of_a_closure() {
        of().status(|_: &Pod| serde_json::Value::Null); //~ can't make the status of `k8s_openapi::api::core::v1::Pod`
    }
}

/// What is right stays right.
mod right {
    use super::*;
    fn given(_: &Pod) -> Option<Read<Secret>> {
        None
    }
    fn tried(_: &Pod) -> Result<Option<Read<Secret>>> {
        Ok(None)
    }
    fn text(_: &Pod) -> Result<ConfigMap, String> {
        Ok(ConfigMap::default())
    }
    fn nodes() {
        of().workflow((given, tried.after(given), text)).status(|_: &Pod, run: &Run<Pod>| run.all_ready());
    }
}

fn main() {}
