//! For the rows about dependents: config maps that are desired by closures, and what is there of them.

use std::{collections::BTreeMap, fmt, sync::Arc};

use anyhow::Result;
use k8s_openapi::{
    NamespaceResourceScope, api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Resource, ResourceExt,
    api::ListParams,
    core::{ApiResource, DynamicObject},
};
use operator_core::{
    Context, Controller, UpdateControl,
    controller::ControllerBuilder,
    dependent::{BulkDesired, Desired, IntoDependent, KubernetesDependent},
    reconciler::BoxError,
    resource::KubeObject,
    testing::Settled,
    workflow::{Node, Workflow},
};
use serde_json::json;

use crate::{Scene, Script, TestObject, eventually};

type Wish<P, K> = Arc<dyn Fn(&P, &Context<P>) -> Result<K, BoxError> + Send + Sync>;

/// What a closure wants.
pub struct Wanted<P: KubeObject, K>(Wish<P, K>);

impl<P: KubeObject, K: KubeObject> Desired<P> for Wanted<P, K> {
    type Resource = K;

    fn desired(&self, primary: &P, context: &Context<P>) -> Result<K, BoxError> {
        (self.0)(primary, context)
    }
}

impl<P: KubeObject, K> fmt::Debug for Wanted<P, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wanted")
    }
}

/// Says by a closure what is desired.
pub fn wish<P: KubeObject, K: KubeObject>(
    desired: impl Fn(&P, &Context<P>) -> Result<K, BoxError> + Send + Sync + 'static,
) -> Wanted<P, K> {
    Wanted(Arc::new(desired))
}

/// A dependent called `name` that a closure over the primary desires.
pub fn wanted<P: KubeObject, K: KubeObject<DynamicType: Default>>(
    name: &str,
    desired: impl Fn(&P) -> K + Send + Sync + 'static,
) -> KubernetesDependent<Wanted<P, K>, P> {
    KubernetesDependent::new(wish(move |primary, _| Ok(desired(primary)))).name(name)
}

/// A dependent called `name`: a config map called like the primary, with `-<name>` behind it, that holds the primary's value.
pub fn wanted_map<P: TestObject>(name: &'static str) -> KubernetesDependent<Wanted<P, ConfigMap>, P> {
    wanted(name, move |primary: &P| map_of(primary, name, primary.value()))
}

/// The same as [`wanted_map`] for a type that is known at run time only.
pub fn untyped_map<P: TestObject>(name: &'static str) -> KubernetesDependent<Wanted<P, DynamicObject>, P> {
    let resource = ApiResource::erase::<ConfigMap>(&());
    let of_type = resource.clone();
    let desired = wish(move |primary: &P, _: &Context<P>| {
        let mut map = DynamicObject::new("", &resource);
        map.metadata = meta_of(primary, name);
        map.data = json!({ "data": { "value": primary.value() } });
        Ok(map)
    });
    KubernetesDependent::of_type(desired, of_type).name(name)
}

/// Name and namespace of something that belongs to `primary`.
pub fn meta_of<P: TestObject>(primary: &P, suffix: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(format!("{}-{suffix}", primary.name_any())),
        namespace: primary.namespace(),
        ..ObjectMeta::default()
    }
}

/// A config map of `primary` that holds `value`.
pub fn map_of<P: TestObject>(primary: &P, suffix: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: meta_of(primary, suffix),
        data: Some([("value".to_owned(), value.to_owned())].into()),
        ..ConfigMap::default()
    }
}

/// As many config maps as the first word of the primary's value says, which hold the second one.
#[derive(Debug)]
pub struct Counted;

impl Counted {
    /// How many there should be, and what they should hold.
    pub fn parse(value: &str) -> (usize, &str) {
        let (count, held) = value.split_once(' ').unwrap_or((value, ""));
        (count.parse().unwrap_or(0), held)
    }
}

impl<P: TestObject> BulkDesired<P> for Counted {
    type Resource = ConfigMap;

    fn desired(&self, primary: &P, _: &Context<P>) -> Result<Vec<ConfigMap>, BoxError> {
        let (count, held) = Self::parse(primary.value());
        Ok((0..count).map(|index| map_of(primary, &index.to_string(), held)).collect())
    }
}

/// A workflow of dependents that depend on nothing.
///
/// # Errors
/// When two have one name.
pub fn workflow_of<P: KubeObject>(
    dependents: impl IntoIterator<Item = operator_core::dependent::Dependent<P>>,
) -> Result<Workflow<P>> {
    let builder = dependents.into_iter().fold(Workflow::builder(), |all, one| all.node(Node::new(one)));
    Ok(builder.build()?)
}

/// A workflow of one dependent.
///
/// # Errors
/// None that a test would meet.
pub fn workflow_of_one<P: KubeObject>(dependent: impl IntoDependent<P>) -> Result<Workflow<P>> {
    workflow_of([dependent.into_dependent()])
}

/// A reconciler that calls `workflow` by itself, on clean-up, too.
pub fn standalone<P: TestObject>(workflow: &Workflow<P>) -> Script<P> {
    let (reconciles, cleans_up) = (workflow.clone(), workflow.clone());
    Script::new(move |_, primary, context| {
        let workflow = reconciles.clone();
        Box::pin(async move {
            workflow.reconcile(&primary, context).await.check()?;
            Ok(UpdateControl::no_update())
        })
    })
    .cleanup(move |_, primary, context| {
        let workflow = cleans_up.clone();
        Box::pin(async move {
            workflow.cleanup(&primary, context).await.check()?;
            Ok(operator_core::DeleteControl::default_delete())
        })
    })
}

impl<K: TestObject + Resource<Scope = NamespaceResourceScope>> Scene<K> {
    /// A controller with a managed workflow, for this namespace.
    pub fn managed(&self, script: &Script<K>, workflow: &Workflow<K>) -> ControllerBuilder<Script<K>> {
        Controller::builder(script.clone()).workflow(workflow).namespaces([&self.namespace])
    }

    /// Gives a test resource another value.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn set(&self, name: &str, value: &str) -> Result<K> {
        self.patch(name, json!({ "spec": { "value": value } })).await
    }

    /// What the config maps with a value hold, by their names.
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

    /// The life of a primary with [`Counted`] config maps: more, fewer, other ones, none.
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

/// The writes that the server has accepted. Of an object whose controllers write its status meanwhile, some are refused with
/// 409, and repeated.
#[must_use]
pub fn accepted(settled: &Settled) -> Vec<String> {
    settled.written().into_iter().filter(|write| !write.ends_with("409")).collect()
}

/// What the config maps with a value hold, by their names.
///
/// # Errors
/// When they can't be listed.
pub async fn values_in(maps: &Api<ConfigMap>) -> Result<BTreeMap<String, String>> {
    let maps = maps.list(&ListParams::default()).await?;
    let held = |map: &ConfigMap| Some((map.name_any(), map.data.as_ref()?.get("value")?.clone()));
    Ok(maps.iter().filter_map(held).collect())
}
