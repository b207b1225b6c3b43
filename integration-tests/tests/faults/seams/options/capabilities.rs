//! The capabilities of dependents: create only, read only, and, of several objects, only their own.

use integration_tests::prelude::*;
use kube::core::{ApiResource, DynamicObject};
use operator_core::dependent::Read;

use super::{calm, gone_after, pass, scene, under};

/// What was written since the last time, when nothing more happens.
async fn written(operator: &TestOperator) -> Result<Vec<String>> {
    pass(60).await;
    Ok(operator.settled().await?.written())
}

async fn overwrite(scene: &Scene, name: &str, value: &str) -> Result<()> {
    let patch = Patch::Merge(json!({ "data": { "value": value } }));
    scene.api::<ConfigMap>().patch(name, &PatchParams::default(), &patch).await?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_created_only_is_left_alone_and_goes_with_its_primary() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, looking_on::<TestResource>());
    let workflow = workflow_of_one(wanted_map("a").create_only())?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "first").await?;
    assert_eq!(written(&operator).await?, ["PATCH configmaps/one-a -> 201"], "and no finalizer");
    assert_eq!(outcomes.lines("one"), ["a: created"]);

    scene.set("one", "second").await?;
    assert_eq!(written(&operator).await?, [""; 0], "another state is desired");
    overwrite(&scene, "one-a", "somebody's").await?;
    assert_eq!(written(&operator).await?, [""; 0], "somebody has changed it");
    assert_eq!(outcomes.lines("one"), ["a: matched"]);
    assert_eq!(scene.values().await?, [("one-a".to_owned(), "somebody's".to_owned())].into());

    scene.api::<ConfigMap>().delete("one-a", &DeleteParams::default()).await?;
    assert_eq!(written(&operator).await?, ["PATCH configmaps/one-a -> 201"], "it is missing");
    assert_eq!(scene.values().await?, [("one-a".to_owned(), "second".to_owned())].into());

    scene.delete("one").await?;
    assert_eq!(written(&operator).await?, [""; 0], "the collector deletes it");
    assert!(scene.values().await?.is_empty());
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_retained_is_updated_and_outlives_its_primary() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, looking_on::<TestResource>());
    let kept = |primary: &TestResource| {
        let value = &primary.spec.value;
        (value != "off").then(|| map_of(primary, "a", value))
    };
    let workflow = workflow_of_one(node(kept).named("a").retained())?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "first").await?;
    assert_eq!(written(&operator).await?, ["PATCH configmaps/one-a -> 201"], "and no finalizer");
    let map = scene.api::<ConfigMap>().get("one-a").await?;
    assert_eq!(map.metadata.owner_references, None);
    scene.set("one", "second").await?;
    assert_eq!(written(&operator).await?, ["PATCH configmaps/one-a -> 200"]);

    scene.set("one", "off").await?;
    assert_eq!(written(&operator).await?, [""; 0], "it is no longer wanted, and stays");
    assert!(outcomes.last("one").is_some_and(|run| run.all_ready()), "{:?}", outcomes.lines("one"));
    scene.delete("one").await?;
    assert_eq!(written(&operator).await?, [""; 0], "its primary goes, and it stays");
    assert_eq!(scene.values().await?, [("one-a".to_owned(), "second".to_owned())].into());
    operator.stop().await;
    Ok(())
}

/// As many pages as the primary's value says.
fn pages(primary: &TestResource) -> Result<Vec<ConfigMap>, BoxError> {
    let count = primary.spec.value.parse::<usize>()?;
    Ok((0..count).map(|index| map_of(primary, &format!("page-{index}"), "there")).collect())
}

