//! For the rows about dependents: the events of a scene.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::{NamespaceResourceScope, api::core::v1::ConfigMap};
use kube::{Api, Resource, ResourceExt, api::ListParams};
use operator_core::{ControllerBuilder, Workflow, testing::Settled};
use serde_json::json;

use crate::{Scene, Script, TestObject, eventually};

impl<K: TestObject + Resource<Scope = NamespaceResourceScope>> Scene<K> {
    /// A controller with a managed workflow, for this namespace.
    pub fn managed(&self, script: &Script<K>, workflow: &Workflow<K>) -> ControllerBuilder<Script<K>> {
        self.controller(script).workflow(workflow)
    }

    /// Gives a test resource another value.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn set(&self, name: &str, value: &str) -> Result<K> {
        self.patch(name, json!({ "spec": { "value": value } })).await
    }

    /// The content of the config maps with a value, by their names.
    ///
    /// # Errors
    /// When they can't be listed.
    pub async fn values(&self) -> Result<BTreeMap<String, String>> {
        values_in(&self.api()).await
    }

    /// Waits until there are these config maps with these values, and no other.
    ///
    /// # Errors
    /// When it doesn't get there in time.
    pub async fn until_values<const N: usize>(&self, expected: [(&str, &str); N]) -> Result<()> {
        let expected: BTreeMap<_, _> =
            expected.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        eventually(&format!("config maps {expected:?}"), async || {
            Ok((self.values().await? == expected).then_some(()))
        })
        .await
    }

    /// Deletes a test resource, and waits until it and all config maps are gone.
    ///
    /// # Errors
    /// When they don't go in time.
    pub async fn until_nothing_is_left_of(&self, name: &str) -> Result<()> {
        self.delete(name).await?;
        self.until_gone(name).await?;
        self.until_values([]).await
    }

    /// The life of a primary with counted config maps: more, fewer, other ones, none.
    ///
    /// # Errors
    /// When it takes another course.
    pub async fn scale_up_and_down(&self) -> Result<()> {
        self.create("one", "3 first").await?;
        self.until_values([("one-0", "first"), ("one-1", "first"), ("one-2", "first")]).await?;
        self.set("one", "1 first").await?;
        self.until_values([("one-0", "first")]).await?;
        self.set("one", "2 second").await?;
        self.until_values([("one-0", "second"), ("one-1", "second")]).await?;
        self.until_nothing_is_left_of("one").await
    }

    /// The life of a primary with the config maps `a` and `b`, each of which holds its value.
    ///
    /// # Errors
    /// When it takes another course.
    pub async fn two_maps_come_change_and_go(&self) -> Result<()> {
        self.create("one", "first").await?;
        self.until_values([("one-a", "first"), ("one-b", "first")]).await?;
        self.set("one", "second").await?;
        self.until_values([("one-a", "second"), ("one-b", "second")]).await?;
        self.until_nothing_is_left_of("one").await
    }
}

/// The writes that the server has accepted. If an object's controllers write its status meanwhile, some writes are
/// refused with 409, and repeated.
#[must_use]
pub fn accepted(settled: &Settled) -> Vec<String> {
    settled.written().into_iter().filter(|write| !write.ends_with("409")).collect()
}

/// The content of the config maps with a value, by their names.
///
/// # Errors
/// When they can't be listed.
pub async fn values_in(maps: &Api<ConfigMap>) -> Result<BTreeMap<String, String>> {
    let maps = maps.list(&ListParams::default()).await?;
    let held = |map: &ConfigMap| Some((map.name_any(), map.data.as_ref()?.get("value")?.clone()));
    Ok(maps.iter().filter_map(held).collect())
}
