//! Custom kinds, from their definition to its end.

use super::*;

#[tokio::test]
async fn a_definition_is_established_and_served() {
    let scene = Scene::new();
    assert_eq!(scene.get(PAGES).await, (404, "404 page not found\n".into()));
    let (code, made) = scene.post(CRDS, pages()).await;
    assert_eq!(code, 201, "{made}");
    assert_eq!(
        made["spec"]["names"],
        json!({ "kind": "Page", "plural": "pages", "singular": "page", "listKind": "PageList" })
    );
    assert_eq!(made["status"]["storedVersions"], json!(["v1"]));
    let (_, established) = scene.get(&format!("{CRDS}/pages.ex.com")).await;
    let conditions = established["status"]["conditions"].as_array().expect("conditions");
    let types: Vec<&Value> = conditions.iter().map(|condition| &condition["type"]).collect();
    assert_eq!(types, ["NamesAccepted", "Established"]);
    assert_eq!(established["status"]["acceptedNames"], made["spec"]["names"]);
    assert_eq!(established["metadata"]["generation"], 1);

    let (_, list) = scene.get("/apis/ex.com/v1/pages").await;
    assert_eq!((&list["kind"], &list["items"]), (&"PageList".into(), &json!([])));
    let (_, resources) = scene.get("/apis/ex.com/v1").await;
    assert_eq!(resources["resources"][1]["name"], "pages/status");
    let (_, groups) = scene.get("/apis").await;
    assert!(groups["groups"].as_array().expect("groups").iter().any(|group| group["name"] == "ex.com"));
}

