//! A run reads a kind that its controller doesn't watch.

use std::fmt::Debug;

use integration_tests::prelude::*;
use kube::core::{ApiResource, DynamicObject};
use operator_core::{Context, ResourceType, operations};

use super::{message, scene, under};

/// The error if it can't be read, `None` if it can.
fn refused<T: Debug>(read: Result<T, operations::Error>) -> Option<String> {
    read.err().map(|error| error.to_string())
}

/// The result of each way to read a `Secret`, and of some kinds that are watched.
fn said_of(context: &Context<TestResource>) -> Vec<Option<String>> {
    let key = ObjectKey::namespaced("default", "one");
    let (secrets, maps) = (ApiResource::erase::<Secret>(&()), ApiResource::erase::<ConfigMap>(&()));
    let (secrets, maps) =
        (ResourceType::with::<DynamicObject>(&secrets), ResourceType::with::<DynamicObject>(&maps));
    vec![
        refused(context.secondary::<Secret>()),
        refused(context.secondaries::<Secret>()),
        refused(context.secondary_named::<Secret>("one")),
        refused(context.get::<Secret>(&key)),
        refused(context.by_index::<Secret>("team", "blue")),
        refused(context.secondaries_of_kind::<DynamicObject>(&secrets)),
        refused(context.get_of_kind::<DynamicObject>(&secrets, &key)),
        // Watched as what it is not read as.
        refused(context.secondary::<ConfigMap>()),
        // Watched; by an inactive node; and as a kind that is known at run time only.
        refused(context.secondary::<Service>()),
        refused(context.secondaries_of_kind::<DynamicObject>(&maps)),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_nobody_watches_is_named_with_the_line_to_add() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        let said_of = said_of(context);
        Box::pin(async move { Ok(Said::status(said(serde_json::to_string(&said_of)?))) })
    });
    let maps = InformerEventSource::<DynamicObject>::of_type(ApiResource::erase::<ConfigMap>(&()));
    let controller = script.controller().owns::<Service>().watches(maps).namespaces([&scene.namespace]);
    let operator = under(&Faults::new([]), &scene, controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;

    let told: Vec<Option<String>> = serde_json::from_str(&message(&scene, "one").await?.unwrap_or_default())?;
    let refusal = |kind| {
        Some(format!(
            "the controller has no event source for {kind}; write `.owns::<{kind}>()` for those with an owner reference, `.refers_to::<{kind}>(…)` for those that the primary names, or `.watches(…)`"
        ))
    };
    let mut expected = vec![refusal("Secret"); 7];
    expected.extend([refusal("ConfigMap"), None, None]);
    assert_eq!(told, expected);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_kind_of_an_inactive_node_is_watched() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        let maps = context.secondaries::<ConfigMap>().map(|maps| maps.len());
        let map = context.secondary::<ConfigMap>().map(|map| map.is_some());
        Box::pin(async move { Ok(Said::status(said(format!("{} maps, one: {}", maps?, map?)))) })
    });
    let workflow = Workflow::builder().nodes((Child("child").node().needs(Switch::off()),));
    let controller = script.controller().workflow(workflow).namespaces([&scene.namespace]);
    let operator = under(&Faults::new([]), &scene, controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(message(&scene, "one").await?.as_deref(), Some("0 maps, one: false"));
    Ok(())
}
