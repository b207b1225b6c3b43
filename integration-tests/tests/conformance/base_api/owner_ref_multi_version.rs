//! An owner reference leads to its primary, whichever version it names: after the definition has got a new version,
//! which is the stored one from then on, and with the new version in the reference.

use integration_tests::prelude::*;
use operator_core::observe::{Cause, SourceIndex};

/// The version that the map's owner reference names.
async fn version(maps: &Api<ConfigMap>) -> Result<String> {
    let owners = maps.get("one").await?.metadata.owner_references.unwrap_or_default();
    Ok(owners.first().context("it has an owner")?.api_version.clone())
}

#[operator_test]
async fn a_reference_outlives_the_version_that_it_names() -> Result<()> {
    let (_turn, scene) = Scene::late("owner-ref-multi-version").await?;
    scene.install_crd().await?;
    let script = Script::new(|_, primary: Arc<LateTestResource>, context| {
        Box::pin(async move {
            if context.secondary::<ConfigMap>()?.is_none() {
                context.resource_operations().create(&config_map(&*primary, context, "made")).await?;
            }
            Ok(UpdateControl::no_update())
        })
    });
    let operator = scene.start(scene.controller(&script).owns::<ConfigMap>()).await?;
    scene.create("one", "first").await?;
    assert_eq!(operator.settled().await?.written(), ["POST configmaps/one -> 201"]);
    let maps = scene.api::<ConfigMap>();
    assert_eq!(version(&maps).await?, "late.conformance.operator-core.io/v1");
    assert_eq!(script.runs.count(), 1);

    // What happens to the map wakes its primary, which finds it.
    let woken_by = async |patch| {
        maps.patch("one", &PatchParams::default(), &Patch::Merge(patch)).await?;
        let settled = operator.settled().await?;
        assert_eq!(settled.runs, [(scene.key("one"), 1)].into());
        assert_eq!(settled.written(), [""; 0], "it is found");
        let last = script.runs.of("one").pop().context("it has run")?;
        assert_eq!(last.causes, Cause::Source(SourceIndex(0)).into());
        anyhow::Ok(())
    };
    scene.define(late_in_two_versions("v2")?).await?;
    operator.settled().await?;
    woken_by(json!({ "data": { "after": "the new version" } })).await?;

    // As an operator of the new version writes it.
    let mut owners = maps.get("one").await?.metadata.owner_references.unwrap_or_default();
    owners[0].api_version = "late.conformance.operator-core.io/v2".to_owned();
    woken_by(json!({ "metadata": { "ownerReferences": owners } })).await?;
    assert_eq!(version(&maps).await?, "late.conformance.operator-core.io/v2");
    woken_by(json!({ "data": { "after": "the new reference" } })).await?;
    Ok(())
}
