//! A bulk node with an activation condition is to be deleted in the very first run, because the precondition of a node
//! that it depends on isn't met: its event source doesn't run yet, which is waited for, and isn't an error.

use integration_tests::prelude::*;

fn secrets(primary: &TestResource) -> Result<Vec<Secret>, BoxError> {
    let secret = |n: usize| {
        let mut secret = Secret::default();
        secret.metadata.name = Some(format!("{}-{n}", primary.name_any()));
        secret.metadata.namespace = primary.namespace();
        secret
    };
    Ok((0..2).map(secret).collect())
}

#[operator_test]
async fn what_was_never_there_is_deleted_without_an_error() -> Result<()> {
    let scene = Scene::new("bulk-activation-condition").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let parent = Child("parent").only_if(|primary| primary.spec.value == "on");
    let bulk = node(secrets).named("bulk").requires(&parent).needs(Switch::on());
    let workflow = Workflow::builder().nodes((parent, bulk)).build()?;
    let controller = script.controller().workflow(&workflow);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "off").await?;
    let first = operator.settled().await?;
    assert_eq!(outcomes.lines("one"), ["parent: deleted", "bulk: deleted"]);
    assert_eq!((first.written().len(), script.runs.count()), (0, 2), "the second run is that of the sync");

    scene.patch("one", json!({ "spec": { "value": "on" } })).await?;
    assert_eq!(operator.settled().await?.written().len(), 3, "a map and two secrets");
    scene.patch("one", json!({ "spec": { "value": "off" } })).await?;
    let deleted = operator.settled().await?.written();
    assert!(deleted.len() >= 3 && deleted.iter().all(|write| write.starts_with("DELETE")), "{deleted:?}");
    assert!(scene.api::<ConfigMap>().get_opt("one-parent").await?.is_none());
    let secrets = scene.api::<Secret>().list(&Default::default()).await?;
    assert!(secrets.items.is_empty());
    Ok(())
}
