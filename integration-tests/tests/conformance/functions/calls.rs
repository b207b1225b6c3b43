//! Writes of a reconciler in one call each: it applies objects, and deletes them.

use integration_tests::prelude::*;
use operator_core::prelude::Context;

use super::{a_secret, says};

/// With the last word of the primary's value.
fn map(primary: &TestResource, cx: &Context<TestResource>) -> Result<ConfigMap> {
    let word = primary.spec.value.rsplit(' ').next().unwrap_or_default();
    let mut map =
        ConfigMap { data: Some([("word".to_owned(), word.to_owned())].into()), ..ConfigMap::default() };
    map.metadata.name = Some(format!("{}-map", primary.name_any()));
    map.metadata.namespace = primary.namespace();
    map.metadata.owner_references = Some(vec![cx.owner_reference(primary).context("it has a uid")?]);
    Ok(map)
}

/// A kind that the controller doesn't watch.
fn secret(primary: &TestResource) -> Secret {
    let mut secret = a_secret();
    secret.metadata.name = Some(format!("{}-keys", primary.name_any()));
    secret.metadata.namespace = primary.namespace();
    secret
}

fn script() -> Script {
    Script::new(|_, primary: Arc<TestResource>, cx| {
        Box::pin(async move {
            let map = map(&primary, cx)?;
            if says(&primary, "apply") {
                let applied = cx.apply(&map).await?.object()?;
                anyhow::ensure!(applied.data == map.data && applied.uid().is_some(), "{applied:?}");
                let read = cx.secondary::<ConfigMap>()?.context("the own write is read in the same run")?;
                anyhow::ensure!(read.resource_version() == applied.resource_version());
            }
            if says(&primary, "delete") {
                cx.delete(&map).await?;
            }
            if says(&primary, "unwatched") {
                let applied = cx.apply(&secret(&primary)).await.map(drop);
                let deleted = cx.delete(&secret(&primary)).await;
                for refused in [applied, deleted] {
                    let error = chain_of(&refused.err().context("nobody would see what becomes of it")?);
                    anyhow::ensure!(error.contains("Secret"), "{error}");
                }
            }
            Ok(UpdateControl::no_update())
        })
    })
}

#[operator_test]
async fn an_applied_object_is_as_it_was_given_and_the_write_wakes_nobody() -> Result<()> {
    let scene = Scene::new("calls-apply").await?;
    let operator = scene.start(scene.controller(&script()).owns::<ConfigMap>()).await?;
    let one = scene.create("one", "apply first").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH configmaps/one-map -> 201"]);
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "own writes wake nobody");
    let maps = scene.api::<ConfigMap>();
    let written = maps.get("one-map").await?;
    let owners: Vec<_> = written.owner_references().iter().map(|owner| Some(owner.uid.clone())).collect();
    assert_eq!(owners, [one.uid()], "the owner that the object names");
    assert!(
        written.labels().is_empty() && written.annotations().is_empty(),
        "no mark is put on: {written:?}"
    );

    scene.patch("one", json!({ "spec": { "value": "again apply first" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(
        (settled.written().len(), settled.runs_of(&scene.key("one"))),
        (0, 1),
        "it is as it should be"
    );

    scene.patch("one", json!({ "spec": { "value": "apply second" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH configmaps/one-map -> 200"]);
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "neither does a change");

    let others = Patch::Merge(json!({ "data": { "word": "theirs" } }));
    maps.patch("one-map", &PatchParams::default(), &others).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["PATCH configmaps/one-map -> 200"], "others' writes wake its primary");
    assert_eq!(maps.get("one-map").await?.data, Some([("word".to_owned(), "second".to_owned())].into()));
    Ok(())
}

#[operator_test]
async fn what_is_gone_counts_as_deleted_and_what_others_made_stays() -> Result<()> {
    let scene = Scene::new("calls-delete").await?;
    let operator = scene.start(scene.controller(&script()).owns::<ConfigMap>()).await?;
    scene.create("one", "apply first").await?;
    operator.settled().await?;

    scene.patch("one", json!({ "spec": { "value": "delete" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.written(), ["DELETE configmaps/one-map -> 200"]);
    assert_eq!(settled.runs_of(&scene.key("one")), 2, "the end of an object wakes its primary");
    let maps = scene.api::<ConfigMap>();
    assert!(maps.get_opt("one-map").await?.is_none());

    scene.patch("one", json!({ "spec": { "value": "delete again" } })).await?;
    let settled = operator.settled().await?;
    assert_eq!((settled.written().len(), settled.runs_of(&scene.key("one"))), (0, 1), "it is no error");

    let theirs = json!({ "metadata": { "name": "one-map" }, "data": { "word": "theirs" } });
    maps.create(&PostParams::default(), &serde_json::from_value(theirs)?).await?;
    scene.patch("one", json!({ "spec": { "value": "delete theirs" } })).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    assert!(maps.get_opt("one-map").await?.is_some(), "it only has the same name");
    Ok(())
}

#[operator_test]
async fn a_kind_that_nobody_watches_is_refused() -> Result<()> {
    let scene = Scene::new("calls-unwatched").await?;
    let script = script();
    let operator = scene.start(scene.controller(&script).owns::<ConfigMap>()).await?;
    scene.create("one", "unwatched").await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);
    assert_eq!(script.runs.count(), 1, "the run has looked at both errors");
    assert!(scene.api::<Secret>().get_opt("one-keys").await?.is_none());
    Ok(())
}
