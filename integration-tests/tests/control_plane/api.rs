//! The API server that tests share: RBAC, namespaces, CRDs, YAML and the audit log.

use futures::future::try_join;
use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Namespace;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::eventually;

#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(group = "crds.control-plane.test", version = "v1", kind = "Gadget", namespaced)]
struct GadgetSpec {
    size: u32,
}

/// Whether the answer is a refusal by RBAC.
fn is_forbidden<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> bool {
    matches!(result, Err(kube::Error::Api(status)) if status.code == 403)
}

#[tokio::test]
async fn it_is_ready_and_names_its_version() {
    let cluster = TestCluster::shared().await.unwrap();
    let request = http::Request::get("/readyz").body(Vec::new()).unwrap();
    assert_eq!(cluster.client().unwrap().request_text(request).await.unwrap(), "ok");
    assert!(
        cluster.control_plane().unwrap().version().starts_with("v1."),
        "{}",
        cluster.control_plane().unwrap().version()
    );
}

#[tokio::test]
async fn nobody_may_do_anything_until_a_role_binding_says_so() {
    let cluster = TestCluster::shared().await.unwrap();
    let namespace = cluster.namespace("rbac").await.unwrap();
    let account = format!("system:serviceaccount:{namespace}:reader");
    let maps = Api::<ConfigMap>::namespaced(cluster.client_as(&account).unwrap(), &namespace);
    assert!(is_forbidden(maps.list(&ListParams::default()).await));

    let binding = format!(
        "apiVersion: rbac.authorization.k8s.io/v1\n\
         kind: RoleBinding\n\
         metadata: {{ name: reader }}\n\
         roleRef: {{ apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }}\n\
         subjects: [{{ kind: ServiceAccount, name: reader, namespace: {namespace} }}]\n"
    );
    cluster.apply_yaml(&namespace, &binding).await.unwrap();
    eventually("the reader may read", || async { maps.list(&ListParams::default()).await.ok() }).await;
    assert!(
        is_forbidden(maps.create(&PostParams::default(), &config_map("new")).await),
        "a reader must not write"
    );
}

#[tokio::test]
async fn every_namespace_is_a_new_one() {
    let cluster = TestCluster::shared().await.unwrap();
    let (one, two) = try_join(cluster.namespace("same"), cluster.namespace("same")).await.unwrap();
    assert_ne!(one, two);
    assert!(one.starts_with("same-") && two.starts_with("same-"), "{one} {two}");
    let namespaces = Api::<Namespace>::all(cluster.client().unwrap());
    assert_eq!(namespaces.get(&one).await.unwrap().name_any(), one);
}

#[tokio::test]
async fn a_crd_is_served_when_it_is_installed() {
    let cluster = TestCluster::shared().await.unwrap();
    let namespace = cluster.namespace("crds").await.unwrap();
    // Twice at once, as two tests of a binary would.
    try_join(cluster.install_crds([Gadget::crd()]), cluster.install_crds([Gadget::crd()])).await.unwrap();
    let gadgets = Api::<Gadget>::namespaced(cluster.client().unwrap(), &namespace);
    let gadget = Gadget::new("first", GadgetSpec { size: 3 });
    gadgets.create(&PostParams::default(), &gadget).await.unwrap();
    assert_eq!(gadgets.get("first").await.unwrap().spec.size, 3);
}

#[tokio::test]
async fn yaml_documents_are_applied_where_they_belong() {
    let cluster = TestCluster::shared().await.unwrap();
    let (here, there) = try_join(cluster.namespace("here"), cluster.namespace("there")).await.unwrap();
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: one }}\ndata: {{ key: value }}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: two, namespace: {there} }}\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{ name: {here} }}\nrules: []\n"
    );
    // A second time changes nothing.
    cluster.apply_yaml(&here, &text).await.unwrap();
    let applied = cluster.apply_yaml(&here, &text).await.unwrap();
    let places: Vec<_> = applied.iter().map(|object| (object.name_any(), object.namespace())).collect();
    let wanted = [("one", Some(&here)), ("two", Some(&there)), (here.as_str(), None)];
    assert_eq!(places, wanted.map(|(name, namespace)| (name.to_owned(), namespace.cloned())));
    assert!(
        cluster
            .apply_yaml(&here, "kind: Missing\napiVersion: no.such/v1\nmetadata: { name: x }")
            .await
            .is_err()
    );
}

#[tokio::test]
async fn the_audit_log_tells_calls_apart_by_user_agent() {
    let cluster = TestCluster::shared().await.unwrap();
    let namespace = cluster.namespace("audit").await.unwrap();
    let agent = format!("agent-of-{namespace}");
    let mut config = cluster.config();
    config.headers.push((http::header::USER_AGENT, agent.parse().unwrap()));
    let (mut log, mut calls) = (cluster.audit_from_now().unwrap(), Vec::new());
    let maps = Api::<ConfigMap>::namespaced(Client::try_from(config).unwrap(), &namespace);
    maps.create(&PostParams::default(), &config_map("one")).await.unwrap();
    assert!(maps.get("two").await.is_err());

    let calls = eventually("both calls are in the log", || {
        calls.extend(log.read().unwrap().into_iter().filter(|event| event.user_agent == agent));
        let so_far = calls.clone();
        async move { (so_far.len() >= 2).then_some(so_far) }
    })
    .await;
    let seen: Vec<_> =
        calls.iter().map(|call| (call.verb.as_str(), call.code, call.namespace.as_str())).collect();
    assert_eq!(seen, [("create", 201, namespace.as_str()), ("get", 404, namespace.as_str())]);
    assert!(
        calls.iter().all(|call| call.user == "admin" && !call.impersonated && call.resource == "configmaps")
    );
}

fn config_map(name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map
}
