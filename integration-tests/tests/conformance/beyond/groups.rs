//! Groups of nodes.

use integration_tests::prelude::*;
use kube::api::DynamicObject;
use operator_core::{
    ControllerConfiguration, Run, Want, Wire as _,
    workflow::{Group, NodeResult, group},
};

fn says(one: &TestResource, word: &str) -> bool {
    one.spec.value.split(' ').any(|said| said == word)
}

fn database(one: &TestResource) -> ConfigMap {
    map_of(one, "database", if says(one, "up") { "up" } else { "down" })
}

fn is_up(map: &ConfigMap) -> bool {
    map.data.iter().flatten().any(|(_, value)| value == "up")
}

fn config(one: &TestResource) -> Want<ConfigMap> {
    if says(one, "held") {
        return Want::hold("Busy", "somebody edits it");
    }
    Want::Is(map_of(one, "config", &one.spec.value))
}

fn server(one: &TestResource) -> Option<ConfigMap> {
    (!says(one, "without-server")).then(|| map_of(one, "server", &one.spec.value))
}

fn worker(one: &TestResource) -> ConfigMap {
    map_of(one, "worker", &one.spec.value)
}

fn report(one: &TestResource) -> ConfigMap {
    map_of(one, "report", "ready")
}

fn is_on(one: &TestResource) -> bool {
    !says(one, "off")
}

fn labelled(object: &mut DynamicObject, one: &TestResource) {
    let labels = object.metadata.labels.get_or_insert_default();
    labels.insert("value".to_owned(), one.spec.value.replace(' ', "-"));
}

/// A value of a layer above.
#[derive(Debug, PartialEq)]
struct Rules(&'static str);

fn web() -> Group<TestResource> {
    let never_ready = |_: &ConfigMap| false;
    group("web", (config.ready(never_ready), group("programs", (server, worker))))
        .in_order()
        .only_if(is_on)
        .starts_after(database)
        .change(labelled)
        .carrying(Rules("of the web"))
}

fn status(one: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let of = |node: &&NodeResult| format!("{} {}", node.name, node.state);
    let groups = run.groups();
    let told = groups.iter().map(|group| {
        let rules = group.carried::<Rules>().map_or("", |rules| rules.0);
        let names: Vec<&str> = group.node_names().collect();
        assert!(group.nodes().len() <= names.len());
        format!("{}{rules}: {}", group.name(), group.nodes().iter().map(of).collect::<Vec<_>>().join(", "))
    });
    let message = Some(told.collect::<Vec<_>>().join("; "));
    TestStatus { message, conditions: run.conditions(one), ..TestStatus::default() }
}

async fn told(scene: &Scene) -> Result<String> {
    Ok(scene.resources.get("one").await?.status.and_then(|status| status.message).unwrap_or_default())
}

async fn lose(scene: &Scene, name: &str) -> Result<()> {
    scene.api::<ConfigMap>().delete(name, &DeleteParams::default()).await?;
    Ok(())
}

async fn say(scene: &Scene, operator: &TestOperator, value: &str) -> Result<Vec<String>> {
    scene.patch("one", json!({ "spec": { "value": value } })).await?;
    let mut written = operator.settled().await?.written();
    written.retain(|line| !line.contains("/status"));
    written.sort();
    Ok(written)
}

async fn maps(scene: &Scene) -> Result<Vec<String>> {
    let maps = scene.api::<ConfigMap>().list(&Default::default()).await?.items;
    Ok(maps
        .iter()
        .map(ResourceExt::name_any)
        .filter_map(|name| Some(name.strip_prefix("one-")?.to_owned()))
        .collect())
}

#[operator_test]
async fn what_is_said_of_a_group_is_said_of_each_of_its_nodes() -> Result<()> {
    let scene = Scene::new("groups").await?;
    // A group stands for itself by its name, made anew each time.
    let report = report.after(&group("programs", (server, worker)));
    let workflow = Workflow::builder().nodes((web(), database.ready(is_up), report)).build()?;
    let graph = workflow.outline().to_string();
    for line in [
        "group programs: server, worker\n",
        "group web: config, server, worker [starts after database] [in order] [only if is_on] [changed by labelled]\n",
    ] {
        assert!(graph.contains(line), "{graph}");
    }
    let mermaid = workflow.to_mermaid();
    for line in ["subgraph g0[\"programs\"]", "subgraph g1[\"web\"]", "    g0\n", "n3 -.-> n0"] {
        assert!(mermaid.contains(line), "{mermaid}");
    }
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).status(status)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(maps(&scene).await?, ["database"]);
    let waits = |node: &str| format!("{node} waiting to start: database: `is_up` is not met");
    let programs = [waits("server"), waits("worker")].join(", ");
    assert_eq!(
        told(&scene).await?,
        format!("programs: {programs}; webof the web: {}, {programs}", waits("config"))
    );

    // The config is never ready, and it is enough that it was applied.
    say(&scene, &operator, "up").await?;
    assert_eq!(maps(&scene).await?, ["config", "database", "report", "server", "worker"]);
    let labels = scene.api::<ConfigMap>().get("one-worker").await?.metadata.labels.unwrap_or_default();
    assert_eq!(labels.get("value").map(String::as_str), Some("up"));

    // The group has started: one that gets lost is made again, whatever becomes of the database.
    say(&scene, &operator, "down").await?;
    lose(&scene, "one-worker").await?;
    let written = operator.settled().await?.written();
    assert!(written.contains(&"PATCH configmaps/one-worker -> 201".to_owned()), "{written:?}");

    // One that is held holds those behind it, though they were made before; one that isn't wanted doesn't.
    assert_eq!(say(&scene, &operator, "held").await?, [""; 0]);
    assert!(told(&scene).await?.contains("worker waiting for config to be released: somebody edits it"));
    let written = say(&scene, &operator, "without-server").await?;
    assert!(written.contains(&"PATCH configmaps/one-worker -> 200".to_owned()), "{written:?}");
    assert!(written.contains(&"DELETE configmaps/one-server -> 200".to_owned()), "{written:?}");

    // Off, and on again: it starts anew.
    say(&scene, &operator, "off").await?;
    assert_eq!(maps(&scene).await?, ["database", "report"]);
    say(&scene, &operator, "on").await?;
    assert_eq!(maps(&scene).await?, ["database", "report"]);
    assert!(told(&scene).await?.contains(&waits("worker")));
    say(&scene, &operator, "on up").await?;
    assert_eq!(maps(&scene).await?, ["config", "database", "report", "server", "worker"]);
    Ok(())
}

