//! Objects without a namespace, of a primary that has one and so can't own them.

use integration_tests::prelude::*;
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::Api;
use operator_core::Wire as _;

fn role(one: &TestResource) -> ClusterRole {
    let mut role = ClusterRole::default();
    role.metadata.name = Some(format!("{}-{}", one.namespace().unwrap_or_default(), one.name_any()));
    role
}

fn behind(one: &TestResource) -> ConfigMap {
    map_of(one, "behind", &one.spec.value)
}

#[operator_test]
async fn they_go_with_their_primary_without_a_further_word() -> Result<()> {
    let scene = Scene::new("without-namespace").await?;
    let workflow = Workflow::builder().nodes((role, behind.after(role))).build()?;
    assert!(workflow.to_mermaid().contains("without owner"), "{}", workflow.to_mermaid());
    let operator = scene.start(scene.managed(&Script::idle(), &workflow)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let roles = Api::<ClusterRole>::all(scene.client.clone());
    let name = format!("{}-one", scene.namespace);
    let made = roles.get(&name).await?;
    assert!(made.owner_references().is_empty());
    let one = scene.resources.get("one").await?;
    assert!(!one.finalizers().is_empty(), "nobody else deletes it");

    scene.delete("one").await?;
    operator.settled().await?;
    eventually("the end", async || Ok(scene.resources.get_opt("one").await?.is_none().then_some(()))).await?;
    assert!(roles.get_opt(&name).await?.is_none());
    Ok(())
}
