//! A comparison that sees the primary and the context, and a dependent that reconciles itself in its own way.

use integration_tests::prelude::*;
use operator_core::{
    Dependent, One, Want, Wire as _,
    dependent::Usual,
    prelude::{Context, Controller},
    workflow::ReconcileResult,
};

use super::{a_map, done, says};

/// By their data, unless the primary says that its map may be changed by hand; the name is that of the run's primary.
fn is_as_desired(
    actual: &ConfigMap,
    desired: &ConfigMap,
    primary: &TestResource,
    cx: &Context<TestResource>,
) -> bool {
    assert_eq!(primary.metadata.name.as_deref(), Some(cx.primary_key().name()));
    says(primary, "by-hand") || actual.data == desired.data
}

async fn change_by_hand(scene: &Scene, map: &str) -> Result<ConfigMap> {
    let maps: Api<ConfigMap> = scene.api();
    let change = Patch::Merge(json!({ "data": { "value": "mine" } }));
    Ok(maps.patch(map, &PatchParams::default(), &change).await?)
}

#[operator_test]
async fn the_primary_says_whether_its_map_is_compared() -> Result<()> {
    let scene = Scene::new("functions-matches").await?;
    let controller = Controller::of::<TestResource>().workflow((node(a_map).matches(is_as_desired),));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    for (name, value) in [("strict", "kept"), ("free", "by-hand")] {
        scene.create(name, value).await?;
    }
    let settled = operator.settled().await?;
    assert_eq!(done(&settled).len(), 2, "{:?}", settled.written());
    for name in ["strict", "free"] {
        change_by_hand(&scene, &format!("{name}-a-map")).await?;
    }
    let settled = operator.settled().await?;
    assert_eq!(done(&settled), ["PATCH configmaps/strict-a-map -> 200"], "the other is as it may be");

    // The primary alone changes the answer.
    scene.patch("free", json!({ "spec": { "value": "kept" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(done(&settled), ["PATCH configmaps/free-a-map -> 200"]);
    Ok(())
}

/// What its own way was called for, and what the usual one did.
#[derive(Clone, Default)]
struct Announced(Arc<Mutex<Vec<String>>>);

impl Dependent<TestResource> for Announced {
    type Shape = One<ConfigMap>;

    async fn want(
        &self,
        primary: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Want<ConfigMap>, BoxError> {
        Ok(Want::of(a_map(primary)))
    }

    async fn reconcile(
        &self,
        primary: &Arc<TestResource>,
        cx: &Context<TestResource>,
        usual: Usual<'_>,
    ) -> Result<ReconcileResult, BoxError> {
        let name = cx.primary_key().name();
        if says(primary, "fails") {
            return Err("on purpose".into());
        }
        if says(primary, "paused") {
            self.0.lock().push(format!("{name}: paused"));
            return Ok(ReconcileResult::nothing());
        }
        let done = usual.reconcile().await?;
        self.0.lock().push(format!("{name}: {:?}", done.operation()));
        Ok(done)
    }
}

#[operator_test]
async fn its_own_way_is_around_the_usual_one_or_instead_of_it() -> Result<()> {
    let scene = Scene::new("functions-own").await?;
    let announced = Announced::default();
    let controller = Controller::of::<TestResource>().workflow((announced.clone().named("map"),));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(done(&settled), ["PATCH configmaps/one-map -> 201"]);

    scene.patch("one", json!({ "spec": { "value": "paused" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(done(&settled), [""; 0], "nothing is written");

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(done(&settled), ["PATCH configmaps/one-map -> 200"]);
    assert_eq!(*announced.0.lock(), ["one: Created", "one: paused", "one: Updated"]);

    // Its error is the node's.
    scene.failures.expect("on purpose");
    scene.patch("one", json!({ "spec": { "value": "fails" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(done(&settled), [""; 0]);
    assert!(scene.failures.seen("map: on purpose") > 0);
    Ok(())
}
