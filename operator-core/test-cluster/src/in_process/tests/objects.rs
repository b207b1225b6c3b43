//! Reading and writing single objects: answers as the real server gives them.

use super::*;

#[tokio::test]
async fn a_config_map_is_created_changed_and_deleted() {
    let scene = Scene::new();
    let (code, made) = scene.post(MAPS, json!({ "metadata": { "name": "a" }, "data": { "x": "1" } })).await;
    assert_eq!(code, 201);
    let expected = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "a",
            "namespace": "default",
            "uid": made["metadata"]["uid"],
            "resourceVersion": made["metadata"]["resourceVersion"],
            "creationTimestamp": "2023-11-14T22:13:20Z",
            "managedFields": [{
                "manager": "tests", "operation": "Update", "apiVersion": "v1", "time": "2023-11-14T22:13:20Z",
                "fieldsType": "FieldsV1", "fieldsV1": { "f:data": { ".": {}, "f:x": {} } },
            }],
        },
        "data": { "x": "1" },
    });
    assert_eq!(made, expected);
    let path = format!("{MAPS}/a");
    assert_eq!(scene.get(&path).await, (200, made.clone()));

    let (code, same) = scene.patch(&path, MERGE, json!({ "data": { "x": "1" } })).await;
    assert_eq!((code, &same["metadata"]["resourceVersion"]), (200, &made["metadata"]["resourceVersion"]));
    let (_, changed) = scene.patch(&path, MERGE, json!({ "data": { "x": null, "y": "2" } })).await;
    assert_eq!(changed["data"], json!({ "y": "2" }));
    assert_ne!(changed["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);

    let (code, deleted) = scene.delete(&path, Value::Null).await;
    let details = json!({ "name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"] });
    let success = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
    });
    assert_eq!((code, deleted), (200, success));
    assert_eq!(said(scene.get(&path).await), "404 NotFound configmaps \"a\" not found");
}

#[tokio::test]
async fn refusals_have_the_words_of_the_real_server() {
    let scene = Scene::new();
    let (code, made) = scene.post(MAPS, json!({ "metadata": { "name": "a" }, "data": { "x": "1" } })).await;
    assert_eq!(code, 201);
    let path = format!("{MAPS}/a");
    let modified = "409 Conflict Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please \
                    apply your changes to the latest version and try again";
    let immutable =
        "422 Invalid ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"1\": field is immutable";
    let rejected = "422 Invalid the server rejected our request due to an error in our request";
    let apply = |rest: Value| {
        let mut body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" } });
        ::json_patch::merge(&mut body, &rest);
        scene.patch_as("m", &path, body)
    };

    let named_a = json!({ "metadata": { "name": "a" } });
    assert_eq!(
        said(scene.post(MAPS, named_a.clone()).await),
        "409 AlreadyExists configmaps \"a\" already exists"
    );
    assert_eq!(
        said(scene.post("/api/v1/namespaces/nope/configmaps", named_a.clone()).await),
        "404 NotFound namespaces \"nope\" not found"
    );
    assert_eq!(
        said(scene.post(MAPS, json!({ "metadata": {} })).await),
        "422 Invalid ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"
    );
    assert_eq!(
        said(scene.put(&path, json!({ "metadata": { "name": "b" } })).await),
        "400 BadRequest the name of the object (b) does not match the name on the URL (a)"
    );
    assert_eq!(
        said(scene.put(&path, json!({ "metadata": { "name": "a", "resourceVersion": "1" } })).await),
        modified
    );
    let merge =
        |metadata: Value| scene.patch(&path, MERGE, json!({ "metadata": metadata, "data": { "x": "7" } }));
    assert_eq!(said(merge(json!({ "resourceVersion": "1" })).await), modified);
    assert_eq!(said(merge(json!({ "uid": "1" })).await), immutable);
    let test = json!([{ "op": "test", "path": "/metadata/uid", "value": "1" }]);
    assert_eq!(said(scene.patch(&path, JSON_PATCH, test).await), rejected);
    assert_eq!(
        said(scene.patch(&format!("{path}?force=true"), MERGE, json!({})).await),
        "422 Invalid PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"
    );
    assert_eq!(
        said(scene.patch(&path, APPLY, named_a.clone()).await),
        "422 Invalid PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"
    );
    assert_eq!(
        said(apply(json!({ "data": { "x": "2" } })).await),
        "409 Conflict Apply failed with 1 conflict: conflict with \"tests\" using v1: .data.x"
    );
    assert_eq!(said(apply(json!({ "metadata": { "resourceVersion": "1" } })).await), modified);
    assert_eq!(said(apply(json!({ "metadata": { "uid": "1" } })).await), immutable);
    assert_eq!(
        said(apply(json!({ "kind": "Secret" })).await),
        "400 BadRequest invalid object type: /v1, Kind=Secret"
    );
    assert_eq!(said(scene.get("/api/v1/nopes").await).get(..12), Some("404 NotFound"));
    assert_eq!(scene.get("/apis/no.such/v1/things").await, (404, "404 page not found\n".into()));
    assert_eq!(scene.get(&path).await, (200, made), "nothing of this has changed anything");
}

