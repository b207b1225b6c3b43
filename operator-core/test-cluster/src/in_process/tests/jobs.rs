//! Jobs, and the addresses of Services.

use std::time::Duration;

use super::{rollouts::in_time, *};
use crate::in_process::Controllers;

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn job(spec: &Value) -> Value {
    let mut job = json!({
        "metadata": { "name": "once" },
        "spec": { "template": { "spec": {
            "restartPolicy": "Never", "containers": [{ "name": "c", "image": "i" }],
        } } },
    });
    for (field, value) in spec.as_object().expect("fields") {
        job["spec"][field] = value.clone();
    }
    job
}

impl Scene {
    async fn once(&self) -> Value {
        self.get(&format!("{JOBS}/once")).await.1
    }

    /// The types of the conditions that are true.
    async fn conditions(&self) -> Vec<String> {
        let job = self.once().await;
        let conditions = job["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let is_true = conditions.iter().filter(|condition| condition["status"] == "True");
        is_true.map(|condition| condition["type"].as_str().expect("a type").to_owned()).collect()
    }

    async fn pods(&self) -> Vec<Value> {
        self.get(PODS).await.1["items"].as_array().cloned().expect("items")
    }
}

#[tokio::test]
async fn a_job_runs_its_pods_and_is_complete() {
    let scene = Scene::new();
    let (code, made) = scene.post(JOBS, job(&json!({ "completions": 3, "parallelism": 2 }))).await;
    assert_eq!(code, 201, "{made:#}");
    let once = scene.once().await;
    assert_eq!(
        (&once["status"]["succeeded"], &once["status"]["active"]),
        (&3.into(), &Value::Null),
        "{once:#}"
    );
    assert_eq!(scene.conditions().await, ["SuccessCriteriaMet", "Complete"]);
    assert!(once["status"]["completionTime"].is_string());
    let pods = scene.pods().await;
    assert_eq!(pods.len(), 3);
    assert!(pods.iter().all(|pod| pod["status"]["phase"] == "Succeeded"));
    assert!(pods.iter().all(|pod| pod["metadata"]["finalizers"].is_null()), "{pods:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_pods_fail_too_often_has_failed() {
    let scene = in_time(Controllers::AtOnce);
    scene.server.pods().crash_loop("batch.kubernetes.io/job-name=once").expect("a selector");
    scene.post(JOBS, job(&json!({ "backoffLimit": 1, "ttlSecondsAfterFinished": 60 }))).await;
    assert_eq!((scene.pods().await.len(), scene.once().await["status"]["failed"].clone()), (1, 1.into()));
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(scene.pods().await.len(), 2, "the second attempt comes after 10 s");
    assert_eq!(scene.conditions().await, ["FailureTarget", "Failed"]);
    let once = scene.once().await;
    assert_eq!(once["status"]["conditions"][1]["reason"], "BackoffLimitExceeded", "{once:#}");
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(scene.get(&format!("{JOBS}/once")).await.0, 404, "its time is over");
    assert_eq!(scene.pods().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_suspended_job_waits() {
    let scene = Scene::new();
    scene.post(JOBS, job(&json!({ "suspend": true }))).await;
    assert_eq!((scene.pods().await.len(), scene.conditions().await), (0, vec!["Suspended".to_owned()]));
    scene.patch(&format!("{JOBS}/once"), MERGE, json!({ "spec": { "suspend": false } })).await;
    assert_eq!(scene.conditions().await, ["SuccessCriteriaMet", "Complete"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_takes_too_long_has_failed() {
    let scene = in_time(Controllers::AtOnce);
    scene.server.pods().hold("").expect("a selector");
    scene.post(JOBS, job(&json!({ "activeDeadlineSeconds": 30 }))).await;
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(scene.conditions().await, ["FailureTarget"], "its Pod is still there");
    scene.server.pods().release("").expect("a selector");
    assert_eq!(scene.conditions().await, ["FailureTarget", "Failed"]);
}

#[tokio::test]
async fn the_pods_of_an_indexed_job_have_numbers() {
    let scene = Scene::new();
    let spec = json!({ "completions": 2, "parallelism": 2, "completionMode": "Indexed" });
    scene.post(JOBS, job(&spec)).await;
    let pods = scene.pods().await;
    let mut names: Vec<_> =
        pods.iter().map(|pod| pod["spec"]["hostname"].as_str().expect("a name")).collect();
    names.sort_unstable();
    assert_eq!(names, ["once-0", "once-1"]);
    assert_eq!(scene.conditions().await, ["SuccessCriteriaMet", "Complete"]);
}

#[tokio::test]
async fn a_service_knows_the_pods_that_are_ready() {
    let scene = Scene::new();
    let service = json!({
        "metadata": { "name": "web" },
        "spec": { "selector": { "app": "web" }, "ports": [{ "port": 80, "targetPort": "http" }] },
    });
    scene.post("/api/v1/namespaces/default/services", service).await;
    let pod = json!({
        "metadata": { "name": "one", "labels": { "app": "web" } },
        "spec": { "containers": [{
            "name": "c", "image": "i", "ports": [{ "name": "http", "containerPort": 8080 }],
        }] },
    });
    scene.server.pods().never_ready("").expect("a selector");
    scene.post(PODS, pod).await;
    let slice = async || {
        let (_, list) = scene.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices").await;
        list["items"][0].clone()
    };
    let endpoints = async || scene.get("/api/v1/namespaces/default/endpoints/web").await;
    assert_eq!(slice().await["endpoints"][0]["conditions"]["ready"], false);
    assert_eq!(endpoints().await.1["subsets"][0]["notReadyAddresses"][0]["targetRef"]["name"], "one");
    scene.server.pods().release("").expect("a selector");
    let shown = slice().await;
    assert_eq!(shown["endpoints"][0]["conditions"]["ready"], true, "{shown:#}");
    assert_eq!(shown["ports"][0]["port"], 8080);
    assert_eq!(endpoints().await.1["subsets"][0]["addresses"][0]["targetRef"]["name"], "one");
    scene.delete("/api/v1/namespaces/default/services/web", Value::Null).await;
    assert_eq!((slice().await, endpoints().await.0), (Value::Null, 404));
}
