//! Which objects are taken over, and which aren't.

use integration_tests::prelude::*;
use operator_core::dependent::Adoption;

use super::{marks, pass, saying, scene, somebodys_map, under};

fn controller(scene: &Scene, adoption: Adoption) -> Result<ControllerBuilder<Script<TestResource>>> {
    Ok(scene.managed(&saying(), &workflow_of_one(wanted_map("a").adopt(adoption))?))
}

#[operator_test]
async fn every_object_that_a_node_writes_says_whose_it_is() -> Result<()> {
    let scene = Scene::new("marks-on").await?;
    let operator = scene.start(controller(&scene, Adoption::Never)?).await?;
    let one = scene.create("one", "first").await?;
    operator.settled().await?;
    let map = scene.api::<ConfigMap>().get("one-a").await?;
    let uid = one.metadata.uid.unwrap_or_default();
    assert_eq!(marks(&map), ["script".to_owned(), "a".to_owned(), uid]);
    let mark = map.annotations().get("operator-core.io/mark").cloned().unwrap_or_default();
    assert_eq!(mark.split('.').map(str::len).collect::<Vec<_>>(), [32, 32, 32], "{mark}");
    Ok(())
}

/// In a selector or template they would make objects of others match, or roll everything out again after a renaming.
#[operator_test]
async fn marks_stand_in_the_object_s_own_metadata_only() -> Result<()> {
    let scene = Scene::new("marks-own").await?;
    let desired = |primary: &TestResource| {
        let labels = json!({ "app": "web" });
        let containers = json!([{ "name": "app", "image": "app" }]);
        let template = json!({ "metadata": { "labels": labels }, "spec": { "containers": containers } });
        let spec = json!({ "replicas": 0, "selector": { "matchLabels": labels }, "template": template });
        let deployment = json!({ "metadata": meta_of(primary, "web"), "spec": spec });
        from_json::<Deployment>(&deployment).expect("a deployment")
    };
    let workflow = workflow_of_one(wanted("web", desired))?;
    let operator = scene.start(scene.managed(&saying(), &workflow)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let made = serde_json::to_value(scene.api::<Deployment>().get("one-web").await?)?;
    assert_eq!(made["metadata"]["labels"].as_object().map(|labels| labels.len()), Some(3), "{made}");
    assert_eq!(made["spec"]["template"]["metadata"]["labels"], json!({ "app": "web" }));
    assert!(!made["spec"].to_string().contains("operator-core.io"), "{made}");
    Ok(())
}

/// Objects with and without an owner, under each policy: the first line of the errors, and the owner in the end.
async fn adopted(adoption: Adoption, owned: bool) -> Result<(String, Vec<String>)> {
    let scene = scene().await?;
    scene.failures.allow("exists already");
    let theirs = somebodys_map(&scene, "one-a").await?;
    if owned {
        let other = scene.create("two", "other").await?;
        let owner = json!([{ "apiVersion": "conformance.operator-core.io/v1", "kind": "TestResource",
            "name": "two", "uid": other.metadata.uid }]);
        let patch = Patch::Merge(json!({ "metadata": { "ownerReferences": owner } }));
        scene.api::<ConfigMap>().patch(&theirs.name_any(), &PatchParams::default(), &patch).await?;
    }
    let operator = under(&Faults::none(), &scene, controller(&scene, adoption)?).await?;
    scene.create("one", "ours").await?;
    pass(30).await;
    let value = scene.values().await?.get("one-a").cloned().unwrap_or_default();
    let writes = operator.settled().await?.written();
    let writes = writes.into_iter().filter(|write| write.contains("configmaps/one-a")).collect();
    Ok((value, writes))
}

#[tokio::test(start_paused = true)]
async fn what_is_not_ours_is_taken_over_only_as_the_policy_says() -> Result<()> {
    for (adoption, owned, value) in [
        (Adoption::Never, false, "theirs"),
        (Adoption::Never, true, "theirs"),
        (Adoption::IfUnowned, false, "ours"),
        (Adoption::IfUnowned, true, "theirs"),
        (Adoption::Always, false, "ours"),
        (Adoption::Always, true, "ours"),
    ] {
        let (found, writes) = adopted(adoption, owned).await?;
        assert_eq!(found, value, "{adoption}, owned: {owned}: {writes:?}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_error_names_whose_it_is_and_the_line_to_write() -> Result<()> {
    let scene = scene().await?;
    scene.failures.expect("it names no owner, and was written by");
    scene.failures.expect("take it over with `.adopt(Adoption::IfUnowned)`");
    somebodys_map(&scene, "one-a").await?;
    let operator = under(&Faults::none(), &scene, controller(&scene, Adoption::Never)?).await?;
    scene.create("one", "ours").await?;
    pass(30).await;
    operator.settled().await?;
    Ok(())
}

/// Another operator's controller of the same name, in another namespace, has a primary and a node of the same names.
#[tokio::test(start_paused = true)]
async fn what_is_another_node_s_is_named() -> Result<()> {
    let scene = scene().await?;
    scene
        .failures
        .expect("according to its labels node `other` of controller `script`, for the primary with uid");
    let operator = under(&Faults::none(), &scene, controller(&scene, Adoption::Never)?).await?;
    let one = scene.create("one", "ours").await?;
    pass(10).await;
    let edit = json!({ "metadata": { "ownerReferences": null, "labels": { "operator-core.io/node": "other",
        "operator-core.io/owner": "somebody" } } });
    scene.api::<ConfigMap>().patch("one-a", &PatchParams::default(), &Patch::Merge(edit)).await?;
    pass(30).await;
    operator.settled().await?;
    drop(one);
    Ok(())
}

/// Owner reference or mapping annotations, and our field manager, as under another prefix of the marks.
#[tokio::test(start_paused = true)]
async fn what_is_ours_without_marks_gets_them_once() -> Result<()> {
    for owned in [true, false] {
        let scene = scene().await?;
        let one = scene.create("one", "first").await?;
        let mut map = map_of(&one, "a", "first");
        if owned {
            map.metadata.owner_references = one.controller_owner_ref(&()).map(|owner| vec![owner]);
        } else {
            let annotations = [("name", "one"), ("namespace", &*scene.namespace)];
            let annotations = annotations
                .map(|(key, value)| (format!("io.javaoperatorsdk/primary-{key}"), value.to_owned()));
            map.metadata.annotations = Some(annotations.into());
        }
        let maps = scene.api::<ConfigMap>();
        let ours = PostParams { field_manager: Some("script".to_owned()), ..PostParams::default() };
        maps.create(&ours, &map).await?;
        let node = wanted_map("a");
        let workflow = workflow_of_one(if owned { node } else { node.without_owner() })?;
        let controller = scene.managed(&saying(), &workflow).generation_aware(false);
        let operator = under(&Faults::none(), &scene, controller).await?;
        pass(30).await;
        let written = operator.settled().await?.written();
        let writes: Vec<_> = written.iter().filter(|write| write.contains("configmaps/")).collect();
        // Nobody sees it before the marks are on, so that the first try is to create it.
        assert_eq!(
            writes,
            ["PATCH configmaps/one-a -> 409", "PATCH configmaps/one-a -> 200"],
            "owned: {owned}"
        );
        scene.patch("one", json!({ "metadata": { "annotations": { "again": "1" } } })).await?;
        pass(30).await;
        let second = operator.settled().await?;
        assert_eq!((second.runs_of(&scene.key("one")), second.written()), (1, Vec::new()), "the second run");
        assert_eq!(marks(&maps.get("one-a").await?)[1], "a");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_prefix_of_one_s_own_stands_in_all_marks() -> Result<()> {
    let scene = scene().await?;
    let prefixed: OperatorBuilder = scene.operator().mark_prefix("example.com");
    let workflow = workflow_of_one(wanted_map("a"))?;
    let operator = prefixed.register(scene.managed(&saying(), &workflow)).build()?;
    operator.start().await?;
    scene.create("one", "first").await?;
    pass(30).await;
    let map = scene.api::<ConfigMap>().get("one-a").await?;
    let mut keys: Vec<_> = map.labels().keys().chain(map.annotations().keys()).cloned().collect();
    keys.sort_unstable();
    let own = ["controller", "mark", "node", "owner"].map(|name| format!("example.com/{name}"));
    assert_eq!(keys, own);
    operator.stop().await;
    Ok(())
}
