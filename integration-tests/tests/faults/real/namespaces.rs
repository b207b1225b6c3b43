//! Namespaces that end with primaries in them.

use anyhow::Result;
use integration_tests::{Audit, Scene, eventually, test_resource};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, api::DeleteParams};
use operator_core::testing::TestOperator;

use super::{keeper, keeping, kept};

test_resource!("namespaces.faults.operator-core.io", namespaced);

#[tokio::test(flavor = "multi_thread")]
async fn f30_primaries_of_a_namespace_that_ends_are_cleaned_up_and_nothing_is_made_there() -> Result<()> {
    let scene = Scene::<TestResource>::new("f30").await?;
    let script = keeping();
    let (builder, mut audit): (_, Audit) = scene.audited().await?;
    let operator = TestOperator::start(builder.register(keeper(&scene, &script)?.with_cleaner())?).await?;
    for name in ["one", "two", "three"] {
        scene.create(name, "first").await?;
        kept(&scene, name, "first").await?;
    }
    operator.settled().await?;
    audit.calls().await?;

    let namespaces = Api::<Namespace>::all(scene.client.clone());
    namespaces.delete(&scene.namespace, &DeleteParams::default()).await?;
    eventually("the namespace to be gone, which it is after its last object", async || {
        Ok(namespaces.get_opt(&scene.namespace).await?.is_none().then_some(()))
    })
    .await?;
    operator.settled().await?;
    assert_eq!(script.cleanups.count(), 3, "each primary was cleaned up, once");
    let calls = audit.calls().await?;
    let attempts: Vec<_> = calls.events().iter().filter(|call| call.resource == "configmaps").collect();
    let attempts: Vec<_> =
        attempts.iter().filter(|call| matches!(&*call.verb, "create" | "patch" | "update")).collect();
    // The config maps may be deleted before their primaries are: then a run may try to bring one back. It is told why that
    // can't be, and doesn't try again.
    assert!(attempts.len() <= 3, "{attempts:#?}");
    assert!(attempts.iter().all(|call| call.code == 403), "{attempts:#?}");
    Ok(())
}