#[tokio::test]
async fn an_apply_with_a_uid_never_creates() {
    let scene = Scene::new();
    let body = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "new", "uid": "1" } });
    let path = format!("{MAPS}/new");
    assert_eq!(
        said(scene.patch_as("m", &path, body).await),
        "409 Conflict Operation cannot be fulfilled on configmaps \"new\": uid mismatch: the provided object specified \
         uid 1, and no existing object was found"
    );
    let locked = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "new", "resourceVersion": "1" } });
    assert_eq!(scene.patch_as("m", &path, locked).await.0, 201, "a version doesn't keep it from creating");
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let scene = Scene::new();
    let version = async || scene.get(MAPS).await.1["metadata"]["resourceVersion"].clone();
    let before = version().await;
    let (code, shown) =
        scene.post(&format!("{MAPS}?dryRun=All"), json!({ "metadata": { "name": "a" } })).await;
    assert_eq!((code, &shown["metadata"]["resourceVersion"]), (201, &Value::Null));
    assert!(shown["metadata"]["uid"].is_string());
    assert_eq!(version().await, before);
    assert_eq!(scene.get(&format!("{MAPS}/a")).await.0, 404);
}

#[tokio::test]
async fn lists_come_in_pages_of_one_state() {
    let scene = Scene::new();
    for name in ["a", "b", "c"] {
        let labels = json!({ "odd": (name != "b").to_string() });
        scene.post(MAPS, json!({ "metadata": { "name": name, "labels": labels } })).await;
    }
    let names = |list: &Value| {
        let names = list["items"].as_array().expect("items").iter();
        names.map(|item| item["metadata"]["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let (_, first) = scene.get(&format!("{MAPS}?limit=2")).await;
    assert_eq!(
        (names(&first), &first["metadata"]["remainingItemCount"]),
        (vec!["a".into(), "b".into()], &1.into())
    );
    assert_eq!(first["items"][0]["kind"], Value::Null, "the items of a typed list carry no type");
    scene.delete(&format!("{MAPS}/c"), Value::Null).await;
    let page =
        format!("{MAPS}?limit=2&continue={}", first["metadata"]["continue"].as_str().expect("a token"));
    let (_, second) = scene.get(&page).await;
    assert_eq!((names(&second), &second["metadata"]["continue"]), (vec!["c".into()], &Value::Null));
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    scene.server.compact();
    let (code, expired) = scene.get(&page).await;
    assert_eq!((code, &expired["reason"]), (410, &"Expired".into()));

    assert_eq!(names(&scene.get(&format!("{MAPS}?labelSelector=odd%3Dtrue")).await.1), ["a"]);
    assert_eq!(names(&scene.get(&format!("{MAPS}?labelSelector=odd+notin+%28true%29")).await.1), ["b"]);
    assert_eq!(names(&scene.get(&format!("{MAPS}?fieldSelector=metadata.name%3Db")).await.1), ["b"]);
    assert_eq!(names(&scene.get("/api/v1/configmaps").await.1), ["a", "b"]);
    assert_eq!(scene.get(&format!("{MAPS}?resourceVersion=9999")).await.0, 504);
}

#[tokio::test]
async fn secrets_are_selected_by_their_type() {
    const SECRETS: &str = "/api/v1/namespaces/default/secrets";
    let scene = Scene::new();
    for (name, kind) in [("a", "Opaque"), ("b", "example.com/other")] {
        scene.post(SECRETS, json!({ "metadata": { "name": name }, "type": kind })).await;
    }
    let (_, list) = scene.get(&format!("{SECRETS}?fieldSelector=type%3Dexample.com/other")).await;
    let names: Vec<&Value> =
        list["items"].as_array().expect("items").iter().map(|item| &item["metadata"]["name"]).collect();
    assert_eq!(names, ["b"]);
    assert_eq!(
        said(scene.get(&format!("{SECRETS}?fieldSelector=data%3Dx")).await),
        "400 BadRequest field label not supported: data"
    );
}

#[tokio::test]
async fn a_limit_range_says_what_a_container_gets() {
    let scene = Scene::new();
    let limits =
        json!([{ "type": "Container", "max": { "cpu": "2" }, "min": { "cpu": "1", "memory": "1Mi" } }]);
    let range = json!({ "metadata": { "name": "a" }, "spec": { "limits": limits } });
    let (code, made) = scene.post("/api/v1/namespaces/default/limitranges", range).await;
    assert_eq!(code, 201, "{made}");
    let limit = &made["spec"]["limits"][0];
    assert_eq!(limit["default"], json!({ "cpu": "2" }));
    assert_eq!(limit["defaultRequest"], json!({ "cpu": "2", "memory": "1Mi" }));
}

#[tokio::test]
async fn generated_names_differ() {
    let scene = Scene::new();
    let body = json!({ "metadata": { "generateName": "map-" } });
    let (_, one) = scene.post(MAPS, body.clone()).await;
    let (_, two) = scene.post(MAPS, body).await;
    assert_ne!(one["metadata"]["name"], two["metadata"]["name"]);
    assert_eq!(one["metadata"]["name"].as_str().map(str::len), Some("map-".len() + 5));
}

#[tokio::test]
async fn what_is_not_modelled_says_so() {
    let scene = Scene::new();
    scene.post(MAPS, json!({ "metadata": { "name": "a" } })).await;
    for path in [
        "/api/v1/podtemplates",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        "/apis/certificates.k8s.io/v1/certificatesigningrequests",
        "/apis/certificates.k8s.io/v1",
        "/api/v1/nodes/a/proxy",
    ] {
        assert_eq!(scene.get(path).await.0, 501, "{path}");
    }
    let refusal = said(scene.get("/apis/certificates.k8s.io/v1").await);
    assert_eq!(
        refusal,
        "501 NotImplemented the in-process server does not do this: the group certificates.k8s.io; run the test on a real \
         server, with `ControlPlane` or operator-core's `TestCluster::real()`"
    );
}

#[tokio::test]
async fn the_same_life_gives_the_same_calls() {
    let calls = async || {
        let scene = Scene::new();
        for name in ["a", "b"] {
            scene.post(MAPS, json!({ "metadata": { "name": name } })).await;
        }
        scene.delete(&format!("{MAPS}/a"), Value::Null).await;
        (scene.get(MAPS).await, scene.server.audit())
    };
    let (first, second) = (calls().await, calls().await);
    assert_eq!(first, second);
    let verbs: Vec<String> = first.1.iter().map(|event| format!("{} {}", event.verb, event.code)).collect();
    assert_eq!(verbs, ["create 201", "create 201", "delete 200", "list 200"]);
}

impl Scene {
    async fn patch_as(&self, manager: &str, path: &str, body: Value) -> (u16, Value) {
        self.patch(&format!("{path}?fieldManager={manager}"), APPLY, body).await
    }
}

#[tokio::test]
async fn services_get_addresses_and_keep_them() {
    const SERVICES: &str = "/api/v1/namespaces/default/services";
    let scene = Scene::new();
    let service = |name: &str, kind: &str| json!({ "metadata": { "name": name }, "spec": { "type": kind, "ports": [{ "port": 80 }] } });
    let (code, one) = scene.post(SERVICES, service("one", "ClusterIP")).await;
    assert_eq!(
        (code, &one["spec"]["clusterIP"], &one["spec"]["clusterIPs"]),
        (201, &"10.96.1.1".into(), &json!(["10.96.1.1"]))
    );
    let (_, two) = scene.post(SERVICES, service("two", "NodePort")).await;
    assert_eq!(
        (&two["spec"]["clusterIP"], &two["spec"]["ports"][0]["nodePort"]),
        (&"10.96.1.2".into(), &30_086.into())
    );
    let (code, again) = scene.put(&format!("{SERVICES}/one"), service("one", "ClusterIP")).await;
    assert_eq!((code, &again["spec"]["clusterIP"]), (200, &"10.96.1.1".into()));
    assert_eq!(again["metadata"]["resourceVersion"], one["metadata"]["resourceVersion"]);
}

/// A PUT creates an object of some kinds; but not one that was known, and is gone.
#[tokio::test]
async fn a_put_with_a_uid_creates_nothing() {
    const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let scene = Scene::new();
    let path = format!("{LEASES}/a");
    let gone =
        scene.put(&path, json!({ "metadata": { "name": "a", "uid": "abc", "resourceVersion": "5" } })).await;
    assert_eq!(
        said(gone),
        "409 Conflict Operation cannot be fulfilled on leases.coordination.k8s.io \"a\": StorageError: invalid object, \
         Code: 4, Key: /registry/leases/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in \
         precondition: abc, UID in object meta: "
    );
    let (code, _) = scene.put(&path, json!({ "metadata": { "name": "a", "resourceVersion": "5" } })).await;
    assert_eq!(code, 201);
}

/// The real server makes a half of a Service of it, without addresses, which the first PUT makes whole: that isn't modelled,
/// and said so.
#[tokio::test]
async fn a_status_that_is_applied_creates_nothing() {
    let scene = Scene::new();
    let answer = async |path: &str, body: Value| {
        said(scene.patch(&format!("{path}/one/status?fieldManager=one"), APPLY, body).await)
    };
    let body = json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "one" }, "status": {} });
    let refused = answer("/api/v1/namespaces/default/services", body).await;
    let words =
        "501 NotImplemented the in-process server does not do this: objects that are created by their status";
    assert!(refused.starts_with(words), "{refused}");

    let body = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "one" } });
    let refused = answer("/apis/apps/v1/namespaces/default/deployments", body).await;
    assert_eq!(refused, "404 NotFound deployments.apps \"one\" not found");
}

