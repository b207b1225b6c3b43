//! `run --namespaces`: the operator works there, and looks nowhere else.

use super::Scene;
use crate::support::{Running, webpage};

#[tokio::test]
async fn an_operator_works_only_in_the_namespaces_that_it_is_told() -> anyhow::Result<()> {
    let (first, second, other) = (Scene::new().await?, Scene::new().await?, Scene::new().await?);
    for scene in [&other, &first, &second] {
        scene.create("page", "<p>first</p>").await?;
    }
    let namespaces = format!("{},{}", first.namespace, second.namespace);
    let mut command = webpage(&["run", "--namespaces", &namespaces]);
    command.env("KUBECONFIG", first.kubeconfig.path()).env("RUST_LOG", "info");
    let mut run = Running::start(command)?;
    run.says("all caches are synced").await?;
    let said = run.said.first().cloned().unwrap_or_default();
    assert!(said.ends_with(&format!("only in: {}, {}", first.namespace, second.namespace)), "{said}");
    for scene in [&first, &second] {
        scene.is_complete("page", "<p>first</p>").await?;
    }
    run.signal("TERM").await?;
    assert_eq!(run.ended().await?.code(), Some(0), "{:#?}", run.said);

    assert_eq!(other.children().await?, [] as [serde_json::Value; 0]);
    let own = [&first, &second].map(|scene| format!("/namespaces/{}/", scene.namespace));
    let kinds = ["webpages", "configmaps", "deployments", "services", "ingresses"];
    let sent = first.gateway.sent();
    let elsewhere: Vec<_> = sent
        .iter()
        .filter(|sent| kinds.iter().any(|kind| sent.path.contains(kind)))
        .filter(|sent| !own.iter().any(|namespace| sent.path.contains(namespace)))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
    Ok(())
}

#[tokio::test]
async fn a_namespace_without_a_name_is_wrong_use() -> anyhow::Result<()> {
    for namespaces in ["", "shop,,bank"] {
        let output = webpage(&["run", "--namespaces", namespaces]).output().await?;
        assert_eq!(output.status.code(), Some(64), "{namespaces:?}");
    }
    Ok(())
}
