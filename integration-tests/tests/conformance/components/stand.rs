//! What the tests do with stands and their objects.

use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use operator_component::Components;
use operator_core::{Run, testing::Profile, workflow::Nodes};

pub(super) fn says(stand: &Stand, word: &str) -> bool {
    stand.spec.value.split(' ').any(|said| said == word)
}

pub(super) fn status(stand: &Stand, run: &Run<Stand>) -> StandStatus {
    StandStatus { components: Components::of(stand, run) }
}

/// A Deployment of two Pods, with the value in an annotation.
pub(super) fn deployment(stand: &Stand, name: &str) -> Deployment {
    let labels = json!({ "app": name });
    from_json(&json!({
        "metadata": { "name": name, "namespace": stand.namespace(), "annotations": { "value": stand.spec.value } },
        "spec": {
            "replicas": 2,
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": { "containers": [{ "name": "one", "image": "one" }] } }
        }
    }))
    .expect("a Deployment")
}

/// Whether somebody has said so: the health of what no controller looks after.
pub(super) fn is_up(map: &ConfigMap) -> bool {
    map.labels().contains_key("up")
}

pub(super) fn map(stand: &Stand, name: &str) -> ConfigMap {
    from_json(&json!({
        "metadata": { "name": name, "namespace": stand.namespace() },
        "data": { "value": stand.spec.value }
    }))
    .expect("a ConfigMap")
}

/// Nodes of most tests, which are ready as soon as they exist.
pub(super) fn base(stand: &Stand) -> ConfigMap {
    map(stand, "base")
}

pub(super) fn extra(stand: &Stand) -> ConfigMap {
    map(stand, "extra")
}

pub(super) const HEALTHY: &str = "True Healthy Component is healthy.";
pub(super) const DISABLED: &str = "True Disabled Component is disabled.";
pub(super) const SUSPENDED: &str = "True Suspended All resources are suspended.";

/// A scene with its operator.
pub(super) struct Stage {
    pub(super) scene: Scene<Stand>,
    pub(super) operator: TestOperator,
}

impl Stage {
    pub(super) async fn scene(name: &str) -> Result<Scene<Stand>> {
        let cluster = cluster_with(Profile::Full).await?;
        cluster.install_crds([Stand::crd()]).await?;
        Scene::on(cluster, name).await
    }

    pub(super) async fn new(
        name: &str,
        controller: impl FnOnce(&Scene<Stand>) -> Result<ControllerBuilder<Script<Stand>>>,
    ) -> Result<Self> {
        Self::on(Self::scene(name).await?, controller).await
    }

    /// An operator of these nodes, whose reconciler does nothing else.
    pub(super) async fn of<M>(name: &str, nodes: impl Nodes<Stand, M>) -> Result<Self> {
        Self::of_nodes(Self::scene(name).await?, nodes).await
    }

    pub(super) async fn of_nodes<M>(scene: Scene<Stand>, nodes: impl Nodes<Stand, M>) -> Result<Self> {
        let workflow = Workflow::builder().nodes(nodes).build()?;
        Self::on(scene, |scene| Ok(scene.controller(&Script::idle()).workflow(workflow))).await
    }

    pub(super) async fn on(
        scene: Scene<Stand>,
        controller: impl FnOnce(&Scene<Stand>) -> Result<ControllerBuilder<Script<Stand>>>,
    ) -> Result<Self> {
        let controller = controller(&scene)?.status(status);
        let operator = scene.start(controller).await?;
        Ok(Self { scene, operator })
    }

    /// Says something else, and what was written until nothing more happens.
    pub(super) async fn say(&self, value: &str) -> Result<Vec<String>> {
        match self.scene.resources.get_opt("one").await? {
            None => drop(self.scene.create("one", value).await?),
            Some(_) => drop(self.scene.patch("one", json!({ "spec": { "value": value } })).await?),
        }
        self.settled().await
    }

    /// What was written, without statuses, once nothing more happens.
    pub(super) async fn settled(&self) -> Result<Vec<String>> {
        let written = self.operator.settled().await?.written().into_iter();
        let mut written: Vec<_> = written.filter(|line| !line.contains("/status")).collect();
        // What may be done at the same time has no order.
        written.sort_unstable();
        Ok(written)
    }

    pub(super) async fn conditions(&self) -> Result<Vec<Condition>> {
        Ok(self.scene.resources.get("one").await?.status.unwrap_or_default().components.conditions)
    }

    /// The condition of this type, in a line; nothing if it isn't there.
    pub(super) async fn told(&self, r#type: &str) -> Result<String> {
        let line = |of: Condition| format!("{} {} {}", of.status, of.reason, of.message).trim().to_owned();
        let all = self.conditions().await?;
        Ok(all.into_iter().find(|of| of.type_ == r#type).map(line).unwrap_or_default())
    }

    /// When the condition last changed its status.
    pub(super) async fn changed(&self, r#type: &str) -> Result<Option<String>> {
        let all = self.conditions().await?;
        Ok(all.into_iter().find(|of| of.type_ == r#type).map(|of| of.last_transition_time.0.to_string()))
    }

    /// Marks a ConfigMap as one that is up, or no longer is: see [`is_up`].
    pub(super) async fn set_up(&self, name: &str, is_up: bool) -> Result<()> {
        let label = json!({ "metadata": { "labels": { "up": is_up.then_some("yes") } } });
        let maps = self.scene.api::<ConfigMap>();
        maps.patch(name, &PatchParams::default(), &Patch::Merge(label)).await?;
        self.settled().await.map(drop)
    }

    /// Waits until the condition is told so.
    pub(super) async fn until(&self, r#type: &str, told: &str) -> Result<()> {
        eventually(&format!("{type} to be {told}"), async || {
            Ok((self.told(r#type).await? == told).then_some(()))
        })
        .await
    }

    pub(super) async fn replicas(&self, name: &str) -> Result<Option<i32>> {
        let found = self.scene.api::<Deployment>().get_opt(name).await?;
        Ok(found.and_then(|found| found.spec?.replicas))
    }
}
