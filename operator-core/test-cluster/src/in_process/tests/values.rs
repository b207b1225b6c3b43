//! Values of Kubernetes' kinds and their metadata: what the real server refuses is refused with its words.

use super::*;

const SERVICES: &str = "/api/v1/namespaces/default/services";

fn service(name: &str, spec: Value) -> Value {
    let mut spec = spec;
    spec["ports"] = json!([{ "port": 80 }]);
    json!({ "metadata": { "name": name }, "spec": spec })
}

#[tokio::test]
async fn an_address_belongs_to_one_service() {
    let scene = Scene::new();
    let asked = |name: &str, address: &str| service(name, json!({ "clusterIP": address }));
    assert_eq!(scene.post(SERVICES, asked("a", "10.96.7.7")).await.0, 201);
    assert_eq!(
        said(scene.post(SERVICES, asked("b", "10.96.7.7")).await),
        "422 Invalid Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.7.7\"]: failed to allocate IP \
         10.96.7.7: provided IP is already allocated"
    );
    assert_eq!(
        said(scene.post(SERVICES, asked("b", "1.2.3.4")).await),
        "422 Invalid Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"1.2.3.4\"]: failed to allocate IP \
         1.2.3.4: the provided network does not match the current range"
    );
    let moved = json!({ "spec": { "clusterIP": "10.96.7.8" } });
    assert_eq!(
        said(scene.patch(&format!("{SERVICES}/a"), MERGE, moved).await),
        "422 Invalid Service \"a\" is invalid: spec.clusterIPs[0]: Invalid value: [\"10.96.7.8\"]: may not change once set"
    );
}

#[tokio::test]
async fn a_service_loses_what_its_new_type_has_not() {
    let scene = Scene::new();
    let balanced = service("a", json!({ "type": "LoadBalancer", "externalTrafficPolicy": "Local" }));
    let (code, made) = scene.post(SERVICES, balanced).await;
    assert_eq!(code, 201);
    assert!(made["spec"]["healthCheckNodePort"].is_u64());
    let path = format!("{SERVICES}/a");
    let (code, changed) = scene.patch(&path, MERGE, json!({ "spec": { "type": "NodePort" } })).await;
    assert_eq!((code, &changed["spec"]["healthCheckNodePort"]), (200, &Value::Null));
    let away = json!({ "spec": { "type": "ExternalName" } });
    assert_eq!(
        said(scene.patch(&path, MERGE, away).await),
        "422 Invalid Service \"a\" is invalid: spec.externalName: Required value"
    );
}

#[tokio::test]
async fn what_is_immutable_stays() {
    let scene = Scene::new();
    let frozen = json!({ "metadata": { "name": "a" }, "data": { "x": "1" }, "immutable": true });
    assert_eq!(scene.post(MAPS, frozen).await.0, 201);
    let path = format!("{MAPS}/a");
    assert_eq!(
        said(scene.patch(&path, MERGE, json!({ "data": { "x": "2" } })).await),
        "422 Invalid ConfigMap \"a\" is invalid: data: Forbidden: field is immutable when `immutable` is set"
    );
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    let binding = json!({ "metadata": { "name": "a" }, "roleRef": { "kind": "Role", "name": "r" } });
    assert_eq!(scene.post(bindings, binding).await.0, 201);
    let other = json!({ "roleRef": { "name": "s" } });
    assert_eq!(
        said(scene.patch(&format!("{bindings}/a"), MERGE, other).await),
        "422 Invalid RoleBinding.rbac.authorization.k8s.io \"a\" is invalid: roleRef: Invalid value: \
         {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\"s\"}: cannot change roleRef"
    );
}

#[tokio::test]
async fn causes_are_said_as_often_as_they_are_found() {
    let scene = Scene::new();
    assert_eq!(scene.post(MAPS, json!({ "metadata": { "name": "a" } })).await.0, 201);
    let labelled = json!({ "metadata": { "labels": { "a": "b c" } } });
    let (code, refused) = scene.patch(&format!("{MAPS}/a"), MERGE, labelled).await;
    let causes = refused["details"]["causes"].as_array().map(Vec::len);
    assert_eq!((code, causes), (422, Some(4)));
}

#[tokio::test]
async fn classes_quotas_slices_and_revisions_are_checked() {
    let scene = Scene::new();
    let refused = |path: &'static str, body: Value| {
        let scene = &scene;
        async move { said(scene.post(path, body).await) }
    };
    let named = |mut body: Value| {
        body["metadata"] = json!({ "name": "a" });
        body
    };
    assert_eq!(
        refused("/apis/scheduling.k8s.io/v1/priorityclasses", named(json!({ "value": 2_000_000_000 }))).await,
        "422 Invalid PriorityClass.scheduling.k8s.io \"a\" is invalid: value: Forbidden: maximum allowed value of a user \
         defined priority is 1000000000"
    );
    assert_eq!(
        refused("/apis/storage.k8s.io/v1/storageclasses", named(json!({ "reclaimPolicy": "Recycle" }))).await,
        "422 Invalid StorageClass.storage.k8s.io \"a\" is invalid: [provisioner: Required value, reclaimPolicy: Unsupported \
         value: \"Recycle\": supported values: \"Delete\", \"Retain\"]"
    );
    assert_eq!(
        refused("/apis/networking.k8s.io/v1/ingressclasses", named(json!({ "spec": { "controller": "x" } })))
            .await,
        "422 Invalid IngressClass.networking.k8s.io \"a\" is invalid: spec.controller: Invalid value: \"x\": must be a \
         domain-prefixed path (such as \"acme.io/foo\")"
    );
    assert_eq!(
        refused(
            "/api/v1/namespaces/default/resourcequotas",
            named(json!({ "spec": { "hard": { "x": "1" } } }))
        )
        .await,
        "422 Invalid ResourceQuota \"a\" is invalid: [spec.hard[x]: Invalid value: \"x\": must be a standard resource type \
         or fully qualified, spec.hard[x]: Invalid value: \"x\": must be a standard resource for quota]"
    );
    assert_eq!(
        refused(
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            named(json!({ "addressType": "IPv4", "endpoints": [{ "addresses": ["127.0.0.1"] }] }))
        )
        .await,
        "422 Invalid EndpointSlice.discovery.k8s.io \"a\" is invalid: endpoints[0].addresses[0]: Invalid value: \"127.0.0.1\": \
         may not be in the loopback range (127.0.0.0/8, ::1/128)"
    );
    const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";
    assert_eq!(
        refused(REVISIONS, named(json!({ "revision": 1 }))).await,
        "422 Invalid ControllerRevision.apps \"a\" is invalid: data: Required value: data is mandatory"
    );
    assert_eq!(scene.post(REVISIONS, named(json!({ "revision": 1, "data": { "a": 1 } }))).await.0, 201);
    let changed = scene.patch(&format!("{REVISIONS}/a"), MERGE, json!({ "data": { "a": 2 } })).await;
    assert_eq!(
        said(changed),
        "422 Invalid ControllerRevision.apps \"a\" is invalid: data: Invalid value: {\"a\":2}: field is immutable"
    );
}