#[tokio::test]
async fn an_event_is_shown_in_both_groups_each_time_in_its_own_form() {
    let scene = Scene::new();
    let (core, new) =
        ("/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events");
    assert_eq!((scene.get(core).await.0, scene.get(new).await.0), (200, 200));
    let about = json!({ "kind": "Pod", "name": "a", "namespace": "default", "uid": "u" });
    let event =
        json!({ "metadata": { "name": "a.1" }, "involvedObject": about, "reason": "Made", "count": 1 });
    let (code, made) = scene.post(core, event).await;
    assert_eq!(code, 201);
    assert_eq!((&made["count"], &made["eventTime"], &made["source"]), (&json!(1), &Value::Null, &json!({})));
    let of_a = format!("{core}?fieldSelector=involvedObject.uid=u,reason=Made");
    assert_eq!(scene.get(&of_a).await.1["items"].as_array().map(Vec::len), Some(1));
    let of_none = format!("{core}?fieldSelector=involvedObject.uid=other");
    assert_eq!(scene.get(&of_none).await.1["items"].as_array().map(Vec::len), Some(0));
    let (_, shown) = scene.get(&format!("{new}/a.1")).await;
    assert_eq!(
        (&shown["apiVersion"], &shown["regarding"]["name"]),
        (&json!("events.k8s.io/v1"), &json!("a"))
    );
    assert_eq!((&shown["deprecatedCount"], &shown["note"]), (&json!(1), &Value::Null));
    let of_a = format!("{new}?fieldSelector=regarding.uid=u");
    assert_eq!(scene.get(&of_a).await.1["items"].as_array().map(Vec::len), Some(1));
    scene.delete(&format!("{new}/a.1"), Value::Null).await;
    assert_eq!(scene.get(&format!("{core}/a.1")).await.0, 404);
}

