//! Types and rights that appear later.

use integration_tests::prelude::*;
use k8s_openapi::{
    api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::api::{ApiResource, DynamicObject, ObjectMeta};
use operator_core::{
    ResourceType, WatchScope, bench::InformerSettings, observe::SourceHealth, resource::KubeObject,
};

use super::{Running, create, settings};

/// The API group of a definition that nobody else has.
const GROUP: &str = "late.cache.operator-core.io";

/// The definition of a test resource in that group.
fn definition() -> CustomResourceDefinition {
    let mut definition = TestResource::crd();
    definition.metadata.name = Some(format!("{}.{GROUP}", TestResource::plural(&())));
    definition.spec.group = GROUP.to_owned();
    definition
}

/// Waits until the informer says what is wrong; gives the advice.
async fn advice<K: KubeObject>(running: &Running<K>) -> Result<String> {
    eventually("the trouble to be told", async || match running.informer.health() {
        SourceHealth::Unhealthy { advice, .. } => Ok(Some(advice.unwrap_or_default())),
        SourceHealth::Syncing => Ok(None),
        SourceHealth::Healthy => bail!("it can't be healthy"),
    })
    .await
}

#[operator_test]
async fn a_type_that_is_installed_later_is_followed() -> Result<()> {
    let cluster = cluster().await?;
    let namespace = cluster.namespace("cache-late").await?;
    let client = cluster.client()?;
    let kind = ApiResource {
        group: GROUP.to_owned(),
        api_version: format!("{GROUP}/v1"),
        ..ApiResource::erase::<TestResource>(&())
    };
    let mut settings = InformerSettings::new("late", ResourceType::with::<DynamicObject>(&kind));
    settings.scope = WatchScope::Namespaces([namespace.clone()].into());
    let running = Running::<DynamicObject>::start(settings, client.clone());
    let advice = advice(&running).await?;
    assert!(advice.contains("install the CustomResourceDefinition `testresources.late"), "{advice}");

    cluster.install_crds([definition()]).await?;
    let api: Api<DynamicObject> = Api::namespaced_with(client, &namespace, &kind);
    let one = DynamicObject::new("one", &kind).data(json!({ "spec": { "value": "first" } }));
    api.create(&PostParams::default(), &one).await?;
    running.synced().await?;
    running.caught_up().await?;
    assert_eq!(running.told.take(), ["+one"]);
    assert_eq!(running.informer.health(), SourceHealth::Healthy);
    Ok(())
}

#[operator_test]
async fn a_right_that_is_granted_later_is_used() -> Result<()> {
    let cluster = cluster().await?;
    let namespace = cluster.namespace("cache-rights").await?;
    let client = cluster.client()?;
    create(&Api::namespaced(client.clone(), &namespace), "a", "a").await?;
    let user = format!("reader-of-{namespace}");
    let running = Running::<ConfigMap>::start(settings("rights", &[&namespace]), cluster.client_as(&user)?);
    let advice = advice(&running).await?;
    assert_eq!(advice, format!("grant list and watch on configmaps in namespace {namespace} to {user}"));

    let metadata = ObjectMeta { name: Some("reader".to_owned()), ..ObjectMeta::default() };
    let rule = PolicyRule {
        api_groups: Some(vec![String::new()]),
        resources: Some(vec!["configmaps".to_owned()]),
        verbs: vec!["list".to_owned(), "watch".to_owned()],
        ..PolicyRule::default()
    };
    let role = Role { metadata: metadata.clone(), rules: Some(vec![rule]) };
    let binding = RoleBinding {
        metadata,
        role_ref: RoleRef {
            api_group: Some("rbac.authorization.k8s.io".to_owned()),
            kind: "Role".to_owned(),
            name: "reader".to_owned(),
        },
        subjects: Some(vec![Subject { kind: "User".to_owned(), name: user, ..Subject::default() }]),
    };
    Api::<Role>::namespaced(client.clone(), &namespace).create(&PostParams::default(), &role).await?;
    Api::<RoleBinding>::namespaced(client, &namespace).create(&PostParams::default(), &binding).await?;
    running.synced().await?;
    assert_eq!(running.told.take(), ["+a"]);
    assert_eq!(running.informer.health(), SourceHealth::Healthy);
    let maps = running.informer.list();
    assert_eq!(maps.iter().filter_map(|map| map.metadata.name.as_deref()).collect::<Vec<_>>(), ["a"]);
    Ok(())
}