#[tokio::test]
async fn spec_and_status_have_an_endpoint_each() {
    let scene = Scene::with_pages().await;
    let mut body = page("a", "1");
    body["status"] = json!({ "s": "x" });
    body["spec"]["unknown"] = json!(1);
    let (code, made) = scene.post(PAGES, body).await;
    assert_eq!((code, &made["spec"], &made["status"]), (201, &json!({ "a": "1", "n": 3 }), &Value::Null));
    let (path, status) = (format!("{PAGES}/a"), format!("{PAGES}/a/status"));

    let (_, same) = scene.patch(&path, MERGE, json!({ "status": { "s": "y" } })).await;
    assert_eq!(same["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
    let both =
        json!({ "status": { "s": "y" }, "spec": { "a": "2" }, "metadata": { "labels": { "l": "1" } } });
    let (_, changed) = scene.patch(&status, MERGE, both).await;
    assert_eq!((&changed["status"]["s"], &changed["spec"]["a"]), (&"y".into(), &"1".into()));
    assert_eq!(
        (&changed["metadata"]["labels"], &changed["metadata"]["generation"]),
        (&Value::Null, &1.into())
    );
    let (_, labelled) = scene.patch(&path, MERGE, json!({ "metadata": { "labels": { "l": "1" } } })).await;
    assert_eq!(labelled["metadata"]["generation"], 1);
    let (_, changed) = scene.patch(&path, MERGE, json!({ "spec": { "a": "2" } })).await;
    assert_eq!((&changed["metadata"]["generation"], &changed["status"]["s"]), (&2.into(), &"y".into()));

    assert_eq!(
        said(scene.put(&path, page("a", "3")).await),
        "422 Invalid pages.ex.com \"a\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an \
         update"
    );
    assert_eq!(
        said(scene.post(PAGES, json!({ "apiVersion": "ex.com/v1", "kind": "Page", "metadata": { "name": "b" }, "spec": {} })).await),
        "422 Invalid Page.ex.com \"b\" is invalid: spec.a: Required value"
    );
    let applied = json!({ "apiVersion": "ex.com/v1", "kind": "Page", "metadata": { "name": "b" }, "status": { "s": "1" } });
    let locked = json!({
        "apiVersion": "ex.com/v1", "kind": "Page", "metadata": { "name": "a", "resourceVersion": "1" }, "status": { "s": "1" },
    });
    let outdated = scene.patch(&format!("{status}?fieldManager=m"), APPLY, locked).await;
    assert_eq!((outdated.0, &outdated.1["reason"]), (409, &"Conflict".into()));
    let gone = scene.patch(&format!("{PAGES}/b/status?fieldManager=m"), APPLY, applied).await;
    assert_eq!(said(gone), "404 NotFound pages.ex.com \"b\" not found");
}

#[tokio::test]
async fn objects_are_selected_by_the_fields_of_the_definition() {
    let scene = Scene::with_pages().await;
    scene.post(PAGES, page("a", "1")).await;
    scene.post(PAGES, page("b", "2")).await;
    let (_, list) = scene.get(&format!("{PAGES}?fieldSelector=spec.a%3D2")).await;
    assert_eq!(list["items"][0]["metadata"]["name"], "b");
    assert_eq!(list["items"][0]["kind"], "Page", "the items of a custom list carry their type");
    assert_eq!(
        said(scene.get(&format!("{PAGES}?fieldSelector=spec.n%3D2")).await),
        "400 BadRequest field label not supported: spec.n"
    );
}

#[tokio::test]
async fn a_definition_takes_its_objects_with_it() {
    let scene = Scene::with_pages().await;
    let mut kept = page("kept", "1");
    kept["metadata"]["finalizers"] = json!(["x.com/f"]);
    scene.post(PAGES, kept).await;
    scene.post(PAGES, page("a", "1")).await;
    let (code, ending) = scene.delete(&format!("{CRDS}/pages.ex.com"), Value::Null).await;
    assert_eq!(code, 200);
    assert_eq!(ending["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    assert_eq!(ending["metadata"]["deletionGracePeriodSeconds"], Value::Null);
    assert_eq!(scene.get(&format!("{PAGES}/a")).await.0, 404);
    assert_eq!(
        said(scene.post(PAGES, page("late", "1")).await),
        "403 Forbidden pages.ex.com \"late\" is forbidden: create not allowed while custom resource definition is \
         terminating"
    );
    let (_, kept) = scene.get(&format!("{PAGES}/kept")).await;
    assert!(kept["metadata"]["deletionTimestamp"].is_string());
    scene.patch(&format!("{PAGES}/kept"), MERGE, json!({ "metadata": { "finalizers": null } })).await;
    assert_eq!(scene.get(PAGES).await, (404, "404 page not found\n".into()));
    assert_eq!(scene.get(&format!("{CRDS}/pages.ex.com")).await.0, 404);
}

#[tokio::test]
async fn all_versions_share_the_objects() {
    let scene = Scene::new();
    let mut definition = pages();
    let mut second = definition["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    second["storage"] = false.into();
    definition["spec"]["versions"].as_array_mut().expect("versions").push(second);
    scene.post(CRDS, definition).await;
    let (code, made) = scene
        .post(&PAGES.replace("v1", "v2"), {
            let mut page = page("a", "1");
            page["apiVersion"] = "ex.com/v2".into();
            page
        })
        .await;
    assert_eq!((code, &made["apiVersion"]), (201, &"ex.com/v2".into()));
    let (_, first) = scene.get(&format!("{PAGES}/a")).await;
    assert_eq!(
        (&first["apiVersion"], &first["metadata"]["uid"]),
        (&"ex.com/v1".into(), &made["metadata"]["uid"])
    );
    let (_, second) = scene.get(&format!("{PAGES}/a").replace("v1", "v2")).await;
    assert_eq!(second, made);
}

#[tokio::test]
async fn a_write_to_the_status_says_what_is_stored_and_one_to_the_definition_adds_its_version() {
    let scene = Scene::with_pages().await;
    let path = format!("{CRDS}/pages.ex.com");
    let mut versions = json!([pages()["spec"]["versions"][0], pages()["spec"]["versions"][0]]);
    (versions[0]["storage"], versions[1]["name"]) = (false.into(), "v2".into());
    let (code, changed) = scene.patch(&path, MERGE, json!({ "spec": { "versions": versions } })).await;
    assert_eq!((code, &changed["status"]["storedVersions"]), (200, &json!(["v1", "v2"])));

    // Whoever has moved all objects says so in the status. The version of the storage is noted by writes to the definition only.
    let stored = json!({ "status": { "storedVersions": ["v1"] } });
    assert_eq!(scene.patch(&format!("{path}/status"), MERGE, stored).await.0, 200);
    let (_, read) = scene.get(&path).await;
    assert_eq!(read["status"]["storedVersions"], json!(["v1"]));
    let (_, labelled) = scene.patch(&path, MERGE, json!({ "metadata": { "labels": { "l": "1" } } })).await;
    assert_eq!(labelled["status"]["storedVersions"], json!(["v1", "v2"]));
}

#[tokio::test]
async fn an_apply_that_changes_nothing_fills_nothing_in() {
    let scene = Scene::new();
    let mut definition = pages();
    let mut version = definition["spec"]["versions"][0].take();
    version["selectableFields"] = Value::Null;
    let mut stored = version.clone();
    (stored["served"], version["storage"], version["name"]) = (false.into(), false.into(), "v2".into());
    // It is stored in a version that doesn't know a field which the other one fills in.
    stored["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] =
        json!({ "a": { "type": "string" } });
    definition["spec"]["versions"] = json!([stored, version]);
    assert_eq!(scene.post(CRDS, definition).await.0, 201);

    let path = "/apis/ex.com/v2/namespaces/default/pages";
    let mut body = page("a", "1");
    body["apiVersion"] = "ex.com/v2".into();
    assert_eq!(scene.post(path, body.clone()).await.0, 201);
    let (code, applied) = scene.patch(&format!("{path}/a?fieldManager=one"), APPLY, body).await;
    assert_eq!((code, &applied["spec"]), (200, &json!({ "a": "1" })));
    assert_eq!(applied["metadata"]["generation"], 1);
}

#[tokio::test]
async fn an_object_that_does_not_fit_its_changed_definition_has_no_managed_fields_and_takes_no_apply() {
    let scene = Scene::with_pages().await;
    let managed = |page: &Value| page["metadata"]["managedFields"].as_array().map_or(0, Vec::len);
    assert_eq!(scene.post(PAGES, page("a", "text")).await.0, 201);
    let mut spec = pages()["spec"].take();
    spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["a"] =
        json!({ "type": "integer" });
    assert_eq!(scene.patch(&format!("{CRDS}/pages.ex.com"), MERGE, json!({ "spec": spec })).await.0, 200);

    let path = format!("{PAGES}/a");
    let apply = format!("{path}?fieldManager=one");
    let applied = |spec| json!({ "apiVersion": "ex.com/v1", "kind": "Page", "metadata": { "name": "a", "namespace": "default" }, "spec": spec });
    let whose = "(default/a; ex.com/v1, Kind=Page)";
    let why = ".spec.a: expected numeric (int or float), got string";
    assert_eq!(
        said(scene.patch(&apply, APPLY, applied(json!({ "n": 1 }))).await),
        format!("500 - failed to create typed live object {whose}: {why}")
    );
    assert_eq!(
        said(scene.patch(&apply, APPLY, applied(json!({ "a": "1" }))).await),
        format!("500 - failed to create typed patch object {whose}: {why}")
    );

    let (code, labelled) = scene.patch(&path, MERGE, json!({ "metadata": { "labels": { "l": "1" } } })).await;
    assert_eq!((code, managed(&labelled)), (200, 0));
    assert_eq!(
        said(scene.patch(&apply, APPLY, applied(json!({ "a": "1" }))).await),
        format!(
            "500 - failed to create manager for existing fields: failed to convert new object {whose} to smd typed: {why}"
        )
    );

    let (code, mended) = scene.patch(&path, MERGE, json!({ "spec": { "a": 1 } })).await;
    assert_eq!((code, managed(&mended)), (200, 0));
    let (code, applied) = scene.patch(&apply, APPLY, applied(json!({ "n": 1 }))).await;
    assert_eq!((code, managed(&applied)), (409, 0), "{applied}");
}

/// A number that is written with a point is another one for a generation, but not in an apply, which is YAML.
#[tokio::test]
async fn a_whole_number_with_a_point_counts_as_a_change_unless_it_is_applied() {
    let scene = Scene::with_pages().await;
    let mut spec = pages()["spec"].take();
    spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["ratio"] =
        json!({ "type": "number" });
    assert_eq!(scene.patch(&format!("{CRDS}/pages.ex.com"), MERGE, json!({ "spec": spec })).await.0, 200);
    let path = format!("{PAGES}/a");
    let applied = |spec| json!({ "apiVersion": "ex.com/v1", "kind": "Page", "metadata": { "name": "a", "namespace": "default" }, "spec": spec });
    assert_eq!(scene.post(PAGES, applied(json!({ "a": "x", "n": 2, "ratio": 1 }))).await.0, 201);

    let apply = format!("{path}?fieldManager=one&force=true");
    let add = json!([{ "op": "add", "path": "/spec/ratio", "value": 1.0 }]);
    let steps = [
        ("an integer", scene.patch(&path, MERGE, json!({ "spec": { "n": 2.0 } })).await, 2),
        ("an apply", scene.patch(&apply, APPLY, applied(json!({ "a": "x", "ratio": 1.0 }))).await, 2),
        ("a merge", scene.patch(&path, MERGE, json!({ "spec": { "ratio": 1.0 } })).await, 3),
        ("a patch", scene.patch(&path, "application/json-patch+json", add).await, 4),
        ("a merge without a point", scene.patch(&path, MERGE, json!({ "spec": { "ratio": 1 } })).await, 4),
    ];
    for (what, (code, object), generation) in steps {
        assert_eq!(
            (code, object["metadata"]["generation"].as_i64()),
            (200, Some(generation)),
            "{what}: {object}"
        );
    }
}
