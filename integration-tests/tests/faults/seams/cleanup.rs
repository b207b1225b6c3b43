//! What is deleted at the end of a primary, by whom, and in which order.

use integration_tests::prelude::*;
use operator_core::{
    Node, One,
    workflow::conditions::{CrdPresent, ResourceDeleted},
};

use super::{Scene, TestResource, gone_after, pass, scene, under};

/// Lets another writer hold a config map, or release it.
async fn hold(maps: &Api<ConfigMap>, name: &str, finalizers: &[&str]) -> Result<()> {
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": finalizers } }));
    maps.patch(name, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// The existing config maps, and which of them are marked for deletion.
async fn maps_of(scene: &Scene) -> Result<Vec<String>> {
    let maps = scene.api::<ConfigMap>().list(&Default::default()).await?;
    let said = |map: &ConfigMap| match map.metadata.deletion_timestamp {
        Some(_) => format!("{} going", map.name_any()),
        None => map.name_any(),
    };
    // The cluster's own one is no matter here.
    Ok(maps.iter().filter(|map| map.name_any().starts_with("one")).map(said).collect())
}

/// An operator with this workflow, and a primary called `one` that is settled.
async fn settled(scene: &Scene, workflow: &Workflow<TestResource>, cleaner: bool) -> Result<TestOperator> {
    let controller = scene.managed(&Script::idle(), workflow);
    let controller = controller.cleaner(cleaner);
    let operator = under(&Faults::none(), scene, controller).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    operator.settled().await?;
    Ok(operator)
}

/// The primary waits for objects that the collector takes only after the primary.
async fn goes(node: Node<TestResource, One<ConfigMap>>, cleaner: bool) -> Result<()> {
    let scene = scene().await?;
    let workflow = Workflow::builder().nodes((node.gone(ResourceDeleted),)).build()?;
    let operator = settled(&scene, &workflow, cleaner).await?;
    assert_eq!(scene.values().await?.len(), 1);
    scene.delete("one").await?;
    let gone = gone_after(&scene, "one").await?;
    assert_eq!(gone, Some(0), "hours until it was gone; Some(0) is five minutes, None never");
    let written = operator.settled().await?.written();
    let expected = ["DELETE configmaps/one-a -> 200", "PATCH testresources/one -> 200"];
    assert_eq!(written, expected, "it is deleted by us, before the finalizer");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_collected_node_with_a_delete_postcondition_is_deleted_by_us() -> Result<()> {
    goes(Child("a").node(), true).await
}

#[tokio::test(start_paused = true)]
async fn a_delete_postcondition_asks_for_the_finalizer() -> Result<()> {
    goes(Child("a").node(), false).await
}

#[tokio::test(start_paused = true)]
async fn what_is_always_deleted_by_us_goes_as_ever() -> Result<()> {
    goes(Child("a").deleted_node(), false).await
}

/// An app that the collector would take, and a database that we delete.
#[tokio::test(start_paused = true)]
async fn a_database_is_not_dropped_under_the_running_app() -> Result<()> {
    let (scene, system) = (scene().await?, ExternalSystem::default());
    let database = one_record(&system, "").named("database");
    let app = Child("app").node().after(&database);
    let web = Child("web").node().after(&app);
    let workflow = Workflow::builder().nodes((database, app, web, Child("aside").node())).build()?;
    let controller = scene.managed(&Script::idle(), &workflow);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    hold(&maps, "one-app", &["example.com/draining"]).await?;
    pass(60).await;
    operator.settled().await?;

    scene.delete("one").await?;
    pass(60).await;
    assert_eq!(maps_of(&scene).await?, ["one-app going", "one-aside"], "the app drains");
    assert_eq!(system.all().len(), 1, "its database is there");
    assert_eq!(scene.resources.get("one").await?.finalizers().len(), 1);
    let written = operator.settled().await?.written();
    let in_order = ["DELETE configmaps/one-web -> 200", "DELETE configmaps/one-app -> 200"];
    assert_eq!(written, in_order, "each is deleted once, and what stands aside is the collector's");

    hold(&maps, "one-app", &[]).await?;
    pass(60).await;
    assert!(system.all().is_empty(), "{:?}", system.all());
    assert!(scene.resources.get_opt("one").await?.is_none());
    assert_eq!(operator.settled().await?.written(), ["PATCH testresources/one -> 200"]);
    assert!(maps_of(&scene).await?.is_empty());
    Ok(())
}

/// Without a postcondition, too, a node that goes before another one is gone before it.
#[tokio::test(start_paused = true)]
async fn what_is_still_going_keeps_what_it_depends_on() -> Result<()> {
    let scene = scene().await?;
    let below = Child("below").deleted_node();
    let above = Child("above").deleted_node().after(&below);
    let workflow = Workflow::builder().nodes((below, above)).build()?;
    let operator = settled(&scene, &workflow, false).await?;
    let maps = scene.api::<ConfigMap>();
    hold(&maps, "one-above", &["example.com/draining"]).await?;
    operator.settled().await?;
    scene.delete("one").await?;
    pass(60).await;
    assert_eq!(maps_of(&scene).await?, ["one-above going", "one-below"]);
    hold(&maps, "one-above", &[]).await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    let expected = [
        "DELETE configmaps/one-above -> 200",
        "DELETE configmaps/one-below -> 200",
        "PATCH testresources/one -> 200",
    ];
    assert_eq!(operator.settled().await?.written(), expected);
    Ok(())
}

/// The control: nothing outside the collector's reach, so there is no finalizer, and we delete nothing.
#[tokio::test(start_paused = true)]
async fn what_the_collector_takes_is_left_to_it() -> Result<()> {
    let scene = scene().await?;
    let below = Child("below").node();
    let above = Child("above").node().after(&below);
    let workflow = Workflow::builder().nodes((below, above)).build()?;
    let operator = settled(&scene, &workflow, false).await?;
    assert!(scene.resources.get("one").await?.finalizers().is_empty());
    scene.delete("one").await?;
    assert_eq!(gone_after(&scene, "one").await?, Some(0));
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    Ok(())
}

/// A child of a kind that this cluster doesn't have, although the node is active.
fn late() -> Node<TestResource, One<LateTestResource>> {
    let late = |primary: &TestResource| {
        let mut late = LateTestResource::named("", "late");
        late.metadata = meta_of(primary, "late");
        late
    };
    // A definition that is there; the informer of the node's own kind still never gets in step.
    let active = CrdPresent::<TestResource>::new();
    wanted("late", late).needs(active)
}

/// Nothing is deleted there, so nothing needs to know what exists.
#[tokio::test(start_paused = true)]
async fn a_clean_up_does_not_wait_for_an_informer_that_it_does_not_need() -> Result<()> {
    let scene = scene().await?;
    let workflow = Workflow::builder().nodes((late(), Child("a").node())).build()?;
    let controller = scene.managed(&Script::idle(), &workflow).cleaner(true);
    let _operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    scene.delete("one").await?;
    let gone = gone_after(&scene, "one").await?;
    assert_eq!(gone, Some(0), "hours until it was gone; Some(0) is five minutes, None never");
    Ok(())
}

/// A node that deletes has the right to, and the finalizer for it.
#[test]
fn what_is_deleted_at_the_end_is_known_before() -> Result<()> {
    let system = ExternalSystem::default();
    let database = || one_record(&system, "").named("database");
    let app = || Child("app").node();
    let of = Workflow::<TestResource>::builder;
    let workflows = [
        (of().nodes((app(),)), (false, true), "deleted by the garbage collector, in any order"),
        (of().nodes((app().gone(ResourceDeleted),)), (true, true), "deleted in reverse"),
        (of().nodes((database(), app().after(&database()))), (true, true), "deleted in reverse"),
        (
            of().nodes((database(), app())),
            (true, true),
            "deleted in reverse: database; by the garbage collector, in any order: app",
        ),
    ];
    for (workflow, (finalizer, right), said) in workflows {
        let workflow = workflow.build()?;
        let deletes = workflow.access().iter().any(|right| right.verbs.contains(&"delete"));
        assert_eq!((workflow.has_deletable(), deletes), (finalizer, right), "{said}");
        let outline = workflow.outline().to_string();
        assert!(outline.ends_with(said), "{outline}");
    }
    Ok(())
}
