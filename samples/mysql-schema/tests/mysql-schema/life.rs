//! The life of a schema; its password is in its Secret and in nothing that is shown.

use anyhow::Result;
use integration_tests::LogText;
use k8s_openapi::api::core::v1::{Event, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use mysql_async::{Conn, prelude::Queryable};
use operator_core::testing::TestCluster;
use serde_json::json;

use crate::scene::{Scene, on_both_servers, server, until};

async fn a_schema_lives_and_dies_and_its_password_is_shown_nowhere(cluster: TestCluster) -> Result<()> {
    let (log, _guard) = LogText::start();
    let scene = Scene::new(&cluster, server().await?).await?;
    let operator = scene.start().await?;
    Box::pin(scene.life()).await?;

    // Under the name that was free again. A garbage collector looks for new kinds every 30 s, so it would take as long.
    let name = &*scene.name;
    scene.api::<Secret>()?.delete(&format!("{name}-credentials"), &DeleteParams::default()).await.ok();
    let kept = scene.create(name).await?;
    let found = scene.is_usable(name, None).await?;
    // Changes by others in the server are noticed by a check, without any event in the cluster.
    let mut by_hand = Conn::new(scene.admin.clone()).await?;
    by_hand.query_drop(format!("DROP USER '{}'@'%'", found["username"])).await?;
    assert_eq!(scene.is_usable(name, None).await?, found, "the same user with the same password");

    // An edited Secret causes no statement in the server.
    let evil = "x' OR '1' = '1";
    let patch = Patch::Merge(json!({ "stringData": { "username": evil } }));
    scene.api::<Secret>()?.patch(&format!("{name}-credentials"), &PatchParams::default(), &patch).await?;
    until("an error in the status", async || {
        let status = scene.schema(name).await.ok()?.status?;
        let told = |text: &str| text.contains("the username in the Secret is not one that was generated");
        status.conditions.iter().any(|one| told(&one.message)).then_some(())
    })
    .await?;
    let (encoding, users) = scene.in_server(&kept).await?;
    assert_eq!((encoding.as_deref(), users), (Some("utf8mb4"), vec![found["username"].clone()]));

    log.add(&serde_json::to_string(&scene.schema(name).await?)?);
    if !cluster.is_in_process() {
        let events = scene.api::<Event>()?.list(&ListParams::default()).await?;
        log.add(&serde_json::to_string(&events)?);
    }
    operator.stop().await;
    let text = log.text();
    assert!(text.contains("TRACE"), "everything is in the log");
    let password = &found["password"];
    let encoded = k8s_openapi::ByteString(password.clone().into_bytes());
    let encoded = serde_json::to_string(&encoded)?;
    for canary in [password.as_str(), encoded.trim_matches('"')] {
        let shown: Vec<&str> = text.lines().filter(|line| line.contains(canary)).collect();
        assert!(shown.is_empty(), "{shown:#?}");
    }
    Ok(())
}

on_both_servers!(a_schema_lives_and_dies_and_its_password_is_shown_nowhere);
