//! Definitions of custom resources that are just being installed, deleted, or changed.

use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{keeper, keeping, kept, says};

fn definitions(scene: &Scene<LateTestResource>) -> Api<CustomResourceDefinition> {
    Api::all(scene.client.clone())
}

#[operator_test]
async fn f13_a_definition_is_installed_at_the_moment_of_the_start() -> Result<()> {
    let (_turn, scene) = Scene::late("f13").await?;
    let script = keeping();
    let builder = scene.operator().register(keeper(&scene, &script)?);
    // Nobody waits until it is served: its lists are answered with 404, or with 429 while its storage is made.
    definitions(&scene).create(&PostParams::default(), &LateTestResource::crd()).await?;
    let operator = TestOperator::start_unsynced(builder).await?;
    eventually("the definition to be served", async || {
        Ok(scene.create("one", "first").await.is_ok().then_some(()))
    })
    .await?;
    kept(&scene, "one", "first").await?;
    operator.settled().await?;
    assert_eq!(script.runs.of("one").len(), 1);
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}

#[operator_test]
async fn f29_a_definition_is_deleted_comes_back_and_gets_another_version() -> Result<()> {
    let (_turn, scene) = Scene::late("f29").await?;
    scene.install_crd().await?;
    let (script, other) = (keeping(), keeping::<TestResource>());
    let neighbour = Scene::new("f29-neighbour").await?;
    let builder = scene.operator();
    let builder =
        builder.register(keeper(&scene, &script)?).register(keeper(&neighbour, &other)?.name("neighbour"));
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "first").await?;
    kept(&scene, "one", "first").await?;
    operator.settled().await?;

    let (crds, crd) = (definitions(&scene), LateTestResource::crd());
    crds.delete(&crd.name_any(), &DeleteParams::default()).await?;
    eventually("the source of primaries, and it alone, to be unhealthy", async || {
        let unhealthy = operator.unhealthy_sources().await;
        Ok((unhealthy.len() == 1).then_some(()))
    })
    .await?;
    neighbour.create("other", "still at work").await?;
    kept(&neighbour, "other", "still at work").await?;

    let before = script.runs.count();
    eventually("the definition to be accepted again", async || {
        Ok(crds.create(&PostParams::default(), &crd).await.is_ok().then_some(()))
    })
    .await?;
    eventually("the definition to be served again", async || {
        Ok(scene.create("two", "second").await.is_ok().then_some(()))
    })
    .await?;
    kept(&scene, "two", "second").await?;
    operator.settled().await?;
    assert_eq!(script.runs.count(), before + 1);

    // A further version, which is stored from now on; the operator's own one is served as before.
    let mut versions = serde_json::to_value(&crd.spec.versions)?;
    let mut newer = versions[0].clone();
    newer["name"] = json!("v2");
    versions[0]["storage"] = json!(false);
    let patch = json!({ "spec": { "versions": [versions[0], newer] } });
    crds.patch(&crd.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await?;
    scene.set("two", "third").await?;
    kept(&scene, "two", "third").await?;
    says(&scene, "two", "third").await?;
    operator.settled().await?;
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}

#[operator_test]
async fn f31_a_definition_is_deleted_with_its_objects_which_are_cleaned_up() -> Result<()> {
    let (_turn, scene) = Scene::late("f31").await?;
    scene.install_crd().await?;
    let script = keeping();
    let operator = scene.start(keeper(&scene, &script)?.cleaner(true)).await?;
    for name in ["one", "two", "three"] {
        scene.create(name, "first").await?;
        kept(&scene, name, "first").await?;
    }
    operator.settled().await?;
    let (crds, name) = (definitions(&scene), LateTestResource::crd().name_any());
    crds.delete(&name, &DeleteParams::default()).await?;
    eventually("the definition to go, which it does after its last object", async || {
        Ok(crds.get_opt(&name).await?.is_none().then_some(()))
    })
    .await?;
    assert_eq!(script.cleanups.count(), 3, "each object was cleaned up, once");
    let stopped = tokio::time::timeout(Duration::from_secs(25), operator.stop()).await?;
    assert_eq!(stopped, operator_core::operator::Stopped::Drained);
    Ok(())
}
