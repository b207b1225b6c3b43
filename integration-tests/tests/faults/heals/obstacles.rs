//! Objects and definitions in the way, and denials. While they are there, the primary is stalled and says why. Ten minutes after
//! they have gone, everything is as it is wanted. A limit of the attempts makes no difference, because none is used up.

use integration_tests::prelude::*;
use k8s_openapi::{
    api::core::v1::Namespace, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use operator_core::{WatchScope, dependent::Records, testing::OtherSystem};

use super::{assert_stalled, conditions, minutes, telling};
use crate::simulated::{pass, scene, under};

const DENIED: &str = "admission webhook \"maps.example.com\" denied the request: not now";

fn retries() -> [GenericRetry; 2] {
    [GenericRetry::default(), GenericRetry::no_retry()]
}

async fn assert_well(scene: &Scene) -> Result<()> {
    let told = conditions(scene).await?;
    let of = |kind: &str| told.get(kind).map_or("", |(status, _)| &**status);
    ensure!((of("Ready"), of("Stalled"), of("Reconciling")) == ("True", "False", "False"), "{told:?}");
    Ok(())
}

/// A map of someone else, who has no name.
async fn of_somebody(scene: &Scene, name: &str) -> Result<()> {
    let mut theirs = ConfigMap::default();
    theirs.metadata.name = Some(name.to_owned());
    scene.api::<ConfigMap>().create(&PostParams::default(), &theirs).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_object_in_the_way_that_is_deleted_as_the_error_says() -> Result<()> {
    for retry in retries() {
        let scene = scene().await?;
        of_somebody(&scene, "one-a").await?;
        let controller = telling(&scene, &workflow_of_one(wanted_map("a"))?).retry(retry);
        let _operator = under(&Faults::none(), &scene, controller).await?;
        scene.create("one", "first").await?;
        minutes(10).await;
        assert_stalled(&scene, "exists already").await?;
        scene.api::<ConfigMap>().delete("one-a", &DeleteParams::default()).await?;
        minutes(10).await;
        ensure!(
            scene.values().await?.contains_key("one-a"),
            "ten minutes after the way is free there is no map"
        );
        assert_well(&scene).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_object_in_the_way_of_that_with_the_ids() -> Result<()> {
    for retry in retries() {
        let scene = scene().await?;
        of_somebody(&scene, "one-word").await?;
        let system: Words = OtherSystem::new();
        let record = Records::new(Word::unsearchable(&system)).id_in_config_map().named("word");
        let workflow = Workflow::builder().nodes((record,)).build()?;
        let controller = telling(&scene, &workflow).retry(retry);
        let _operator = under(&Faults::none(), &scene, controller).await?;
        scene.create("one", "first").await?;
        minutes(10).await;
        assert_stalled(&scene, "exists already").await?;
        scene.api::<ConfigMap>().delete("one-word", &DeleteParams::default()).await?;
        minutes(10).await;
        ensure!(words_in(&system) == ["first"], "{:?}", words_in(&system));
        assert_well(&scene).await?;
    }
    Ok(())
}

/// Its id can be kept all the same: after a restart the record is known, and it goes with its primary.
#[tokio::test(start_paused = true)]
async fn a_record_with_a_key_that_no_config_map_takes() -> Result<()> {
    for key in ["www.example.com/A", "*.example.com", "me@example.com"] {
        let scene = scene().await?;
        let system: Words = OtherSystem::new();
        let records = Records::new(EachWord(Word::unsearchable(&system))).id_in_config_map().named("words");
        let workflow = Workflow::builder().nodes((records,)).build()?;
        let operator = under(&Faults::none(), &scene, telling(&scene, &workflow)).await?;
        scene.create("one", &format!("{key}=first")).await?;
        minutes(10).await;
        assert_well(&scene).await?;
        operator.stop().await;
        let _operator = under(&Faults::none(), &scene, telling(&scene, &workflow)).await?;
        minutes(10).await;
        assert_well(&scene).await?;
        ensure!(words_in(&system) == ["first"], "{:?}", words_in(&system));
        scene.delete("one").await?;
        minutes(10).await;
        ensure!(scene.resources.get_opt("one").await?.is_none(), "the primary is still there");
        ensure!(words_in(&system).is_empty(), "{:?}", words_in(&system));
    }
    Ok(())
}

async fn denied(answer: StatusAnswer, words: &str) -> Result<()> {
    for retry in retries() {
        let scene = scene().await?;
        let faults = Faults::new([Rule::writes().resource("configmaps").status(answer.clone())]);
        let controller = telling(&scene, &workflow_of_one(wanted_map("a"))?).retry(retry);
        let _operator = under(&faults, &scene, controller).await?;
        scene.create("one", "first").await?;
        minutes(10).await;
        assert_stalled(&scene, words).await?;
        faults.off();
        minutes(10).await;
        ensure!(scene.values().await?.contains_key("one-a"), "ten minutes after the denial there is no map");
        assert_well(&scene).await?;
    }
    Ok(())
}

/// The code of a denial by a webhook that sets none.
#[tokio::test(start_paused = true)]
async fn a_webhook_that_denies_with_400_for_a_while() -> Result<()> {
    denied(StatusAnswer::new(400, "BadRequest", DENIED), "maps.example.com refuses it: not now").await
}

/// The code of a denial by a policy.
#[tokio::test(start_paused = true)]
async fn a_policy_that_denies_with_422_for_a_while() -> Result<()> {
    denied(
        StatusAnswer::new(422, "Invalid", "ValidatingAdmissionPolicy 'maps' denied request: no label"),
        "no label",
    )
    .await
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_denies_a_deletion_for_a_while() -> Result<()> {
    for retry in retries() {
        let scene = scene().await?;
        let denial = StatusAnswer::new(400, "BadRequest", DENIED);
        let faults = Faults::new([Rule::on(Verb::Delete).resource("configmaps").status(denial)]);
        let controller = telling(&scene, &workflow_of_one(wanted_map("a").without_owner())?).retry(retry);
        let _operator = under(&faults, &scene, controller).await?;
        scene.create("one", "first").await?;
        minutes(1).await;
        assert_well(&scene).await?;
        scene.delete("one").await?;
        minutes(10).await;
        assert_stalled(&scene, "maps.example.com refuses it: not now").await?;
        faults.off();
        minutes(10).await;
        let page = scene.resources.get_opt("one").await?;
        ensure!(page.is_none(), "ten minutes after the webhook has changed its mind it is still there");
    }
    Ok(())
}

async fn namespace(scene: &Scene, name: &str) -> Result<()> {
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(name.to_owned());
    Api::<Namespace>::all(scene.client.clone()).create(&PostParams::default(), &namespace).await?;
    Ok(())
}

/// A controller whose child is in another namespace.
fn elsewhere(scene: &Scene, retry: GenericRetry) -> Result<ControllerBuilder<Script>> {
    let map = wanted("a", |primary: &TestResource| {
        let mut map = map_of(primary, "a", primary.value());
        map.metadata.namespace = Some("later".to_owned());
        map
    });
    let workflow = workflow_of_one(map.without_owner())?;
    Ok(telling(scene, &workflow).retry(retry).namespaces(WatchScope::All))
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_made_later() -> Result<()> {
    for retry in retries() {
        let scene = scene().await?;
        let _operator = under(&Faults::none(), &scene, elsewhere(&scene, retry)?).await?;
        scene.create("one", "first").await?;
        minutes(10).await;
        assert_stalled(&scene, "namespaces \"later\" not found").await?;
        namespace(&scene, "later").await?;
        minutes(10).await;
        let maps = Api::<ConfigMap>::namespaced(scene.client.clone(), "later");
        ensure!(
            maps.get_opt("one-a").await?.is_some(),
            "ten minutes after the namespace is there, there is no map"
        );
        assert_well(&scene).await?;
    }
    Ok(())
}

/// It is being deleted when the child is wanted in it, and made again afterwards.
#[tokio::test(start_paused = true)]
async fn a_namespace_that_goes_and_comes_back() -> Result<()> {
    for retry in retries() {
        let scene = scene().await?;
        namespace(&scene, "later").await?;
        let maps = Api::<ConfigMap>::namespaced(scene.client.clone(), "later");
        let mut keeps = ConfigMap::default();
        keeps.metadata.name = Some("keeps".to_owned());
        keeps.metadata.finalizers = Some(vec!["example.com/keeps".to_owned()]);
        maps.create(&PostParams::default(), &keeps).await?;
        let namespaces = Api::<Namespace>::all(scene.client.clone());
        namespaces.delete("later", &DeleteParams::default()).await?;
        let _operator = under(&Faults::none(), &scene, elsewhere(&scene, retry)?).await?;
        scene.create("one", "first").await?;
        minutes(10).await;
        assert_stalled(&scene, "being terminated").await?;
        let none = json!({ "metadata": { "finalizers": null } });
        maps.patch("keeps", &PatchParams::default(), &Patch::Merge(none)).await?;
        minutes(1).await;
        namespace(&scene, "later").await?;
        minutes(10).await;
        ensure!(
            maps.get_opt("one-a").await?.is_some(),
            "ten minutes after the namespace is back, there is no map"
        );
        assert_well(&scene).await?;
    }
    Ok(())
}

/// Someone has made it immutable before it was changed, and deletes it later, as the error says.
#[tokio::test(start_paused = true)]
async fn a_child_that_was_made_immutable() -> Result<()> {
    for retry in retries() {
        let scene = scene().await?;
        let controller = telling(&scene, &workflow_of_one(wanted_map("a"))?).retry(retry);
        let _operator = under(&Faults::none(), &scene, controller).await?;
        scene.create("one", "first").await?;
        minutes(1).await;
        let maps = scene.api::<ConfigMap>();
        let immutable = Patch::Merge(json!({ "immutable": true }));
        maps.patch("one-a", &PatchParams::default(), &immutable).await?;
        scene.set("one", "second").await?;
        minutes(10).await;
        assert_stalled(&scene, "immutable").await?;
        maps.delete("one-a", &DeleteParams::default()).await?;
        minutes(10).await;
        ensure!(scene.values().await?["one-a"] == "second", "ten minutes after it was deleted it isn't back");
        assert_well(&scene).await?;
    }
    Ok(())
}

/// A definition of the test resource that refuses each status with conditions, and the newer one that takes them.
struct Definitions {
    api: Api<CustomResourceDefinition>,
    new: Value,
}

impl Definitions {
    async fn old(scene: &Scene) -> Result<Self> {
        const REASON: &str = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/conditions/items/properties/reason";
        let new = serde_json::to_value(TestResource::crd())?;
        let mut old = new.clone();
        old.pointer_mut(REASON).context("a reason")?["enum"] = json!(["Old"]);
        let definitions = Self { api: Api::all(scene.client.clone()), new };
        definitions.define(&old).await?;
        Ok(definitions)
    }

    async fn define(&self, definition: &Value) -> Result<()> {
        let spec = Patch::Merge(json!({ "spec": definition["spec"] }));
        self.api.patch(TestResource::crd_name(), &PatchParams::default(), &spec).await?;
        Ok(())
    }
}

/// An operator is deployed before its definition: the status has a value that the old schema refuses.
#[tokio::test(start_paused = true)]
async fn a_definition_that_comes_after_its_operator() -> Result<()> {
    for retry in retries() {
        let scene = scene().await?;
        let definitions = Definitions::old(&scene).await?;
        let controller = telling(&scene, &workflow_of_one(wanted_map("a"))?).retry(retry);
        let _operator = under(&Faults::none(), &scene, controller).await?;
        scene.create("one", "first").await?;
        minutes(10).await;
        ensure!(conditions(&scene).await?.is_empty(), "the old definition takes no status");
        definitions.define(&definitions.new).await?;
        minutes(10).await;
        assert_well(&scene).await.context("ten minutes after the definition has come")?;
    }
    Ok(())
}

/// The operator follows definitions, as it asks which kinds are served.
#[tokio::test(start_paused = true)]
async fn a_definition_that_comes_triggers_those_that_failed_where_definitions_are_followed() -> Result<()> {
    for retry in retries() {
        let scene = scene().await?;
        let definitions = Definitions::old(&scene).await?;
        let workflow = workflow_of_one(wanted_map("a").when_served())?;
        let controller = telling(&scene, &workflow).retry(retry);
        let _operator = under(&Faults::none(), &scene, controller).await?;
        scene.create("one", "first").await?;
        minutes(30).await;
        ensure!(conditions(&scene).await?.is_empty(), "the old definition takes no status");
        definitions.define(&definitions.new).await?;
        pass(5).await;
        assert_well(&scene).await.context("five seconds after the definition has come")?;
    }
    Ok(())
}