#[tokio::test]
async fn unknown_and_doubled_fields_are_warned_of_or_refused() {
    let scene = Scene::new();
    let body = r#"{"metadata":{"name":"a","nme":""},"data":{"x":"1","x":"2"},"dat":{},"kind":"ConfigMap","apiVersion":"v1"}"#;
    let send = async |query: &str| {
        let request =
            http::Request::post(format!("{MAPS}?{query}")).header("content-type", "application/json");
        let request = request.body(kube::client::Body::from(body.as_bytes().to_vec())).expect("a request");
        let answer = scene.client.send(request).await.expect("an answer");
        let warnings = answer.headers().get_all("warning").iter();
        let warnings = warnings.map(|warning| warning.to_str().expect("text").to_owned()).collect::<Vec<_>>();
        let body = answer.into_body().collect_bytes().await.expect("a body");
        let body: Value = serde_json::from_slice(&body).expect("json");
        (warnings.join(", "), body["message"].as_str().unwrap_or("-").to_owned())
    };
    let warned = r#"299 - "unknown field \"metadata.nme\"", 299 - "duplicate field \"data.x\"", 299 - "unknown field \"dat\"""#;
    assert_eq!(send("dryRun=All").await, (warned.to_owned(), "-".to_owned()));
    assert_eq!(send("dryRun=All&fieldValidation=Ignore").await, (String::new(), "-".to_owned()));
    let (warnings, refusal) = send("fieldValidation=Strict").await;
    assert_eq!(
        (warnings.as_str(), refusal.as_str()),
        (
            "",
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \
             \"metadata.nme\", duplicate field \"data.x\", unknown field \"dat\""
        )
    );
}
