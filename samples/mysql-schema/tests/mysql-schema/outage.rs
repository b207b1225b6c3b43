//! The server is killed, and comes back.

use anyhow::Result;
use mysql_schema::server::Server;
use operator_core::testing::TestCluster;

use crate::scene::{Scene, on_both_servers, until};

async fn what_was_asked_for_while_the_server_was_down_is_done_when_it_is_back(
    cluster: TestCluster,
) -> Result<()> {
    let mut server = Server::start().await?;
    let scene = Scene::new(&cluster, &server).await?;
    let operator = scene.start().await?;
    let (old, kept) = (scene.create("old").await?, scene.create("kept").await?);
    scene.is_usable("old", None).await?;
    let credentials = scene.is_usable("kept", None).await?;

    server.kill().await?;
    let new = scene.create("new").await?;
    scene.delete("old").await?;
    until("a status that says why there is nothing yet", async || {
        let status = scene.schema("new").await.ok()?.status?;
        status.conditions.iter().any(|one| one.type_ == "Ready" && one.reason == "Failed").then_some(())
    })
    .await?;
    assert!(scene.credentials("new").await?.is_some(), "what needs no server is done");
    until("health that names the server", async || {
        let unhealthy = operator.unhealthy_sources().await;
        unhealthy.iter().any(|source| format!("{source:?}").contains("mysql")).then_some(())
    })
    .await?;
    assert!(
        scene.schema("old").await?.metadata.deletion_timestamp.is_some(),
        "it stays, as nobody can drop it"
    );

    server.resume().await?;
    scene.is_usable("new", None).await?;
    scene.is_gone("old").await?;
    assert_eq!(scene.in_server(&old).await?, (None, Vec::new()));
    assert_eq!(scene.in_server(&new).await?.1.len(), 1);
    assert_eq!(scene.is_usable("kept", None).await?, credentials, "nothing was made anew");
    assert_eq!(scene.in_server(&kept).await?.1, [credentials["username"].clone()]);
    operator.stop().await;
    Ok(())
}

on_both_servers!(what_was_asked_for_while_the_server_was_down_is_done_when_it_is_back);
