//! Namespaces that end with primaries in them.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use operator_core::operator::Stopped;

use super::{keeper, keeping, kept, rights::token};

#[operator_test]
async fn f30_primaries_of_a_namespace_that_ends_are_cleaned_up_and_nothing_is_made_there() -> Result<()> {
    let scene = Scene::new("f30").await?;
    // Whether a run is quicker than the end of the namespace is chance.
    scene.failures.allow("its namespace is being terminated");
    let script = keeping();
    let (builder, mut audit): (_, Audit) = scene.audited().await?;
    let operator = TestOperator::start(builder.register(keeper(&scene, &script)?.cleaner(true))).await?;
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

#[operator_test(real = "a control plane")]
async fn f31_an_operator_whose_own_namespace_is_deleted_ends_well_when_it_is_told_to() -> Result<()> {
    let scene = Scene::new("f31-own").await?;
    // Whether a run is quicker than the end of the namespace is chance.
    scene.failures.allow("its namespace is being terminated");
    // Its rights and its account go as well.
    scene.failures.allow("(403 Forbidden)");
    scene.failures.allow("(401 Unauthorized)");
    let user = format!("system:serviceaccount:{}:operator", scene.namespace);
    let all = |group: &str, resources: &[&str]| json!({ "apiGroups": [group], "resources": resources, "verbs": ["*"] });
    scene.grant("primaries", &user, &all(GROUP, &["testresources", "testresources/status"])).await?;
    scene.grant("maps", &user, &all("", &["configmaps"])).await?;
    let accounts = scene.api::<ServiceAccount>();
    let account = serde_json::from_value(json!({ "metadata": { "name": "operator" } }))?;
    accounts.create(&PostParams::default(), &account).await?;
    let mut config = scene.cluster.control_plane()?.config();
    config.auth_info = serde_json::from_value(json!({ "token": token(&accounts, None).await? }))?;
    let script = keeping();
    let builder = scene.operator().config(config.clone());
    let operator = TestOperator::start(builder.register(keeper(&scene, &script)?.cleaner(true))).await?;
    for name in ["one", "two"] {
        scene.create(name, "first").await?;
        kept(&scene, name, "first").await?;
    }
    operator.settled().await?;

    let namespaces = Api::<Namespace>::all(scene.client.clone());
    namespaces.delete(&scene.namespace, &DeleteParams::default()).await?;
    // Its rights go with the namespace, and so does its account.
    let maps = Api::<ConfigMap>::namespaced(Client::try_from(config)?, &scene.namespace);
    eventually("its credentials to be refused", async || {
        let refused = maps.list(&ListParams::default()).await.err();
        Ok(matches!(refused, Some(kube::Error::Api(status)) if matches!(status.code, 401 | 403))
            .then_some(()))
    })
    .await?;
    assert_eq!(operator.stop().await, Stopped::Drained);

    // What could not be cleaned up any more keeps its finalizer, and with it the namespace, until somebody takes it off.
    for left in scene.resources.list(&ListParams::default()).await? {
        assert!(!left.finalizers().is_empty(), "only its finalizer keeps {}", left.name_any());
        let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
        scene.resources.patch(&left.name_any(), &PatchParams::default(), &patch).await?;
    }
    eventually("the namespace to be gone", async || {
        Ok(namespaces.get_opt(&scene.namespace).await?.is_none().then_some(()))
    })
    .await?;
    Ok(())
}
