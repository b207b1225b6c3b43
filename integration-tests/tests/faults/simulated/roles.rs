//! A namespace whose roles are deleted before the operator is done there.

use integration_tests::prelude::*;
use k8s_openapi::api::{
    core::v1::Namespace,
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use operator_core::environment::Environment;
use tracing::Level;

use super::{keeper, rest, saying, scene};

/// A role binding has no finalizer, so it goes at once, while the primaries wait for the removal of theirs.
#[tokio::test(start_paused = true)]
async fn f30_where_the_roles_go_before_the_primaries_clean_ups_wait_for_a_right_and_nothing_is_made()
-> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = scene().await?;
    let user = "the-operator";
    let resources = ["testresources", "testresources/status"];
    let primaries = json!({ "apiGroups": [GROUP], "resources": resources, "verbs": ["*"] });
    scene.grant("primaries", user, &primaries).await?;
    let maps = json!({ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"] });
    scene.grant("maps", user, &maps).await?;
    let script = saying();
    let builder = scene.operator().config(scene.cluster.config_as(user, &[]));
    let builder = builder.environment(|| Environment::real().with_seed(1)).register(keeper(&scene, &script)?);
    let operator = TestOperator::start(builder).await?;
    for name in ["one", "two"] {
        scene.create(name, "first").await?;
    }
    rest(&operator).await?;

    let asked = scene.cluster.audit()?.len();
    let namespaces = Api::<Namespace>::all(scene.client.clone());
    namespaces.delete(&scene.namespace, &DeleteParams::default()).await?;
    tokio::time::sleep(Duration::from_secs(600)).await;
    for name in ["one", "two"] {
        let one = scene.resources.get(name).await?;
        assert!(one.metadata.deletion_timestamp.is_some() && !one.finalizers().is_empty(), "{name} waits");
    }
    let events = scene.cluster.audit()?.split_off(asked);
    let theirs =
        || events.iter().filter(|event| event.user == user && event.verb != "list" && event.verb != "watch");
    assert!(theirs().all(|event| event.code == 403), "all rights are gone");
    let attempts = theirs().filter(|event| event.resource == "testresources").count();
    assert!((2..=100).contains(&attempts), "{attempts} attempts for two primaries in ten minutes");
    let made = theirs().filter(|event| event.resource == "configmaps" && event.verb != "delete").count();
    assert_eq!(made, 0, "nobody tries to make anything there");
    let told = log.lines(Level::WARN).into_iter().chain(log.lines(Level::ERROR));
    let rule = format!("User \"{user}\" cannot");
    assert!(
        told.into_iter().any(|line| line.fields.values().any(|text| text.contains(&rule))),
        "the rule is named"
    );

    // Nothing can be made in the namespace any more, but somebody may give the right for the whole cluster.
    let role: ClusterRole =
        serde_json::from_value(json!({ "metadata": { "name": user }, "rules": [primaries, maps] }))?;
    let binding: ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": { "name": user },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
    }))?;
    Api::all(scene.client.clone()).create(&PostParams::default(), &role).await?;
    Api::all(scene.client.clone()).create(&PostParams::default(), &binding).await?;
    tokio::time::sleep(Duration::from_secs(330)).await;
    assert!(
        namespaces.get_opt(&scene.namespace).await?.is_none(),
        "all is cleaned up, and the namespace gone"
    );
    operator.stop().await;
    Ok(())
}
