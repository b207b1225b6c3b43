//! A test's operator works in the test's namespaces, and in no other, unless it is told otherwise.

use integration_tests::prelude::*;

/// How often the objects of the two tests were reconciled.
fn runs(script: &Script) -> [usize; 2] {
    ["one", "two"].map(|name| script.runs.of(name).len())
}

#[operator_test]
async fn operators_of_two_tests_do_not_meet() -> Result<()> {
    let (one, two) = (Scene::new("test-one").await?, Scene::new("test-two").await?);
    let (script, other) = (Script::idle(), Script::idle());
    // Neither says anything of namespaces.
    let (first, second) = (one.start(script.controller()).await?, two.start(other.controller()).await?);
    one.create("one", "1").await?;
    two.create("two", "1").await?;
    first.settled().await?;
    second.settled().await?;
    assert_eq!((runs(&script), runs(&other)), ([1, 0], [0, 1]));
    Ok(())
}

#[operator_test]
async fn an_operator_that_names_namespaces_works_there() -> Result<()> {
    let (one, two) = (Scene::new("test-one").await?, Scene::new("test-two").await?);
    let (script, own) = (Script::idle(), Script::idle());
    let both = one.operator().namespaces([&one.namespace, &two.namespace]).register(script.controller());
    let running = TestOperator::start(both).await?;
    let controller = own.controller().namespaces([&one.namespace]);
    let other = one.operator().namespaces([&two.namespace]).register(controller);
    let other = TestOperator::start(other).await?;
    one.create("one", "1").await?;
    two.create("two", "1").await?;
    running.settled().await?;
    other.settled().await?;
    assert_eq!(runs(&script), [1, 1], "what the operator says is for controllers that say nothing");
    assert_eq!(runs(&own), [1, 0], "what a controller says wins");
    Ok(())
}
