//! Servers that crash and come back.

use anyhow::Result;
use integration_tests::{Scene, test_resource};
use operator_core::testing::{Part, Profile, TestCluster};

use super::{keeper, keeping, kept, says};

test_resource!("servers.faults.operator-core.io", namespaced);

#[tokio::test(flavor = "multi_thread")]
async fn f37_crashes_of_the_api_server_and_of_etcd_are_survived_without_a_restart() -> Result<()> {
    let cluster = TestCluster::new(Profile::ApiServer.builder().start().await?);
    let scene = Scene::<TestResource>::on(cluster, "f37").await?;
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
