//! Quotas while controllers run, tokens, and a server that is busy.

use super::*;
use crate::in_process::Controllers;

const QUOTAS: &str = "/api/v1/namespaces/default/resourcequotas";

#[tokio::test]
async fn what_a_quota_counts_comes_back_when_it_ends() {
    let scene = Scene::new();
    let map = |name: &str| json!({ "metadata": { "name": name } });
    assert_eq!(scene.post(MAPS, map("a")).await.0, 201);
    let before = scene.get(MAPS).await.1["items"].as_array().map_or(0, Vec::len);
    let quota = json!({ "metadata": { "name": "q" }, "spec": { "hard": { "configmaps": (before + 1).to_string() } } });
    assert_eq!(scene.post(QUOTAS, quota).await.0, 201);
    let used = async || scene.get(&format!("{QUOTAS}/q")).await.1["status"]["used"]["configmaps"].clone();
    assert_eq!(used().await, before.to_string());
    assert_eq!(scene.post(MAPS, map("b")).await.0, 201);
    let full = (before + 1).to_string();
    assert_eq!(used().await, full);
    assert_eq!(
        said(scene.post(MAPS, map("c")).await),
        format!(
            "403 Forbidden configmaps \"c\" is forbidden: exceeded quota: q, requested: configmaps=1, used: \
             configmaps={full}, limited: configmaps={full}"
        )
    );
    // A dry run uses nothing.
    scene.delete(&format!("{MAPS}/b"), json!(null)).await;
    assert_eq!(scene.post(&format!("{MAPS}?dryRun=All"), map("c")).await.0, 201);
    assert_eq!(used().await, before.to_string());
    assert_eq!(scene.post(MAPS, map("c")).await.0, 201);
}

#[tokio::test]
async fn what_a_change_gives_back_is_counted() {
    let scene = Scene::new();
    let hard = json!({ "services.nodeports": "1", "count/none.example.com": "1", "requests.storage": "2Gi" });
    let quota = json!({ "metadata": { "name": "q" }, "spec": { "hard": hard } });
    assert_eq!(scene.post(QUOTAS, quota).await.0, 201);
    let used = async || scene.get(&format!("{QUOTAS}/q")).await.1["status"]["used"].clone();
    // Of a kind that doesn't exist nothing is counted.
    assert_eq!(used().await, json!({ "services.nodeports": "0", "requests.storage": "0" }));
    let services = "/api/v1/namespaces/default/services";
    let service =
        json!({ "metadata": { "name": "s" }, "spec": { "type": "NodePort", "ports": [{ "port": 80 }] } });
    assert_eq!(scene.post(services, service).await.0, 201);
    assert_eq!(used().await["services.nodeports"], "1");
    let patch = json!({ "spec": { "type": "ClusterIP" } });
    assert_eq!(scene.patch(&format!("{services}/s"), "application/merge-patch+json", patch).await.0, 200);
    assert_eq!(used().await["services.nodeports"], "0");
}

#[tokio::test]
async fn a_token_is_its_accounts_until_it_ends() {
    let clock = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(1_700_000_000));
    let now = std::sync::Arc::clone(&clock);
    let server = InProcessServer::with_controllers(
        move || {
            let seconds = now.load(std::sync::atomic::Ordering::Relaxed);
            Timestamp::from_second(seconds).expect("a time")
        },
        Controllers::AtOnce,
    );
    let scene = Scene { client: server.client(), server };
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let (_, answer) = scene.post(&format!("{accounts}/default/token"), json!({ "spec": {} })).await;
    let token = answer["status"]["token"].as_str().expect("a token").to_owned();
    let user = || scene.server.user_of(&token).and_then(|user| user.name);
    assert_eq!(user().as_deref(), Some("system:serviceaccount:default:default"));
    assert_eq!(scene.server.user_of("other").map(|user| user.name), None);
    clock.fetch_add(3599, std::sync::atomic::Ordering::Relaxed);
    assert!(user().is_some());
    clock.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(user(), None, "it has ended");
    // An account that is made anew is another one.
    let (_, answer) = scene.post(&format!("{accounts}/default/token"), json!({ "spec": {} })).await;
    let token = answer["status"]["token"].as_str().expect("a token").to_owned();
    assert!(scene.server.user_of(&token).is_some());
    scene.delete(&format!("{accounts}/default"), json!(null)).await;
    assert_eq!(scene.get(&format!("{accounts}/default")).await.0, 200);
    assert!(scene.server.user_of(&token).is_none());
}

#[tokio::test]
async fn a_busy_server_refuses_as_many_requests_as_it_is_told() {
    let scene = Scene::new();
    scene.server.throttle(2);
    let request = Request::get(MAPS).body(Body::from(Vec::new())).expect("a request");
    let response = scene.client.send(request).await.expect("an answer");
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "1");
    let text = response.into_body().collect_bytes().await.expect("a body");
    assert_eq!(text, "Too many requests, please try again later.\n");
    assert_eq!(scene.post(MAPS, json!({ "metadata": { "name": "a" } })).await.0, 429);
    assert_eq!(scene.get(&format!("{MAPS}/a")).await.0, 404);
    assert_eq!(scene.server.audit().iter().filter(|event| event.code == 429).count(), 2);
}

#[tokio::test]
async fn a_budget_allows_as_many_evictions_as_it_has_pods_to_spare() {
    let scene = Scene::new();
    let (pods, budgets) =
        ("/api/v1/namespaces/default/pods", "/apis/policy/v1/namespaces/default/poddisruptionbudgets");
    let budget = json!({ "metadata": { "name": "b" }, "spec": { "minAvailable": 1, "selector": {} } });
    assert_eq!(scene.post(budgets, budget).await.0, 201);
    let running =
        json!({ "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] } });
    for name in ["one", "two"] {
        // No node is to take them.
        let pod = json!({
            "metadata": { "name": name },
            "spec": { "schedulerName": "nobody", "containers": [{ "name": "c", "image": "i" }] },
        });
        assert_eq!(scene.post(pods, pod).await.0, 201);
        assert_eq!(scene.patch(&format!("{pods}/{name}/status"), MERGE, running.clone()).await.0, 200);
    }
    let status = scene.get(&format!("{budgets}/b")).await.1["status"].clone();
    assert_eq!(
        (&status["currentHealthy"], &status["disruptionsAllowed"]),
        (&json!(2), &json!(1)),
        "{status}"
    );
    let evict = async |name: &str| {
        let eviction = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": { "name": name } });
        scene.post(&format!("{pods}/{name}/eviction"), eviction).await
    };
    assert_eq!(evict("one").await.0, 201);
    let (code, refused) = evict("two").await;
    let cause = &refused["details"]["causes"][0]["message"];
    assert_eq!(
        (code, cause),
        (429, &json!("The disruption budget b needs 1 healthy pods and has 1 currently"))
    );
}
