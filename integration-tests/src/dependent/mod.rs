//! For the rows about dependents: config maps that are desired by closures.

mod scene;

use std::{fmt, sync::Arc};

use anyhow::Result;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    ResourceExt,
    core::{ApiResource, DynamicObject},
};
use operator_core::{
    BoxError, Context, Desired, KubernetesDependent, Removal, UpdateControl, Workflow,
    dependent::{Dependent, IntoDependent, bulk::BulkDesired},
    resource::KubeObject,
    workflow::Node,
};
use serde_json::json;

use crate::{Script, TestObject};

pub use scene::{accepted, values_in};

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
    #[must_use]
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
pub fn workflow_of<P: KubeObject>(dependents: impl IntoIterator<Item = Dependent<P>>) -> Result<Workflow<P>> {
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
#[must_use]
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
            Ok(Removal::Done)
        })
    })
}
