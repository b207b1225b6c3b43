//! Servers that crash and come back.

use integration_tests::prelude::*;
use kube::api::VersionMatch;
use operator_core::testing::{Part, Profile, Proxy};

use super::{keeper, keeping, kept, says};

#[operator_test(real = "a control plane")]
async fn f37_crashes_of_the_api_server_and_of_etcd_are_survived_without_a_restart() -> Result<()> {
    let cluster = TestCluster::own(Profile::ApiServer.builder()).await?;
    let scene = Scene::<TestResource>::on(cluster, "f37").await?;
    // Whether a run meets a server that has crashed is chance.
    scene.failures.allow("the api server refused");
    scene.failures.allow("no answer");
    scene.install_crd().await?;
    let script = keeping();
    let operator = scene.start(keeper(&scene, &script)?).await?;
    scene.create("one", "first").await?;
    kept(&scene, "one", "first").await?;
    operator.settled().await?;

    let plane = scene.cluster.control_plane()?;
    for part in [Part::ApiServer, Part::Etcd] {
        plane.kill_part(part).await?;
        plane.start_part(part).await?;
        let value = format!("after the crash of {part}");
        scene.set("one", &value).await?;
        kept(&scene, "one", &value).await?;
        says(&scene, "one", &value).await?;
        scene.create(&format!("born-after-{part}"), "new").await?;
        kept(&scene, &format!("born-after-{part}"), "new").await?;
    }
    operator.settled().await?;
    assert!(operator.unhealthy_sources().await.is_empty());
    assert_eq!(script.runs.overlapping(), std::collections::BTreeSet::new());
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn f37_what_happened_before_a_compaction_is_found_by_a_list() -> Result<()> {
    // Without its cache of watches the server asks etcd, which has forgotten what is compacted.
    let plane = Profile::ApiServer.builder();
    let plane = plane.flag(Part::ApiServer, "--watch-cache=false");
    let plane = plane.flag(Part::ApiServer, "--etcd-compaction-interval=1s");
    let scene = Scene::<TestResource>::on(TestCluster::own(plane).await?, "f37").await?;
    scene.install_crd().await?;
    let proxy = Proxy::start(scene.cluster.control_plane()?).await?;
    let script = keeping();
    let builder = scene.operator().config(proxy.config()).register(keeper(&scene, &script)?);
    let operator = TestOperator::start(builder).await?;
    for name in ["one", "two"] {
        scene.create(name, "first").await?;
        kept(&scene, name, "first").await?;
    }
    operator.settled().await?;

    proxy.refuse(true);
    proxy.reset();
    let version = scene.resources.list(&ListParams::default()).await?.metadata.resource_version;
    let version = version.context("a list has a version")?;
    scene.set("one", "second").await?;
    scene.delete("two").await?;
    scene.create("three", "first").await?;
    eventually("the versions up to then to be compacted", async || {
        let then = ListParams::default().at(&version).matching(VersionMatch::Exact);
        let refused = scene.resources.list(&then).await.err();
        Ok(matches!(refused, Some(kube::Error::Api(status)) if status.code == 410).then_some(()))
    })
    .await?;
    proxy.refuse(false);
    kept(&scene, "one", "second").await?;
    kept(&scene, "three", "first").await?;
    operator.settled().await?;
    assert_eq!(operator.operator().footprint().await.primaries, 2, "the end of the third was seen");
    assert!(operator.unhealthy_sources().await.is_empty());
    Ok(())
}
