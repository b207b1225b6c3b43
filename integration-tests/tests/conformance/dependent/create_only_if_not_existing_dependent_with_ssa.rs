//! An object that exists already and isn't the primary's is neither changed nor taken over; the error names its owner.
//! Once it is out of the way, the dependent is created.

use integration_tests::prelude::*;
use operator_core::{Node, One, dependent::Adoption};

/// Runs `dependent` where there is an object of its name, and says what the error was.
async fn refused(scene: &Scene, name: &str, dependent: Node<TestResource, One<ConfigMap>>) -> Result<String> {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&errors);
    let script = Script::idle().on_error(move |_, _, error| {
        noted.lock().push(error.to_string());
    });
    let operator = scene.start_managed(&script, &workflow_of_one(dependent)?).await?;
    let map = ConfigMap {
        metadata: map_of(&scene.create(name, "ours").await?, "a", "").metadata,
        ..ConfigMap::default()
    };
    operator.settled().await?;
    let there = scene.api::<ConfigMap>().get(&map.name_any()).await?;
    assert_eq!(there.data.as_ref().and_then(|data| data.get("value")).map(String::as_str), Some("theirs"));
    assert!(there.owner_references().is_empty() && there.annotations().is_empty());

    scene.api::<ConfigMap>().delete(&map.name_any(), &DeleteParams::default()).await?;
    scene.set(name, "ours, too").await?;
    scene.until_values([(&map.name_any(), "ours, too")]).await?;
    operator.stop().await;
    let error = errors.lock().first().cloned().context("there was an error")?;
    scene.delete(name).await?;
    scene.until_gone(name).await?;
    scene.until_values([]).await?;
    Ok(error)
}

#[operator_test]
async fn a_foreign_object_is_not_taken_over() -> Result<()> {
    let scene = Scene::new("create-only-if-not-existing").await?;
    scene.failures.expect("applied-a exists already");
    scene.failures.expect("posted-a exists already");
    for (name, ssa) in [("applied", true), ("posted", false)] {
        let theirs = map_of(&named(name, &scene), "a", "theirs");
        scene
            .api::<ConfigMap>()
            .create(
                &PostParams { field_manager: Some("somebody".to_owned()), ..PostParams::default() },
                &theirs,
            )
            .await?;
        let error = refused(&scene, name, wanted_map("a").use_ssa(ssa)).await?;
        let words = format!(
            "ConfigMap {}/{name}-a exists already, and it names no owner, and was written by somebody;",
            scene.namespace
        );
        assert!(error.contains(&words), "{error}");
    }
    Ok(())
}

#[operator_test]
async fn it_is_taken_over_on_request() -> Result<()> {
    let scene = Scene::new("adopt-existing").await?;
    let theirs = map_of(&named("one", &scene), "a", "theirs");
    scene.api::<ConfigMap>().create(&PostParams::default(), &theirs).await?;
    let workflow = workflow_of_one(wanted_map("a").adopt(Adoption::Always))?;
    let _operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "ours").await?;
    scene.until_values([("one-a", "ours")]).await?;
    scene.until_nothing_is_left_of("one").await
}

fn named(name: &str, scene: &Scene) -> TestResource {
    let mut primary = <TestResource as integration_tests::TestObject>::named(name, "");
    primary.metadata.namespace = Some(scene.namespace.clone());
    primary
}
