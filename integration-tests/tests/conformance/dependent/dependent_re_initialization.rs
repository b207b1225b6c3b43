//! One declaration of dependents serves a second operator after the first one has stopped.

use integration_tests::prelude::*;

#[operator_test]
async fn the_same_dependent_works_in_a_second_operator() -> Result<()> {
    let scene = Scene::new("dependent-re-initialization").await?;
    let workflow = workflow_of_one(wanted_map("a"))?;
    let first = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "first").await?;
    scene.until_values([("one-a", "first")]).await?;
    first.stop().await;

    let second = scene.start_managed(&Script::idle(), &workflow).await?;
    let found = second.settled().await?;
    assert_eq!((found.runs_of(&scene.key("one")), found.requests.len()), (1, 0));
    scene.set("one", "second").await?;
    scene.until_values([("one-a", "second")]).await
}
