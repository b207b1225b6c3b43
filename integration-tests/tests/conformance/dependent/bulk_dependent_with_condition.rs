//! A ready condition over all objects of a bulk dependent: the status says so once all of them exist.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use integration_tests::{Counted, Said, Scene, Script, TestResource, TestStatus, said};
use k8s_openapi::api::core::v1::ConfigMap;
use operator_core::{
    BoxError, Context, Workflow,
    dependent::bulk::BulkKubernetesDependent,
    testing::operator_test,
    workflow::{Condition, ConditionResult, Node, NodeView},
};

/// Met when all that should exist do.
struct Complete;

impl Condition<TestResource> for Complete {
    async fn check(
        &self,
        node: &NodeView<'_, TestResource>,
        primary: &Arc<TestResource>,
        context: &Context<TestResource>,
    ) -> Result<ConditionResult, BoxError> {
        let there = node.secondaries(primary, context).await?;
        assert!(there.iter().all(|one| one.get::<ConfigMap>().is_some()));
        let (wanted, _) = Counted::parse(&primary.spec.value);
        Ok(ConditionResult::when(there.len() == wanted, format!("{} of {wanted} exist", there.len())))
    }
}

#[operator_test]
async fn the_status_is_ready_once_all_config_maps_exist() -> Result<()> {
    let scene = Scene::new("bulk-dependent-with-condition").await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async {
            let result = context.workflow().result().context("the workflow has run before")?;
            let message = if result.all_ready() { "ready".to_owned() } else { result.to_string() };
            Ok(Said::patch_status(said(message)))
        })
    });
    let node = Node::new(BulkKubernetesDependent::new(Counted)).ready_postcondition(Complete);
    let workflow = Workflow::builder().node(node).build()?;
    let _operator = scene.start_managed(&script, &workflow).await?;
    scene.create("one", "5 first").await?;
    let ready = TestStatus { message: Some("ready".to_owned()), ..TestStatus::default() };
    scene.until("the status to be ready", "one", |one| one.status.as_ref() == Some(&ready)).await?;
    assert_eq!(scene.values().await?.len(), 5);
    Ok(())
}
