//! What the objects that make pods may be, and what of them may change, in the real server's words.

use super::*;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn template(app: &str) -> Value {
    json!({ "metadata": { "labels": { "app": app } }, "spec": { "containers": [{ "name": "c", "image": "i" }] } })
}

fn deployment(selected: &str, app: &str) -> Value {
    let selector = json!({ "matchLabels": { "app": selected } });
    json!({ "metadata": { "name": "web" }, "spec": { "selector": selector, "template": template(app) } })
}

#[tokio::test]
async fn a_deployment_selects_its_own_pods() {
    let scene = Scene::new();
    let refused = scene.post(DEPLOYMENTS, deployment("a", "b")).await;
    assert_eq!(
        refused.1["details"]["causes"],
        json!([{
            "reason": "FieldValueInvalid",
            "message": "Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`",
            "field": "spec.template.metadata.labels",
        }])
    );
    assert_eq!(
        said(refused),
        "422 Invalid Deployment.apps \"web\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: \
         `selector` does not match template `labels`"
    );
    assert_eq!(scene.post(DEPLOYMENTS, deployment("a", "a")).await.0, 201);
    let refused = scene.put(&format!("{DEPLOYMENTS}/web"), deployment("b", "b")).await;
    assert_eq!(
        said(refused),
        "422 Invalid Deployment.apps \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field \
         is immutable"
    );
}

#[tokio::test]
async fn all_that_is_wrong_is_said_at_once() {
    let scene = Scene::new();
    let mut wrong = deployment("a", "a");
    wrong["spec"]["replicas"] = json!(-1);
    wrong["spec"]["template"]["spec"]["containers"] = json!([
        { "name": "c", "ports": [{ "containerPort": 70000 }], "volumeMounts": [{ "name": "v", "mountPath": "/v" }] },
    ]);
    assert_eq!(
        said(scene.post(DEPLOYMENTS, wrong).await),
        "422 Invalid Deployment.apps \"web\" is invalid: [spec.replicas: Invalid value: -1: must be greater than or equal to 0, \
         spec.template.spec.containers[0].image: Required value, spec.template.spec.containers[0].ports[0].containerPort: \
         Invalid value: 70000: must be between 1 and 65535, inclusive, spec.template.spec.containers[0].volumeMounts[0].name: \
         Not found: \"v\"]"
    );
}

#[tokio::test]
async fn the_template_of_a_job_changes_only_while_it_is_suspended() {
    let scene = Scene::new();
    let job = |suspend: bool, cpu: &str| {
        let mut template = template("a");
        template["spec"]["restartPolicy"] = json!("Never");
        template["spec"]["containers"][0]["resources"] = json!({ "requests": { "cpu": cpu } });
        json!({ "spec": { "suspend": suspend, "template": template } })
    };
    let mut new = job(true, "1");
    new["metadata"] = json!({ "name": "once" });
    assert_eq!(scene.post(JOBS, new).await.0, 201);
    let path = format!("{JOBS}/once");
    let containers = |cpu: &str| job(false, cpu)["spec"]["template"]["spec"]["containers"].clone();
    let change = |cpu: &str| json!({ "spec": { "template": { "spec": { "containers": containers(cpu) } } } });
    assert_eq!(scene.patch(&path, MERGE, change("2")).await.0, 200);
    assert_eq!(scene.patch(&path, MERGE, json!({ "spec": { "suspend": false } })).await.0, 200);
    let (code, refused) = scene.patch(&path, MERGE, change("3")).await;
    let cause = &refused["details"]["causes"][0];
    assert_eq!((code, &cause["field"]), (422, &json!("spec.template")));
    let message = cause["message"].as_str().expect("a message");
    assert!(
        message.starts_with("Invalid value: {\"labels\":{\"app\":\"a\",\"batch.kubernetes.io/"),
        "{message}"
    );
    assert!(message.ends_with(": field is immutable"), "{message}");
}

#[tokio::test]
async fn only_a_few_fields_of_a_pod_change() {
    let scene = Scene::new();
    let mut pod = template("a");
    pod["metadata"]["name"] = json!("p");
    assert_eq!(scene.post(PODS, pod.clone()).await.0, 201);
    let path = format!("{PODS}/p");
    pod["spec"]["containers"][0]["image"] = json!("other");
    assert_eq!(scene.patch(&path, MERGE, pod.clone()).await.0, 200);
    let (code, refused) = scene.patch(&path, MERGE, json!({ "spec": { "hostname": "h" } })).await;
    assert_eq!((code, refused["details"]["causes"][0]["field"].as_str()), (422, Some("spec")));
    let message = refused["message"].as_str().expect("a message");
    let (words, difference) = message.split_once("\n@@ ").expect("a difference");
    assert!(
        words.starts_with(
            "Pod \"p\" is invalid: spec: Forbidden: pod updates may not change fields other than"
        )
    );
    assert!(difference.contains("\n- \"Hostname\": \"\",\n+ \"Hostname\": \"h\",\n"), "{difference}");
}
