//! Claims and volumes.

use serde_json::{Value, json};

use super::{NONE, Story};

const CLAIMS: &str = "v1/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";

fn claim(name: &str, class: &str) -> Value {
    json!({
        "metadata": { "name": name },
        "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": class,
            "resources": { "requests": { "storage": "1Gi" } },
        },
    })
}

#[tokio::test]
async fn claims_find_volumes_and_let_them_go() {
    let mut story = Story::new("storage").await;
    let volume = json!({
        "metadata": { "name": "disk" },
        "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": { "storage": "2Gi" }, "storageClassName": "disks",
            "persistentVolumeReclaimPolicy": "Retain", "hostPath": { "path": "/tmp" },
        },
    });
    story.send("POST", VOLUMES, &volume).await;
    let disk = format!("{VOLUMES}/disk");
    story.until(&disk, "available", |disk| disk["status"]["phase"] == "Available").await;
    story.same(VOLUMES).await;
    story.send("POST", CLAIMS, &claim("data", "disks")).await;
    let data = format!("{CLAIMS}/data");
    story.until(&data, "bound", |data| data["status"]["phase"] == "Bound").await;
    story.same(CLAIMS).await;
    story.same(VOLUMES).await;
    story.send("DELETE", &data, &NONE).await;
    story.until(&disk, "released", |disk| disk["status"]["phase"] == "Released").await;
    story.same(VOLUMES).await;
    story.send("DELETE", &disk, &NONE).await;
    story.until(&disk, "gone", |disk| disk["code"] == 404).await;
    story.end();
}

#[tokio::test]
async fn a_claim_without_its_class_waits_and_so_does_its_pod() {
    let mut story = Story::new("waiting").await;
    story.send("POST", CLAIMS, &claim("lost", "none")).await;
    let late = json!({
        "metadata": { "name": "late" }, "provisioner": "ex.com/disks", "volumeBindingMode": "WaitForFirstConsumer",
    });
    story.send("POST", "/apis/storage.k8s.io/v1/storageclasses", &late).await;
    story.send("POST", CLAIMS, &claim("later", "late")).await;
    let pod = |name: &str, claim: &str| {
        json!({
            "metadata": { "name": name },
            "spec": {
                "containers": [{ "name": "main", "image": "i" }],
                "volumes": [{ "name": "v", "persistentVolumeClaim": { "claimName": claim } }],
            },
        })
    };
    story.send("POST", "v1/pods", &pod("one", "lost")).await;
    story.send("POST", "v1/pods", &pod("two", "missing")).await;
    let waits = |list: &Value| {
        let pods = list["items"].as_array().into_iter().flatten();
        pods.filter(|pod| pod["status"]["conditions"][0]["reason"] == "Unschedulable").count() == 2
    };
    story.until("v1/pods", "waiting", waits).await;
    story.same(CLAIMS).await;
    story.same_events("PersistentVolumeClaim").await;
    story.same_events_in_any_order("Pod").await;
    story.end();
}
