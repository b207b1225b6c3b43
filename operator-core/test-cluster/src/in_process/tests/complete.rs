//! What only a complete server has: Events of the controllers, and what every real cluster has besides.

use std::time::Duration;

use super::{rollouts::in_time, *};
use crate::in_process::Controllers;

const EVENTS: &str = "/api/v1/namespaces/default/events";
const PODS: &str = "/api/v1/namespaces/default/pods";
const ROOT: &str = "/api/v1/namespaces/default/configmaps/kube-root-ca.crt";
const SERVICE: &str = "/api/v1/namespaces/default/services/kubernetes";

fn pod() -> Value {
    json!({
        "metadata": { "name": "one" },
        "spec": { "containers": [{ "name": "c", "image": "i" }] },
    })
}

impl Scene {
    fn completed(self) -> Self {
        let server = self.server.complete();
        Self { client: server.client(), server }
    }

    /// Reason, part, count of all Events, in the order of their names.
    async fn said(&self) -> Vec<String> {
        let (_, list) = self.get(EVENTS).await;
        let said = |event: &Value| {
            let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            format!(
                "{} {} {}",
                text(&event["reason"]),
                text(&event["involvedObject"]["fieldPath"]),
                event["count"]
            )
        };
        list["items"].as_array().expect("items").iter().map(said).collect()
    }
}

#[tokio::test]
async fn a_plain_server_says_nothing_and_a_complete_one_is_furnished() {
    let scene = Scene::new();
    scene.post(PODS, pod()).await;
    let claim = json!({
        "metadata": { "name": "data" },
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": { "requests": { "storage": "1" } },
        },
    });
    scene.post("/api/v1/namespaces/default/persistentvolumeclaims", claim).await;
    assert_eq!(scene.said().await, Vec::<String>::new());
    assert_eq!((scene.get(ROOT).await.0, scene.get(SERVICE).await.0), (404, 404));

    let scene = Scene::new().completed();
    let (_, service) = scene.get(SERVICE).await;
    assert_eq!(service["spec"]["clusterIP"], "10.96.0.1", "{service:#}");
    let slice = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
    assert_eq!((scene.get(slice).await.0, scene.get(ROOT).await.0), (200, 200));
    scene.post("/api/v1/namespaces", json!({ "metadata": { "name": "later" } })).await;
    assert_eq!(scene.get("/api/v1/namespaces/later/configmaps/kube-root-ca.crt").await.0, 200);
    scene.delete(ROOT, Value::Null).await;
    assert_eq!(scene.get(ROOT).await.0, 200, "it comes back");
    scene.patch(ROOT, MERGE, json!({ "data": { "ca.crt": "mine" } })).await;
    assert_eq!(scene.get(ROOT).await.1["data"]["ca.crt"], "", "and stays as it is");
    scene.delete("/api/v1/namespaces/later", Value::Null).await;
    assert_eq!(scene.get("/api/v1/namespaces/later").await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn events_are_counted_and_forgotten() {
    let scene = in_time(Controllers::AtOnce).completed();
    scene.server.pods().crash_loop("").expect("a selector");
    scene.post(PODS, pod()).await;
    let part = "spec.containers{c}";
    let once = ["Scheduled - null".to_owned()].into_iter();
    let more = ["Pulled", "Created", "Started", "BackOff"];
    let all = |count: u64| -> Vec<String> {
        once.clone().chain(more.map(|reason| format!("{reason} {part} {count}"))).collect()
    };
    assert_eq!(scene.said().await, all(1));
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(scene.said().await, all(2));
    scene.server.pods().hold("").expect("a selector");
    tokio::time::sleep(Duration::from_secs(2 * 3600)).await;
    scene.post(PODS, json!({ "metadata": { "name": "two" }, "spec": pod()["spec"] })).await;
    assert_eq!(scene.said().await, ["Scheduled - null"], "an hour is over");
}
