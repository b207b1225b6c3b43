//! Claims and their volumes.

use super::*;
use crate::in_process::ClusterController;

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn claim(class: Option<&str>) -> Value {
    let mut claim = json!({
        "metadata": { "name": "data" },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
    });
    if let Some(class) = class {
        claim["spec"]["storageClassName"] = class.into();
    }
    claim
}

fn user() -> Value {
    json!({
        "metadata": { "name": "user" },
        "spec": {
            "containers": [{ "name": "c", "image": "i" }],
            "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "data" } }],
        },
    })
}

impl Scene {
    async fn data(&self) -> Value {
        self.get(&format!("{CLAIMS}/data")).await.1
    }

    async fn phase(&self) -> Value {
        self.data().await["status"]["phase"].clone()
    }

    async fn class(&self, name: &str, mode: &str) {
        let class = json!({
            "metadata": { "name": name }, "provisioner": "ex.com/disks", "volumeBindingMode": mode,
        });
        let (code, made) = self.post(CLASSES, class).await;
        assert_eq!(code, 201, "{made:#}");
    }

    async fn volumes(&self) -> Vec<Value> {
        self.get(VOLUMES).await.1["items"].as_array().cloned().expect("items")
    }

    async fn pod_message(&self) -> String {
        let (_, pod) = self.get(&format!("{PODS}/user")).await;
        let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let waits = conditions.iter().find(|condition| condition["type"] == "PodScheduled");
        waits.and_then(|waits| waits["message"].as_str()).unwrap_or_default().to_owned()
    }
}

#[tokio::test]
async fn a_claim_gets_a_volume_of_its_class_which_goes_with_it() {
    let scene = Scene::new();
    scene.class("fast", "Immediate").await;
    let (code, made) = scene.post(CLAIMS, claim(Some("fast"))).await;
    assert_eq!(code, 201, "{made:#}");
    let data = scene.data().await;
    assert_eq!(data["status"]["phase"], "Bound", "{data:#}");
    assert_eq!(data["status"]["capacity"]["storage"], "1Gi");
    let volume = scene.volumes().await[0].clone();
    assert_eq!(volume["metadata"]["name"], data["spec"]["volumeName"]);
    assert_eq!(volume["status"]["phase"], "Bound", "{volume:#}");
    assert_eq!(volume["spec"]["storageClassName"], "fast");
    assert_eq!(volume["spec"]["claimRef"]["uid"], data["metadata"]["uid"]);
    scene.post(PODS, user()).await;
    scene.delete(&format!("{CLAIMS}/data"), Value::Null).await;
    assert_eq!(scene.phase().await, "Bound", "a Pod uses it");
    scene.delete(&format!("{PODS}/user"), Value::Null).await;
    assert_eq!(scene.get(&format!("{CLAIMS}/data")).await.0, 404);
    assert_eq!(scene.volumes().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_claim_waits_for_its_class_for_a_pod_or_for_the_controller() {
    let scene = Scene::new();
    scene.post(CLAIMS, claim(Some("slow"))).await;
    scene.post(PODS, user()).await;
    assert_eq!(scene.phase().await, "Pending", "there is no such class");
    let message = scene.pod_message().await;
    assert!(message.contains("pod has unbound immediate PersistentVolumeClaims"), "{message}");
    scene.class("slow", "Immediate").await;
    assert_eq!((scene.phase().await, scene.pod_message().await), ("Bound".into(), String::new()));

    let scene = Scene::new();
    scene.class("late", "WaitForFirstConsumer").await;
    scene.post(CLAIMS, claim(Some("late"))).await;
    assert_eq!(scene.phase().await, "Pending", "nobody uses it");
    scene.post(PODS, user()).await;
    assert_eq!(scene.phase().await, "Bound");

    let scene = Scene::new();
    scene.server.hold(ClusterController::Volumes);
    scene.post(CLAIMS, claim(None)).await;
    assert_eq!(scene.phase().await, "Pending");
    scene.server.release(ClusterController::Volumes);
    assert_eq!(scene.phase().await, "Bound", "a claim without a class gets a volume without one");
}

#[tokio::test]
async fn a_volume_that_is_there_is_found_and_may_stay() {
    let scene = Scene::new();
    for (name, size) in [("large", "10Gi"), ("small", "2Gi")] {
        let volume = json!({
            "metadata": { "name": name },
            "spec": {
                "accessModes": ["ReadWriteOnce"], "capacity": { "storage": size },
                "persistentVolumeReclaimPolicy": "Retain", "hostPath": { "path": "/tmp" },
            },
        });
        let (code, made) = scene.post(VOLUMES, volume).await;
        assert_eq!(code, 201, "{made:#}");
    }
    scene.post(CLAIMS, claim(Some(""))).await;
    let data = scene.data().await;
    assert_eq!((&data["spec"]["volumeName"], &data["status"]["phase"]), (&"small".into(), &"Bound".into()));
    assert_eq!(data["status"]["capacity"]["storage"], "2Gi");
    scene.delete(&format!("{CLAIMS}/data"), Value::Null).await;
    let phases: Vec<Value> =
        scene.volumes().await.iter().map(|volume| volume["status"]["phase"].clone()).collect();
    assert_eq!(phases, ["Available", "Released"]);
    scene.delete(&format!("{VOLUMES}/small"), Value::Null).await;
    assert_eq!(scene.volumes().await.len(), 1);
    scene.post(CLAIMS, claim(None)).await;
    scene.delete(&format!("{VOLUMES}/large"), Value::Null).await;
    assert_eq!(scene.volumes().await.len(), 1, "it is in use");
}
