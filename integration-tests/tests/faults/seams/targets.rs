//! An object that is only read, where the source that its node names doesn't see it.

use integration_tests::prelude::*;
use operator_core::{Wire as _, dependent::Read};

use super::{message, scene, under};

/// A map in a namespace that no source watches.
fn elsewhere(_: &TestResource) -> Read<ConfigMap> {
    Read::key(ObjectKey::namespaced("elsewhere", "two"))
}

/// Created after it.
fn map(primary: &TestResource) -> ConfigMap {
    integration_tests::map_of(primary, "map", "value")
}

#[tokio::test(start_paused = true)]
async fn what_is_read_where_nobody_watches_fails_its_node_and_nothing_is_written() -> Result<()> {
    let scene = scene().await?;
    let script = Script::idle().on_error(|_: &TestResource, _, error| said(error.to_string()));
    let workflow = (node(elsewhere).event_source("maps"), map.after(elsewhere));
    let maps = InformerEventSource::<ConfigMap>::new().name("maps");
    let controller = script.controller().watches(maps).workflow(workflow).namespaces([&scene.namespace]);
    // What comes after it can't know whether it is there.
    let written = Rule::writes().resource("configmaps").status(StatusAnswer::forbidden("not to be written"));
    let faults = Faults::new([written]);
    let operator = under(&faults, &scene, controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;

    let told = message(&scene, "one").await?.unwrap_or_default();
    assert!(told.contains("doesn't watch; let the controller watch it"), "{told}");
    assert_eq!(faults.unfired().len(), 1, "nothing is written");
    Ok(())
}
