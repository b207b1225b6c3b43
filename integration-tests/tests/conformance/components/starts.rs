//! A component that starts after another, data that come late, and objects that are only read.

use integration_tests::prelude::*;
use operator_component::component;
use operator_core::{Context, Want, Wire as _, dependent::Read};

use super::stand::{HEALTHY, Stage, is_up, map};

fn database(stand: &Stand) -> ConfigMap {
    map(stand, "database")
}

fn web(stand: &Stand) -> ConfigMap {
    map(stand, "web")
}

const WAITS: &str = "False PrerequisiteNotMet Prerequisite not met: waiting for condition \"DatabaseReady\" to become True \
     (currently False: database: `is_up` is not met)";

#[operator_test]
async fn one_that_starts_after_a_database_is_updated_also_when_the_database_has_failed() -> Result<()> {
    let first = component("database", (database.ready(is_up),));
    let second = component("web", (web,)).starts_after(&first);
    let stage = Stage::of("component-starts", (first, second)).await?;
    assert_eq!(stage.say("1").await?, ["PATCH configmaps/database -> 201"], "nothing of the other one");
    assert_eq!(stage.told("DatabaseReady").await?, "False Creating database: `is_up` is not met");
    assert_eq!(stage.told("WebReady").await?, WAITS);
    assert_eq!(
        stage.told("Ready").await?,
        WAITS.replacen("False PrerequisiteNotMet ", "False PrerequisiteNotMet web: ", 1)
    );

    stage.set_up("database", true).await?;
    assert_eq!(stage.told("DatabaseReady").await?, HEALTHY);
    assert_eq!(stage.told("WebReady").await?, HEALTHY);
    let changed = stage.changed("WebReady").await?;

    stage.set_up("database", false).await?;
    assert_eq!(stage.told("DatabaseReady").await?, "False OperationPending database: `is_up` is not met");
    assert_eq!(stage.told("WebReady").await?, HEALTHY);
    assert_eq!(
        stage.say("2").await?,
        ["PATCH configmaps/database -> 200", "PATCH configmaps/web -> 200"],
        "what has started is kept up to date"
    );
    assert_eq!(stage.changed("WebReady").await?, changed, "the other one's end isn't its own");
    Ok(())
}

/// Wants what the database has got from somebody.
fn settings(_: &Stand, cx: &Context<Stand>) -> Result<Want<ConfigMap>, BoxError> {
    let address = cx.seen(database)?.and_then(|map| map.annotations().get("address").cloned());
    Ok(address.map_or_else(
        || Want::wait("NoAddress", "the database has no address yet"),
        |address| {
            Want::of(
                from_json(&json!({ "metadata": { "name": "settings" }, "data": { "at": address } }))
                    .expect("a map"),
            )
        },
    ))
}

#[operator_test]
async fn data_that_come_late_are_waited_for() -> Result<()> {
    let first = component("database", (database,));
    let second = component("web", (settings.after(database), web)).in_order();
    let stage = Stage::of("component-data", (first, second)).await?;
    assert_eq!(stage.say("1").await?, ["PATCH configmaps/database -> 201"], "what comes later waits, too");
    assert_eq!(stage.told("DatabaseReady").await?, HEALTHY);
    assert_eq!(stage.told("WebReady").await?, "False Blocked settings: the database has no address yet");
    let changed = stage.changed("DatabaseReady").await?;
    let address = json!({ "metadata": { "annotations": { "address": "10.0.0.1" } } });
    stage.scene.api::<ConfigMap>().patch("database", &PatchParams::default(), &Patch::Merge(address)).await?;
    assert_eq!(stage.settled().await?, ["PATCH configmaps/settings -> 201", "PATCH configmaps/web -> 201"]);
    assert_eq!(stage.told("WebReady").await?, HEALTHY);
    assert_eq!(stage.changed("DatabaseReady").await?, changed);
    Ok(())
}

fn licence(_: &Stand) -> Read<ConfigMap> {
    Read::named("licence")
}

fn banner(_: &Stand) -> Read<ConfigMap> {
    Read::named("banner")
}

#[operator_test]
async fn what_is_only_read_is_waited_for_unless_it_is_optional() -> Result<()> {
    let first = component("licences", (licence.ready(is_up),));
    let second = component("web", (banner.optional(), web));
    let stage = Stage::of("component-reads", (first, second)).await?;
    assert_eq!(stage.say("1").await?, ["PATCH configmaps/web -> 201"]);
    assert_eq!(stage.told("WebReady").await?, HEALTHY);
    let absent = stage.told("LicencesReady").await?;
    assert!(absent.starts_with("False Blocked licence: "), "{absent}");
    let licence = from_json::<ConfigMap>(&json!({ "metadata": { "name": "licence" } }))?;
    stage.scene.api::<ConfigMap>().create(&PostParams::default(), &licence).await?;
    assert_eq!(stage.settled().await?, [""; 0]);
    assert_eq!(
        stage.told("LicencesReady").await?,
        "False Creating licence: `is_up` is not met",
        "its health counts"
    );
    stage.set_up("licence", true).await?;
    assert_eq!(stage.told("LicencesReady").await?, HEALTHY);
    Ok(())
}
