//! Nodes that wait for others only until they have started.

use integration_tests::prelude::*;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use operator_core::{Run, Verdict, Want, Wire as _};

fn says(one: &TestResource, word: &str) -> bool {
    one.spec.value.split(' ').any(|said| said == word)
}

fn database(one: &TestResource) -> Option<ConfigMap> {
    (!says(one, "lonely")).then(|| map_of(one, "database", if says(one, "up") { "up" } else { "down" }))
}

fn is_up(map: &ConfigMap) -> bool {
    map.data.iter().flatten().any(|(_, value)| value == "up")
}

fn web(one: &TestResource) -> Option<ConfigMap> {
    (!says(one, "off")).then(|| map_of(one, "web", &one.spec.value))
}

fn is_licensed(one: &TestResource) -> Verdict {
    Verdict::when(says(one, "licensed"), "no licence yet")
}

fn is_open(one: &TestResource) -> Want<()> {
    if says(one, "closed") { Want::wait("Closed", "it is closed") } else { Want::Is(()) }
}

fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let message = run.state(web).map(ToString::to_string);
    TestStatus { message, conditions: run.conditions(one), ..TestStatus::default() }
}

async fn told(scene: &Scene) -> Result<(String, Vec<String>)> {
    let status = scene.resources.get("one").await?.status.unwrap_or_default();
    let of = |condition: &Condition| format!("{} {} {}", condition.type_, condition.status, condition.reason);
    Ok((status.message.unwrap_or_default(), status.conditions.iter().map(of).collect()))
}

async fn lose(scene: &Scene, name: &str) -> Result<()> {
    scene.api::<ConfigMap>().delete(name, &DeleteParams::default()).await?;
    Ok(())
}

async fn say(scene: &Scene, operator: &TestOperator, value: &str) -> Result<Vec<String>> {
    scene.patch("one", json!({ "spec": { "value": value } })).await?;
    Ok(writes(&operator.settled().await?))
}

/// What was written, without statuses.
fn writes(settled: &operator_core::testing::Settled) -> Vec<String> {
    settled.written().into_iter().filter(|line| !line.contains("/status")).collect()
}

#[operator_test]
async fn what_has_started_is_kept_up_to_date_whatever_becomes_of_the_other() -> Result<()> {
    let scene = Scene::new("starts").await?;
    let workflow = Workflow::builder().nodes((database.ready(is_up), web.starts_after(database))).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "down").await?;
    operator.settled().await?;
    let waits = "waiting to start: database: `is_up` is not met".to_owned();
    let waiting = ["Ready False Waiting", "Reconciling True Waiting", "Stalled False Waiting"];
    assert_eq!(told(&scene).await?, (waits.clone(), waiting.map(ToOwned::to_owned).to_vec()));
    assert!(scene.api::<ConfigMap>().get_opt("one-web").await?.is_none());

    assert_eq!(
        say(&scene, &operator, "up").await?,
        ["PATCH configmaps/one-database -> 200", "PATCH configmaps/one-web -> 201"]
    );
    // Now it waits no longer.
    let both = ["PATCH configmaps/one-database -> 200", "PATCH configmaps/one-web -> 200"];
    let mut written = say(&scene, &operator, "down again").await?;
    written.sort();
    assert_eq!(written, both);
    assert_eq!(told(&scene).await?.0, "updated");

    // What gets lost starts anew.
    lose(&scene, "one-web").await?;
    operator.settled().await?;
    assert_eq!(told(&scene).await?.0, waits);
    assert_eq!(
        say(&scene, &operator, "up now").await?.last().map(String::as_str),
        Some("PATCH configmaps/one-web -> 201")
    );

    // What isn't wanted holds nothing up, and goes after what was brought about without it.
    let lonely = say(&scene, &operator, "lonely").await?;
    assert_eq!(lonely, ["PATCH configmaps/one-web -> 200", "DELETE configmaps/one-database -> 200"]);
    lose(&scene, "one-web").await?;
    assert_eq!(writes(&operator.settled().await?), ["PATCH configmaps/one-web -> 201"]);
    Ok(())
}

#[operator_test]
async fn a_function_says_when_something_may_start_and_is_not_asked_again() -> Result<()> {
    let scene = Scene::new("starts-when").await?;
    let web = web.starts_when(is_licensed).starts_when(is_open);
    let workflow = Workflow::builder().nodes((web,)).build()?;
    assert!(workflow.outline().to_string().contains("[starts when is_licensed] [starts when is_open]"));
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(told(&scene).await?.0, "waiting to start: no licence yet");
    assert_eq!(say(&scene, &operator, "licensed closed").await?, [""; 0]);
    let (state, conditions) = told(&scene).await?;
    assert_eq!(
        (state.as_str(), conditions[0].as_str()),
        ("waiting to start: it is closed", "Ready False Closed")
    );
    // A "no" of its own function comes first.
    say(&scene, &operator, "off").await?;
    assert_eq!(told(&scene).await?.0, "deleted");
    assert_eq!(say(&scene, &operator, "licensed").await?, ["PATCH configmaps/one-web -> 201"]);
    assert_eq!(say(&scene, &operator, "closed").await?, ["PATCH configmaps/one-web -> 200"]);
    // After it was removed it starts anew.
    assert_eq!(say(&scene, &operator, "off").await?, ["DELETE configmaps/one-web -> 200"]);
    assert_eq!(say(&scene, &operator, "closed again").await?, [""; 0]);
    assert_eq!(told(&scene).await?.0, "waiting to start: no licence yet");
    Ok(())
}
