//! Rights.

use super::*;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

fn role(rules: &Value) -> Value {
    json!({ "metadata": { "name": "r" }, "rules": rules })
}

fn binding(kind: &str, subject: &Value) -> Value {
    json!({
        "metadata": { "name": "r" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "r" },
        "subjects": [subject],
    })
}

fn as_user(scene: &Scene, user: &str) -> Scene {
    let server = scene.server.acting_as(user, &[]);
    Scene { client: server.client(), server }
}

async fn may(scene: &Scene, verb: &str, resource: &str) -> Value {
    let attributes = json!({ "verb": verb, "resource": resource, "namespace": "default" });
    let review = json!({ "spec": { "resourceAttributes": attributes } });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let (code, answer) = scene.post(path, review).await;
    assert_eq!(code, 201, "{answer}");
    answer["status"].clone()
}

#[tokio::test]
async fn somebody_without_a_role_is_refused_in_the_words_of_the_real_server() {
    let scene = Scene::new();
    scene.post(MAPS, json!({ "metadata": { "name": "t" } })).await;
    let bob = as_user(&scene, "bob");
    for (path, expected) in [
        (
            format!("{MAPS}/t"),
            "configmaps \"t\" is forbidden: User \"bob\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"default\"",
        ),
        (
            MAPS.to_owned(),
            "configmaps is forbidden: User \"bob\" cannot list resource \"configmaps\" in API group \"\" in the namespace \"default\"",
        ),
        (
            "/apis/apps/v1/deployments?watch=true".to_owned(),
            "deployments.apps is forbidden: User \"bob\" cannot watch resource \"deployments\" in API group \"apps\" at the cluster scope",
        ),
        (
            "/api/v1/namespaces/default".to_owned(),
            "namespaces \"default\" is forbidden: User \"bob\" cannot get resource \"namespaces\" in API group \"\" in the namespace \"default\"",
        ),
    ] {
        assert_eq!(said(bob.get(&path).await), format!("403 Forbidden {expected}"));
    }
    assert_eq!(bob.get("/version").await.0, 200);
    assert_eq!(may(&bob, "get", "configmaps").await, json!({ "allowed": false }));
    assert_eq!(may(&scene, "get", "configmaps").await, json!({ "allowed": true }));
}

#[tokio::test]
async fn a_role_gives_what_it_says_where_it_is_bound() {
    let scene = Scene::new();
    let rules = json!([
        { "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create"] },
        { "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"], "verbs": ["*"] },
        { "apiGroups": ["*"], "resources": ["*/status"], "verbs": ["patch"] },
    ]);
    let bob = as_user(&scene, "system:serviceaccount:default:bob");
    let account = json!({ "kind": "ServiceAccount", "name": "bob", "namespace": "default" });
    scene.post(&format!("{RBAC}/namespaces/default/rolebindings"), binding("Role", &account)).await;
    let missing = said(bob.get(&format!("{MAPS}/t")).await);
    assert!(missing.ends_with(": RBAC: role.rbac.authorization.k8s.io \"r\" not found"), "{missing}");

    assert_eq!(scene.post(&format!("{RBAC}/namespaces/default/roles"), role(&rules)).await.0, 201);
    assert_eq!(bob.post(MAPS, json!({ "metadata": { "name": "t" } })).await.0, 201);
    assert_eq!(bob.get(&format!("{MAPS}/t")).await.0, 200);
    assert_eq!(bob.get(MAPS).await.0, 403, "listing is another right");
    assert_eq!(
        bob.get("/api/v1/namespaces/kube-system/configmaps/t").await.0,
        403,
        "the role is bound elsewhere"
    );
    assert_eq!(bob.get("/api/v1/namespaces/default/secrets/one").await.0, 404);
    assert_eq!(bob.get("/api/v1/namespaces/default/secrets/two").await.0, 403);
    let status = "/apis/apps/v1/namespaces/default/deployments/x/status";
    assert_eq!(bob.patch(status, MERGE, json!({})).await.0, 404);
    assert_eq!(
        may(&bob, "get", "configmaps").await,
        json!({
            "allowed": true,
            "reason": "RBAC: allowed by RoleBinding \"r/default\" of Role \"r\" to ServiceAccount \"bob/default\"",
        })
    );
    let events = scene.server.audit();
    let last = events.iter().rev().find(|event| event.impersonated).expect("bob's calls are in the log");
    assert_eq!(last.user, "system:serviceaccount:default:bob");
}

#[tokio::test]
async fn a_cluster_role_can_be_bound_for_a_group_everywhere() {
    let scene = Scene::new();
    let rules = json!([{ "apiGroups": [""], "resources": ["*"], "verbs": ["list"] }]);
    scene.post(&format!("{RBAC}/clusterroles"), role(&rules)).await;
    let everybody =
        json!({ "kind": "Group", "name": "system:authenticated", "apiGroup": "rbac.authorization.k8s.io" });
    scene.post(&format!("{RBAC}/clusterrolebindings"), binding("ClusterRole", &everybody)).await;
    let bob = as_user(&scene, "bob");
    assert_eq!(bob.get("/api/v1/configmaps").await.0, 200);
    assert_eq!(bob.get("/apis/apps/v1/deployments").await.0, 403);
}

#[tokio::test]
async fn roles_are_aggregated_at_once() {
    let scene = Scene::new();
    let view = format!("{RBAC}/clusterroles/view");
    let has = |role: &Value| {
        let rules = role["rules"].as_array().expect("rules");
        rules.iter().any(|rule| rule["resources"] == json!(["pages"]))
    };
    let admin = scene.get(&format!("{RBAC}/clusterroles/admin")).await.1;
    assert!(admin["rules"].as_array().is_some_and(|rules| rules.len() > 10), "{admin}");
    let pages = json!({
        "metadata": { "name": "pages", "labels": { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
        "rules": [{ "apiGroups": ["ex.com"], "resources": ["pages"], "verbs": ["get"] }],
    });
    assert_eq!(scene.post(&format!("{RBAC}/clusterroles"), pages).await.0, 201);
    // View is a part of edit, and that of admin.
    for name in ["view", "edit", "admin"] {
        assert!(has(&scene.get(&format!("{RBAC}/clusterroles/{name}")).await.1), "{name}");
    }
    scene.delete(&format!("{RBAC}/clusterroles/pages"), json!(null)).await;
    let (_, role) = scene.get(&view).await;
    assert!(!has(&role), "{role}");
    let bob = as_user(&scene, "bob");
    scene
        .post(
            &format!("{RBAC}/namespaces/default/rolebindings"),
            json!({
                "metadata": { "name": "view" },
                "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
                "subjects": [{ "kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io" }],
            }),
        )
        .await;
    assert_eq!(bob.get(MAPS).await.0, 200);
    assert_eq!(bob.get("/api/v1/namespaces/default/secrets").await.0, 403);
}
