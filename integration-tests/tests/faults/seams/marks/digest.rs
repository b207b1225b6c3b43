//! The digest of what was applied last, in the mark.

use anyhow::{Context as _, Result};
use integration_tests::{Scene, TestResource, meta_of, wanted, wanted_map, workflow_of_one};
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};
use kube::{
    Resource, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_core::{resource::MarkNames, testing::operator_test};
use serde_json::json;

use super::saying;

const NOTHING: [&str; 0] = [];
const APPLIED: [&str; 1] = ["PATCH configmaps/one-a -> 200"];

fn mark(object: &impl Resource) -> Result<String> {
    let mark = object.annotations().get(MarkNames::default().mark());
    mark.cloned().context("it has no mark")
}

/// Changes the map under the name of the manager that has applied it, which then owns the same as before.
async fn edited_as_its_manager(scene: &Scene, edit: impl FnOnce(&mut ConfigMap)) -> Result<()> {
    let maps = scene.api::<ConfigMap>();
    let mut map = maps.get("one-a").await?;
    let managed = map.metadata.managed_fields.take().unwrap_or_default();
    let manager = managed.into_iter().find_map(|entry| entry.manager).context("it was applied")?;
    map.metadata.resource_version = None;
    edit(&mut map);
    maps.patch("one-a", &PatchParams::apply(&manager).force(), &Patch::Apply(map)).await?;
    Ok(())
}

/// For any content of the mark, and any writer.
#[operator_test]
async fn what_does_not_say_that_it_was_applied_is_applied_once() -> Result<()> {
    let scene = Scene::new("digest-edited").await?;
    let operator = scene.start(scene.managed(&saying(), &workflow_of_one(wanted_map("a"))?)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let ours = mark(&scene.api::<ConfigMap>().get("one-a").await?)?;
    let whose = ours.rsplit_once('.').context("it has several parts")?.0;
    for edited in [whose.to_owned(), format!("{whose}.0123456789abcdef")] {
        edited_as_its_manager(&scene, |map| {
            map.annotations_mut().insert(MarkNames::default().mark().to_owned(), edited.clone());
        })
        .await?;
        assert_eq!(operator.settled().await?.written(), APPLIED, "{edited}");
        assert_eq!(mark(&scene.api::<ConfigMap>().get("one-a").await?)?, ours);
    }
    Ok(())
}

/// Ownership says nothing about values, and the mark is right.
#[operator_test]
async fn an_edit_under_the_manager_s_own_name_is_seen_when_something_else_is_wanted() -> Result<()> {
    let scene = Scene::new("digest-unseen").await?;
    let operator = scene.start(scene.managed(&saying(), &workflow_of_one(wanted_map("a"))?)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    edited_as_its_manager(&scene, |map| {
        map.data.get_or_insert_default().insert("value".to_owned(), "edited".to_owned());
    })
    .await?;
    assert_eq!(operator.settled().await?.written(), NOTHING);
    scene.set("one", "second").await?;
    let written = operator.settled().await?.written();
    assert!(written.iter().any(|write| write == APPLIED[0]), "{written:?}");
    let map = scene.api::<ConfigMap>().get("one-a").await?;
    assert_eq!(map.data.unwrap_or_default()["value"], "second");
    Ok(())
}

/// A digest of its values would be a hint for everyone who may see the annotation.
#[operator_test]
async fn the_mark_of_a_secret_says_nothing_about_its_values_which_are_kept_all_the_same() -> Result<()> {
    let scene = Scene::new("digest-secret").await?;
    let secret = |primary: &TestResource| Secret {
        metadata: meta_of(primary, "a"),
        data: Some([("a".to_owned(), ByteString(primary.spec.value.clone().into()))].into()),
        string_data: Some([("b".to_owned(), primary.spec.value.clone())].into()),
        ..Secret::default()
    };
    let operator = scene.start(scene.managed(&saying(), &workflow_of_one(wanted("a", secret))?)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let secrets = scene.api::<Secret>();
    let is_kept = async |value: &str| -> Result<String> {
        let secret = secrets.get("one-a").await?;
        let kept: Vec<_> = secret.data.iter().flatten().map(|(_, kept)| kept.0.clone()).collect();
        assert_eq!(kept, [value.as_bytes(); 2]);
        mark(&secret)
    };
    let first = is_kept("first").await?;
    scene.set("one", "second").await?;
    let written = operator.settled().await?.written();
    assert!(written.iter().any(|write| write == "PATCH secrets/one-a -> 200"), "{written:?}");
    assert_eq!(is_kept("second").await?, first);
    for key in ["a", "b"] {
        let edit = json!({ "stringData": { key: "somebody's" } });
        secrets.patch("one-a", &PatchParams::default(), &Patch::Merge(edit)).await?;
        assert_eq!(operator.settled().await?.written(), ["PATCH secrets/one-a -> 200"], "{key}");
        is_kept("second").await?;
        let label = json!({ "metadata": { "labels": { "somebody": key } } });
        secrets.patch("one-a", &PatchParams::default(), &Patch::Merge(label)).await?;
        assert_eq!(operator.settled().await?.written(), NOTHING, "{key}");
    }
    Ok(())
}