fn renamed(object: &mut DynamicObject, one: &TestResource) -> Result<(), BoxError> {
    match &*one.spec.value {
        "renamed" => object.metadata.name = Some("other".to_owned()),
        "of another kind" => drop(object.types.take()),
        "of another shape" => object.data["data"] = 5.into(),
        "refused" => return Err("it isn't to be changed".into()),
        _ => {}
    }
    Ok(())
}

#[operator_test]
async fn a_change_of_a_group_that_fails_fails_its_nodes() -> Result<()> {
    let scene = Scene::new("groups-changes").await?;
    for words in [
        "it isn't to be changed",
        "are those that its function gives",
        "a change of version or kind",
        "invalid type: integer `5`, expected a map",
    ] {
        scene.failures.expect(words);
    }
    let workflow = Workflow::builder().nodes((group("all", (worker,)).change(renamed),)).build()?;
    let retry = GenericRetry::linear(Duration::from_millis(50), 0)?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow).retry(retry).status(status)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    for value in ["renamed", "of another kind", "of another shape", "refused"] {
        assert_eq!(say(&scene, &operator, value).await?, [""; 0], "{value}");
        assert!(told(&scene).await?.contains("worker failed"), "{value}");
    }
    Ok(())
}

#[derive(ControllerConfiguration)]
#[controller(primary = TestResource, name = "groups-derived", status = status)]
#[workflow(database(ready(is_up)), web = web(), report(after(web), starts_after(database)))]
struct Derived;

#[operator_test]
async fn a_group_is_a_value_of_the_derive() -> Result<()> {
    let scene = Scene::new("groups-derived").await?;
    let operator = scene.start(Derived).await?;
    scene.create("one", "down").await?;
    operator.settled().await?;
    assert_eq!(maps(&scene).await?, ["database"]);
    say(&scene, &operator, "up without-server").await?;
    // The config, which is in the group, is never ready.
    assert_eq!(maps(&scene).await?, ["config", "database", "worker"]);
    Ok(())
}
