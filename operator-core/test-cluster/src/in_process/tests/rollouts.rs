//! Deployments, their ReplicaSets and their Pods, with luck and without.

use std::time::Duration;

use super::*;
use crate::in_process::{ClusterController, Controllers};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn deployment(replicas: i64, image: &str, strategy: &Value) -> Value {
    json!({
        "metadata": { "name": "web" },
        "spec": {
            "replicas": replicas, "selector": { "matchLabels": { "app": "web" } }, "strategy": strategy,
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "c", "image": image }] },
            },
        },
    })
}

fn image(image: &str) -> Value {
    json!([{ "op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image }])
}

/// The server in tokio's time.
pub(super) fn in_time(controllers: Controllers) -> Scene {
    let start = tokio::time::Instant::now();
    let clock = move || still() + jiff::SignedDuration::try_from(start.elapsed()).expect("a duration");
    let server = InProcessServer::with_controllers(clock, controllers);
    Scene { client: server.client(), server }
}

impl Scene {
    async fn web(&self) -> Value {
        self.get(&format!("{DEPLOYMENTS}/web")).await.1
    }

    async fn items(&self, path: &str) -> Vec<Value> {
        self.get(path).await.1["items"].as_array().cloned().expect("items")
    }

    /// Replicas, updated, ready, available.
    async fn counts(&self) -> [i64; 4] {
        let status = self.web().await["status"].clone();
        let fields = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"];
        fields.map(|field| status[field].as_i64().unwrap_or_default())
    }

    /// Status and reason of a condition.
    async fn condition(&self, kind: &str) -> String {
        let web = self.web().await;
        let conditions = web["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let of_kind = conditions.iter().find(|condition| condition["type"] == kind);
        of_kind.map_or_else(String::new, |of| {
            format!("{} {}", of["status"].as_str().unwrap_or("-"), of["reason"].as_str().unwrap_or("-"))
        })
    }
}

#[tokio::test]
async fn a_deployment_has_a_replica_set_whose_pods_run_on_the_node() {
    let scene = Scene::new();
    scene.post(DEPLOYMENTS, deployment(2, "a", &json!({}))).await;
    let sets = scene.items(SETS).await;
    let [set] = sets.as_slice() else { panic!("{sets:#?}") };
    let hash = set["metadata"]["labels"]["pod-template-hash"].as_str().expect("a hash");
    assert_eq!(set["metadata"]["name"], format!("web-{hash}"));
    assert_eq!(set["metadata"]["ownerReferences"][0]["kind"], "Deployment");
    let pods = scene.items(PODS).await;
    assert_eq!(pods.len(), 2);
    for pod in &pods {
        assert_eq!(pod["metadata"]["generateName"], format!("web-{hash}-"));
        assert_eq!(
            (&pod["spec"]["nodeName"], &pod["status"]["phase"]),
            (&"node-0".into(), &"Running".into())
        );
        assert_eq!(pod["status"]["containerStatuses"][0]["ready"], true, "{pod:#}");
    }
    assert_eq!(scene.counts().await, [2, 2, 2, 2]);
    assert_eq!(scene.condition("Progressing").await, "True NewReplicaSetAvailable");
}

#[tokio::test]
async fn a_rollout_replaces_the_pods_and_can_be_taken_back() {
    for strategy in [json!({}), json!({ "type": "Recreate" })] {
        let scene = Scene::new();
        scene.post(DEPLOYMENTS, deployment(3, "a", &strategy)).await;
        let first = scene.items(PODS).await;
        scene.patch(&format!("{DEPLOYMENTS}/web"), JSON_PATCH, image("b")).await;
        assert_eq!(scene.counts().await, [3, 3, 3, 3]);
        let pods = scene.items(PODS).await;
        assert!(pods.iter().all(|pod| pod["spec"]["containers"][0]["image"] == "b"), "{pods:#?}");
        assert!(pods.iter().all(|pod| !first.contains(pod)));
        let sets = scene.items(SETS).await;
        assert_eq!(sets.len(), 2, "the old one stays, empty");
        scene.patch(&format!("{DEPLOYMENTS}/web"), JSON_PATCH, image("a")).await;
        let revision =
            |object: &Value| object["metadata"]["annotations"]["deployment.kubernetes.io/revision"].clone();
        let sets = scene.items(SETS).await;
        let mut revisions: Vec<String> = sets.iter().map(|set| revision(set).to_string()).collect();
        revisions.sort();
        assert_eq!(revisions, ["\"2\"", "\"3\""], "the first one has come back as the third");
        assert_eq!(revision(&scene.web().await), "3");
    }
}

#[tokio::test]
async fn a_rolling_update_keeps_its_limits() {
    let scene = in_time(Controllers::AtOnce);
    let strategy =
        json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 1 } });
    scene.post(DEPLOYMENTS, deployment(4, "a", &strategy)).await;
    scene.server.pods().never_ready("").expect("a selector");
    scene.patch(&format!("{DEPLOYMENTS}/web"), JSON_PATCH, image("b")).await;
    assert_eq!(scene.counts().await, [5, 2, 3, 3], "one more than wanted, one less than wanted is ready");
    scene.server.pods().release("").expect("a selector");
    assert_eq!(scene.counts().await, [4, 4, 4, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_rollout_whose_pods_never_get_ready_fails_after_its_deadline() {
    let scene = in_time(Controllers::AtOnce);
    scene.post(DEPLOYMENTS, deployment(2, "a", &json!({}))).await;
    scene.server.pods().never_ready("app=web").expect("a selector");
    scene.patch(&format!("{DEPLOYMENTS}/web"), JSON_PATCH, image("b")).await;
    assert_eq!(scene.condition("Progressing").await, "True ReplicaSetUpdated");
    tokio::time::sleep(Duration::from_secs(599)).await;
    assert_eq!(scene.condition("Progressing").await, "True ReplicaSetUpdated");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(scene.condition("Progressing").await, "False ProgressDeadlineExceeded");
    assert_eq!(scene.condition("Available").await, "True MinimumReplicasAvailable", "the old Pods stay");
    scene.server.pods().release("app=web").expect("a selector");
    assert_eq!(scene.condition("Progressing").await, "True NewReplicaSetAvailable");
}

#[tokio::test(start_paused = true)]
async fn a_watch_sees_each_step_when_it_is_due() {
    let scene = in_time(Controllers::Within(Duration::from_millis(200)));
    let start = tokio::time::Instant::now();
    scene.post(DEPLOYMENTS, deployment(1, "a", &json!({}))).await;
    assert_eq!(scene.items(PODS).await, Vec::<Value>::new(), "not yet");
    let lines = scene.watch(&format!("{PODS}?watch=true&timeoutSeconds=5")).await;
    assert!(lines.len() >= 4 && lines[0].starts_with("ADDED"), "{lines:?}");
    assert_eq!(scene.counts().await, [1, 1, 1, 1]);
    assert!(start.elapsed() < Duration::from_secs(6));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_crashes_is_started_again_later_and_later() {
    let scene = in_time(Controllers::AtOnce);
    scene.server.pods().crash_loop("app=web").expect("a selector");
    scene.post(DEPLOYMENTS, deployment(1, "a", &json!({}))).await;
    let pod = async || scene.items(PODS).await.remove(0)["status"]["containerStatuses"][0].clone();
    let first = pod().await;
    assert_eq!(first["state"]["waiting"]["reason"], "CrashLoopBackOff", "{first:#}");
    assert_eq!(
        (&first["restartCount"], &first["lastState"]["terminated"]["exitCode"]),
        (&0.into(), &1.into())
    );
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(pod().await["restartCount"], 1);
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(pod().await["restartCount"], 5, "after 10, 20, 40, 80 and 160 s");
    assert_eq!(scene.condition("Available").await, "False MinimumReplicasUnavailable");
    scene.server.pods().release("").expect("a selector");
    assert_eq!(scene.counts().await, [1, 1, 1, 1]);
}

#[tokio::test]
async fn held_pods_stay_as_they_are() {
    let scene = Scene::new();
    scene.server.pods().hold("app=web").expect("a selector");
    scene.post(DEPLOYMENTS, deployment(1, "a", &json!({}))).await;
    assert_eq!(scene.items(PODS).await[0]["status"]["phase"], "Pending");
    scene.server.pods().release("app=web").expect("a selector");
    assert_eq!(scene.counts().await, [1, 1, 1, 1]);
    scene.server.pods().hold("").expect("a selector");
    scene.patch(&format!("{DEPLOYMENTS}/web"), MERGE, json!({ "spec": { "replicas": 0 } })).await;
    let pods = scene.items(PODS).await;
    assert_eq!(pods[0]["metadata"]["deletionGracePeriodSeconds"], 30, "{pods:#?}");
    assert_eq!(scene.web().await["status"]["terminatingReplicas"], 1);
    scene.server.pods().release("").expect("a selector");
    assert_eq!(scene.items(PODS).await, Vec::<Value>::new());
    let error = scene.server.pods().hold("a in").expect_err("no selector");
    assert!(error.to_string().contains("the label selector"), "{error}");
}

#[tokio::test]
async fn a_pod_that_was_ready_may_not_be_any_more() {
    let scene = Scene::new();
    scene.post(DEPLOYMENTS, deployment(1, "a", &json!({}))).await;
    scene.server.pods().unready("app=web").expect("a selector");
    assert_eq!(scene.counts().await, [1, 1, 0, 0]);
    scene.server.pods().release("app=web").expect("a selector");
    assert_eq!(scene.counts().await, [1, 1, 1, 1]);
}

#[tokio::test]
async fn a_full_node_takes_no_pods() {
    let scene = Scene::new();
    scene.server.node().full();
    scene.post(DEPLOYMENTS, deployment(1, "a", &json!({}))).await;
    let pods = scene.items(PODS).await;
    assert_eq!(pods[0]["status"]["conditions"][0]["reason"], "Unschedulable", "{pods:#?}");
    scene.server.node().release();
    assert_eq!(scene.counts().await, [1, 1, 1, 1]);
}

#[tokio::test]
async fn a_held_controller_does_nothing_until_it_is_released() {
    let scene = Scene::new();
    scene.server.hold(ClusterController::ReplicaSets);
    scene.post(DEPLOYMENTS, deployment(1, "a", &json!({}))).await;
    assert_eq!((scene.items(SETS).await.len(), scene.items(PODS).await.len()), (1, 0));
    assert_eq!(scene.server.steps_left(), 1);
    scene.server.release(ClusterController::ReplicaSets);
    assert_eq!(scene.counts().await, [1, 1, 1, 1]);
    assert_eq!(scene.server.steps_left(), 0);
}

#[tokio::test]
async fn a_paused_deployment_is_only_scaled() {
    let scene = Scene::new();
    scene.post(DEPLOYMENTS, deployment(1, "a", &json!({}))).await;
    scene.patch(&format!("{DEPLOYMENTS}/web"), MERGE, json!({ "spec": { "paused": true } })).await;
    assert_eq!(scene.condition("Progressing").await, "Unknown DeploymentPaused");
    scene.patch(&format!("{DEPLOYMENTS}/web"), JSON_PATCH, image("b")).await;
    scene.patch(&format!("{DEPLOYMENTS}/web"), MERGE, json!({ "spec": { "replicas": 2 } })).await;
    assert_eq!((scene.items(SETS).await.len(), scene.counts().await), (1, [2, 0, 2, 2]));
    scene.patch(&format!("{DEPLOYMENTS}/web"), MERGE, json!({ "spec": { "paused": null } })).await;
    assert_eq!(scene.counts().await, [2, 2, 2, 2]);
    assert_eq!(scene.condition("Progressing").await, "True NewReplicaSetAvailable");
}

#[tokio::test]
async fn pods_that_fit_are_adopted_and_those_that_no_longer_do_are_left() {
    let scene = Scene::new();
    scene.post(DEPLOYMENTS, deployment(1, "a", &json!({}))).await;
    let name = scene.items(PODS).await[0]["metadata"]["name"].as_str().expect("a name").to_owned();
    let labels = json!({ "metadata": { "labels": { "app": "other" } } });
    scene.patch(&format!("{PODS}/{name}"), MERGE, labels).await;
    let pods = scene.items(PODS).await;
    let left = pods.iter().find(|pod| pod["metadata"]["name"] == name.as_str()).expect("the pod");
    assert_eq!((pods.len(), &left["metadata"]["ownerReferences"]), (2, &Value::Null));
    let labels = json!({ "metadata": { "labels": { "app": "web" } } });
    scene.patch(&format!("{PODS}/{name}"), MERGE, labels).await;
    assert_eq!(scene.items(PODS).await.len(), 1, "one too many is adopted, and one goes");
}

#[tokio::test]
async fn what_a_deployment_owns_goes_in_the_foreground_or_stays() {
    for (policy, left) in [("Foreground", (0, 0)), ("Background", (0, 0)), ("Orphan", (1, 2))] {
        let scene = Scene::new();
        scene.post(DEPLOYMENTS, deployment(2, "a", &json!({}))).await;
        scene.delete(&format!("{DEPLOYMENTS}/web"), json!({ "propagationPolicy": policy })).await;
        assert_eq!(scene.get(&format!("{DEPLOYMENTS}/web")).await.0, 404, "{policy}");
        assert_eq!((scene.items(SETS).await.len(), scene.items(PODS).await.len()), left, "{policy}");
    }
}

const STATEFUL: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const DAEMONS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";

fn names(objects: &[Value]) -> Vec<&str> {
    objects.iter().map(|object| object["metadata"]["name"].as_str().expect("a name")).collect()
}

fn images(pods: &[Value]) -> Vec<&str> {
    pods.iter().map(|pod| pod["spec"]["containers"][0]["image"].as_str().expect("an image")).collect()
}

#[tokio::test]
async fn the_pods_of_a_stateful_set_come_and_go_one_after_the_other() {
    let scene = Scene::new();
    let mut set = deployment(3, "a", &Value::Null);
    set["spec"]["serviceName"] = "web".into();
    set["spec"].as_object_mut().expect("a spec").remove("strategy");
    set["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": { "name": "data" },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
    }]);
    scene.server.pods().never_ready("apps.kubernetes.io/pod-index=1").expect("a selector");
    let (code, made) = scene.post(STATEFUL, set).await;
    assert_eq!(code, 201, "{made:#}");
    assert_eq!(names(&scene.items(PODS).await), ["web-0", "web-1"], "the next one waits for the second");
    scene.server.pods().release("").expect("a selector");
    assert_eq!(names(&scene.items(PODS).await), ["web-0", "web-1", "web-2"]);
    assert_eq!(names(&scene.items(CLAIMS).await), ["data-web-0", "data-web-1", "data-web-2"]);
    let web = async || scene.get(&format!("{STATEFUL}/web")).await.1["status"].clone();
    let status = web().await;
    assert_eq!([&status["readyReplicas"], &status["updatedReplicas"]], [&Value::from(3); 2]);
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    scene.server.pods().never_ready("apps.kubernetes.io/pod-index=1").expect("a selector");
    scene.patch(&format!("{STATEFUL}/web"), JSON_PATCH, image("b")).await;
    assert_eq!(images(&scene.items(PODS).await), ["a", "b", "b"], "the last one first");
    let status = web().await;
    assert_eq!([&status["currentReplicas"], &status["updatedReplicas"]], [&Value::from(1), &Value::from(2)]);
    assert_ne!(status["currentRevision"], status["updateRevision"]);
    scene.server.pods().release("").expect("a selector");
    assert_eq!(images(&scene.items(PODS).await), ["b"; 3]);
    assert_eq!(scene.items(REVISIONS).await.len(), 2);
    assert_eq!(web().await["currentRevision"], web().await["updateRevision"]);
    scene.patch(&format!("{STATEFUL}/web"), MERGE, json!({ "spec": { "replicas": 1 } })).await;
    assert_eq!(names(&scene.items(PODS).await), ["web-0"]);
    assert_eq!(scene.items(CLAIMS).await.len(), 3, "what they have stored stays");
}

#[tokio::test]
async fn a_daemon_set_has_a_pod_on_each_node() {
    let scene = Scene::new();
    let mut set = deployment(1, "a", &Value::Null);
    for field in ["strategy", "replicas"] {
        set["spec"].as_object_mut().expect("a spec").remove(field);
    }
    scene.post("/api/v1/nodes", json!({ "metadata": { "name": "other" } })).await;
    let (code, made) = scene.post(DAEMONS, set).await;
    assert_eq!(code, 201, "{made:#}");
    let nodes = async || {
        let pods = scene.items(PODS).await;
        let mut nodes: Vec<_> = pods.iter().map(|pod| pod["spec"]["nodeName"].to_string()).collect();
        nodes.sort();
        nodes
    };
    assert_eq!(nodes().await, ["\"node-0\"", "\"other\""]);
    let web = async || scene.get(&format!("{DAEMONS}/web")).await.1["status"].clone();
    let status = web().await;
    assert_eq!(
        [&status["numberReady"], &status["updatedNumberScheduled"]],
        [&Value::from(2); 2],
        "{status:#}"
    );
    scene.patch(&format!("{DAEMONS}/web"), JSON_PATCH, image("b")).await;
    assert_eq!(images(&scene.items(PODS).await), ["b"; 2]);
    assert_eq!(web().await["updatedNumberScheduled"], 2);
    scene.delete("/api/v1/nodes/other", Value::Null).await;
    assert_eq!(web().await["desiredNumberScheduled"], 1);
    assert_eq!(nodes().await, ["\"node-0\""]);
}
