//! Others remove marks, add wrong ones, or make copies.

use integration_tests::prelude::*;
use operator_core::{Node, One, dependent::matcher::Matcher};

use super::{marks, pass, saying, scene, under};

/// Missing marks are restored by the next run, with one write.
async fn mended(map: Node<TestResource, One<ConfigMap>>, edits: &[Value]) -> Result<()> {
    let scene = scene().await?;
    let workflow = workflow_of_one(map)?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &workflow)).await?;
    scene.create("one", "first").await?;
    pass(10).await;
    let maps = scene.api::<ConfigMap>();
    let before = maps.get("one-a").await?;
    operator.settled().await?;
    for edit in edits {
        maps.patch("one-a", &PatchParams::default(), &Patch::Merge(edit)).await?;
        pass(10).await;
        let after = maps.get("one-a").await?;
        assert_eq!(marks(&after), marks(&before), "{edit}");
        assert_eq!(after.annotations(), before.annotations(), "{edit}");
        assert_eq!(after.owner_references(), before.owner_references(), "{edit}");
        let written = operator.settled().await?.written();
        let written: Vec<_> = written.iter().filter(|write| write.contains("configmaps")).collect();
        // Without the controller's label nobody sees it, and it is met when it is to be created.
        let met = usize::from(edit.pointer("/metadata/labels").is_some_and(hides));
        let (refused, done) = written.split_at(met);
        assert!(refused.iter().all(|write| *write == "PATCH configmaps/one-a -> 409"), "{edit}: {written:?}");
        assert_eq!(done, ["PATCH configmaps/one-a -> 200"], "{edit}: {written:?}");
    }
    Ok(())
}

/// Whether these labels, merged in, remove the controller's.
fn hides(labels: &Value) -> bool {
    labels.is_null() || labels.get("operator-core.io/controller").is_some_and(Value::is_null)
}

fn without(keys: &[&str]) -> Value {
    let labels: serde_json::Map<_, _> =
        keys.iter().map(|key| (format!("operator-core.io/{key}"), Value::Null)).collect();
    json!({ "metadata": { "labels": labels } })
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_of_the_marks_is_mended_in_the_next_run() -> Result<()> {
    let edits = [
        without(&["node"]),
        without(&["controller", "node"]),
        without(&["owner"]),
        without(&["controller", "node", "owner"]),
        json!({ "metadata": { "labels": null, "annotations": null } }),
        json!({ "metadata": { "annotations": { "operator-core.io/mark": "made up" } } }),
        json!({ "metadata": { "labels": { "operator-core.io/owner": "somebody" } } }),
        json!({ "metadata": { "ownerReferences": null } }),
    ];
    mended(wanted_map("a"), &edits).await?;
    // Nothing but the marks is what this matcher doesn't look at.
    let never = Matcher::custom(|_, _| true);
    mended(wanted_map("a").matcher(never), &edits[..3]).await
}

#[tokio::test(start_paused = true)]
async fn without_an_owner_reference_labels_or_annotations_are_enough() -> Result<()> {
    let edits = [
        without(&["node"]),
        without(&["controller", "node"]),
        json!({ "metadata": { "annotations": { "operator-core.io/mark": null } } }),
        without(&["controller", "node", "owner"]),
    ];
    mended(wanted_map("a").without_owner(), &edits).await
}

/// `kubectl get -o yaml | kubectl apply` under another name; an heir of the labels; an object whose labels were edited.
async fn foreign(scene: &Scene, original: &ConfigMap) -> Result<()> {
    let maps = scene.api::<ConfigMap>();
    let mut copy = original.clone();
    copy.metadata.name = Some("copy".to_owned());
    copy.metadata.resource_version = None;
    copy.metadata.uid = None;
    copy.metadata.managed_fields = None;
    maps.create(&PostParams::default(), &copy).await?;
    let mut heir = copy.clone();
    heir.metadata.name = Some("heir".to_owned());
    heir.metadata.annotations = None;
    heir.metadata.owner_references = None;
    maps.create(&PostParams::default(), &heir).await?;
    Ok(())
}

#[operator_test]
async fn copies_and_heirs_are_never_removed() -> Result<()> {
    let scene = Scene::new("marks-copies").await?;
    let workflow = workflow_of_one(node(counted_maps).without_owner())?;
    let operator = scene.start(scene.managed(&saying(), &workflow)).await?;
    scene.create("one", "3 a").await?;
    scene.until_values([("one-0", "a"), ("one-1", "a"), ("one-2", "a")]).await?;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    foreign(&scene, &maps.get("one-0").await?).await?;
    // Its mark is that of another object now.
    let edit = json!({ "metadata": { "annotations": { "operator-core.io/mark": "edited" } } });
    let values = json!({ "spec": { "value": "1 b" } });
    maps.patch("one-2", &PatchParams::default(), &Patch::Merge(edit)).await?;
    operator.settled().await?;
    scene.patch("one", values).await?;
    scene
        .until_other("the new value", "one-0", |map: &ConfigMap| {
            map.data.iter().flatten().any(|(_, of)| of == "b")
        })
        .await?;
    operator.settled().await?;
    let left =
        [("one-0", "b"), ("copy", "a"), ("heir", "a")].map(|(name, of)| (name.to_owned(), of.to_owned()));
    assert_eq!(scene.values().await?, left.into());
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(scene.values().await?.into_keys().collect::<Vec<_>>(), ["copy", "heir"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_another_object_controls_is_neither_written_nor_removed() -> Result<()> {
    let scene = scene().await?;
    scene.failures.expect("it is owned by Somebody theirs");
    let workflow = workflow_of_one(node(counted_maps).without_owner())?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &workflow)).await?;
    scene.create("one", "1 a").await?;
    pass(10).await;
    operator.settled().await?;
    let owner = json!([{ "apiVersion": "example.com/v1", "kind": "Somebody", "name": "theirs", "uid": "u-1",
        "controller": true }]);
    let patch =
        Patch::Merge(json!({ "metadata": { "ownerReferences": owner }, "data": { "value": "theirs" } }));
    scene.api::<ConfigMap>().patch("one-0", &PatchParams::default(), &patch).await?;
    pass(30).await;
    scene.set("one", "0 a").await?;
    pass(30).await;
    let written = operator.settled().await?.written();
    assert!(written.iter().all(|write| !write.contains("configmaps/one-0")), "{written:?}");
    assert_eq!(scene.values().await?, [("one-0".to_owned(), "theirs".to_owned())].into());
    Ok(())
}
