//! A status that keeps no components.
#![allow(dead_code, unused_imports)]

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Condition};
use kube::CustomResource;
use operator_component::{Component, Components, component};
use operator_core::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Shop", namespaced, status = "ShopStatus")]
struct ShopSpec {}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct ShopStatus {
    conditions: Vec<Condition>,
}

fn settings(_: &Shop) -> ConfigMap {
    ConfigMap::default()
}

fn storage() -> Component<Shop> {
    component("storage", (settings,)).condition("Stored") //~ the status `ShopStatus` has no components //~ add `#[serde(flatten)] components: Components` to it, and `impl HasComponents for ShopStatus`
}

fn status(shop: &Shop, run: &Run<Shop>) -> ShopStatus {
    ShopStatus { conditions: Components::of(shop, run).conditions } //~ the status `ShopStatus` has no components //~ this status keeps no conditions of components
}

fn main() {}
