//! A bulk dependent in a managed workflow: more, fewer and other config maps follow from the spec, and go with their primary.

use integration_tests::prelude::*;

#[operator_test]
async fn the_config_maps_follow_the_spec_from_creation_to_garbage_collection() -> Result<()> {
    let scene = Scene::new("managed-bulk-dependent").await?;
    let script = Script::idle();
    let workflow = workflow_of_one(node(counted_maps))?;
    let rights = workflow.access();
    assert!(
        rights.iter().any(|right| right.verbs.contains(&"delete")),
        "what is too much is deleted: {rights:?}"
    );
    let operator = scene.start_managed(&script, &workflow).await?;
    scene.scale_up_and_down().await?;

    // The writes of all items of one run are filtered like that of a single dependent, and nothing is written twice.
    operator.settled().await?;
    scene.create("two", "3 first").await?;
    let created = operator.settled().await?;
    assert_eq!((created.runs_of(&scene.key("two")), created.writes().count()), (1, 3));
    scene.set("two", "3 second").await?;
    let updated = operator.settled().await?;
    assert_eq!((updated.runs_of(&scene.key("two")), updated.writes().count()), (1, 3));
    Ok(())
}