#[tokio::test(start_paused = true)]
async fn a_bulk_is_about_the_objects_that_it_has_made_and_no_others() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, looking_on::<TestResource>());
    let bulk = node(pages).without_owner();
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow_of_one(bulk)?)).await?;
    let one = scene.create("one", "3").await?;
    let made = written(&operator).await?;
    assert_eq!(made.iter().filter(|write| write.contains("configmaps")).count(), 3, "{made:?}");
    // The primary's as well, but made by others.
    let mut theirs = map_of(&one, "extra", "theirs");
    theirs.metadata.owner_references = one.controller_owner_ref(&()).map(|owner| vec![owner]);
    scene.api::<ConfigMap>().create(&PostParams::default(), &theirs).await?;
    assert_eq!(written(&operator).await?, [""; 0], "it is none of the bulk's");
    scene.set("one", "2").await?;
    assert_eq!(written(&operator).await?, ["DELETE configmaps/one-page-2 -> 200"]);
    let result = outcomes.last("one").expect("a run");
    let reconciled = node_of(&result, "pages").reconciled.as_ref();
    assert_eq!(reconciled.map(|reconciled| reconciled.operations().len()), Some(2), "what it has found");

    scene.delete("one").await?;
    let mut deleted = written(&operator).await?;
    deleted.retain(|write| write.starts_with("DELETE"));
    let expected = ["one-page-0", "one-page-1"];
    assert_eq!(deleted, expected.map(|name| format!("DELETE configmaps/{name} -> 200")));
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_bulk_that_only_reads_reads_what_it_selects() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, looking_on::<TestResource>());
    let pages = |_: &TestResource| Read::all().filter(|map: &ConfigMap| map.name_any().contains("-page-"));
    let pages = node(pages).named("pages");
    let controller = scene.managed(&script, &workflow_of_one(pages)?).owns::<ConfigMap>();
    let operator = under(&calm(), &scene, controller).await?;
    let one = scene.create("one", "3").await?;
    for name in ["extra", "page-0", "page-7"] {
        let mut theirs = map_of(&one, name, "theirs");
        theirs.metadata.owner_references = one.controller_owner_ref(&()).map(|owner| vec![owner]);
        scene.api::<ConfigMap>().create(&PostParams::default(), &theirs).await?;
    }
    assert_eq!(written(&operator).await?, [""; 0]);
    let result = outcomes.last("one").expect("a run");
    let reconciled = node_of(&result, "pages").reconciled.as_ref().expect("it was read");
    let read: Vec<_> = reconciled.operations().iter().map(|(_, map)| map.id().to_owned()).collect();
    let namespace = &scene.namespace;
    assert_eq!(read, [format!("{namespace}/one-page-0"), format!("{namespace}/one-page-7")]);
    operator.stop().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_object_of_a_type_known_at_run_time_is_only_read() -> Result<()> {
    let (scene, (script, outcomes)) = (scene().await?, looking_on::<TestResource>());
    let theirs = |primary: &TestResource| -> Read<DynamicObject> {
        Read::named(format!("{}-theirs", primary.name_any()))
    };
    let theirs = node(theirs).named("theirs").kind(ApiResource::erase::<ConfigMap>(&()));
    let workflow = Workflow::builder().nodes((untyped_map("ours").after(&theirs), theirs)).build()?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    let one = scene.create("one", "value").await?;
    assert_eq!(written(&operator).await?, [""; 0], "it isn't there yet");
    let lines = outcomes.lines("one");
    let maker = "in this workflow ours makes objects of this kind";
    let lacking =
        format!("theirs: matched, not ready: ConfigMap {}/one-theirs not found; {maker}", scene.namespace);
    assert_eq!(lines.last(), Some(&lacking));

    let mut map = map_of(&one, "theirs", "others'");
    map.metadata.owner_references = one.controller_owner_ref(&()).map(|owner| vec![owner]);
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    assert_eq!(written(&operator).await?, ["PATCH configmaps/one-ours -> 201"]);
    assert_eq!(outcomes.lines("one"), ["ours: created", "theirs: matched"]);
    overwrite(&scene, "one-theirs", "changed").await?;
    assert_eq!(written(&operator).await?, [""; 0], "what others do is theirs");
    let run = outcomes.last("one").expect("a run");
    let read = node_of(&run, "theirs").reconciled.as_ref().and_then(|read| read.resource::<DynamicObject>());
    assert_eq!(read.map(|read| read.data["data"]["value"].clone()), Some(json!("changed")));

    scene.delete("one").await?;
    let deleted = written(&operator).await?;
    assert!(deleted.iter().all(|write| !write.contains("theirs")), "{deleted:?}");
    operator.stop().await;
    Ok(())
}

/// [`Node::gone`](operator_core::Node::gone).
#[tokio::test(start_paused = true)]
async fn a_primary_waits_until_its_node_counts_as_deleted() -> Result<()> {
    let (scene, (script, _)) = (scene().await?, looking_on::<TestResource>());
    // A record of the user's that the primary's deletion has been archived.
    let archived = |primary: &TestResource| primary.spec.value == "archived";
    let node = Child("a").deleted_node().gone(archived);
    let workflow = Workflow::builder().nodes((node,)).build()?;
    let operator = under(&calm(), &scene, scene.managed(&script, &workflow)).await?;
    scene.create("one", "value").await?;
    pass(60).await;
    scene.delete("one").await?;
    pass(3600).await;
    assert!(scene.values().await?.is_empty(), "the map is gone");
    assert!(scene.resources.get_opt("one").await?.is_some(), "its primary waits for more");
    scene.set("one", "archived").await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    operator.stop().await;
    Ok(())
}
