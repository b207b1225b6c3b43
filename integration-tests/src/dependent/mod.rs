//! For the rows about dependents: config maps whose desired states are closures.

mod scene;

use anyhow::Result;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    ResourceExt,
    core::{ApiResource, DynamicObject},
};
use operator_core::{
    BoxError, Context, Node, One, Removal, UpdateControl, Workflow, dependent::function::AtRunTime, node,
    resource::KubeObject, workflow::IntoNode,
};
use serde_json::json;

use crate::{Script, TestObject, TestResource};

pub use scene::{accepted, values_in};

/// The node of one object of type `K` for each primary.
type NodeOf<P, K> = Node<P, One<K>>;

/// Declares the desired state by a closure.
pub fn wish<P, K, F>(desired: F) -> F
where
    F: Fn(&P, &Context<P>) -> Result<K, BoxError> + Send + Sync + 'static,
    P: KubeObject,
{
    desired
}

/// A node called `name` that a closure over the primary desires.
pub fn wanted<P: KubeObject, K: KubeObject<DynamicType: Default>>(
    name: &str,
    desired: impl Fn(&P) -> K + Send + Sync + 'static,
) -> NodeOf<P, K> {
    node(move |primary: &P| desired(primary)).named(name)
}

/// A node called `name`: a config map named like the primary, with `-<name>` after it, that holds the primary's value.
pub fn wanted_map(name: &'static str) -> NodeOf<TestResource, ConfigMap> {
    wanted_map_of(name)
}

/// The same for another type of primaries.
pub fn wanted_map_of<P: TestObject>(name: &'static str) -> NodeOf<P, ConfigMap> {
    wanted(name, move |primary: &P| map_of(primary, name, primary.value()))
}

/// The same as [`wanted_map`] for a type that is known only at run time.
pub fn untyped_map(name: &'static str) -> Node<TestResource, One<DynamicObject>, AtRunTime> {
    let desired = move |primary: &TestResource| {
        let mut map = DynamicObject::new("", &ApiResource::erase::<ConfigMap>(&()));
        map.metadata = meta_of(primary, name);
        map.data = json!({ "data": { "value": primary.value() } });
        map
    };
    node(desired).named(name).kind(ApiResource::erase::<ConfigMap>(&()))
}

/// Name and namespace of an object that belongs to `primary`.
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

/// As many config maps as the first word of the primary's value says; they hold the second word.
#[must_use]
pub fn counted_maps(primary: &TestResource) -> Vec<ConfigMap> {
    let (count, held) = count_and_value(primary.value());
    (0..count).map(|index| map_of(primary, &index.to_string(), held)).collect()
}

/// The number of config maps by [`counted_maps`], and their content.
#[must_use]
pub fn count_and_value(value: &str) -> (usize, &str) {
    let (count, held) = value.split_once(' ').unwrap_or((value, ""));
    (count.parse().unwrap_or(0), held)
}

/// A workflow of nodes of one type that depend on nothing.
///
/// # Errors
/// When two have one name.
pub fn workflow_of<P: KubeObject, M, N: IntoNode<P, M>>(
    nodes: impl IntoIterator<Item = N>,
) -> Result<Workflow<P>> {
    let builder = nodes.into_iter().fold(Workflow::builder(), |all, one| all.nodes((one,)));
    Ok(builder.build()?)
}

/// A workflow of one node.
///
/// # Errors
/// None that a test would meet.
pub fn workflow_of_one<P: KubeObject, M, N: IntoNode<P, M>>(node: N) -> Result<Workflow<P>> {
    workflow_of([node])
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
