//! What single objects of a set say about themselves.

use integration_tests::prelude::*;
use operator_core::{BoxError, Objects, Wire as _, dependent::Adoption};

use super::named;

fn map(name: &str, value: &str) -> ConfigMap {
    let data = [("value".to_owned(), value.to_owned())].into();
    ConfigMap { metadata: named(name), data: Some(data), ..ConfigMap::default() }
}

/// Objects with policies, all of which have the value of the primary; nothing if it says so.
fn with_policies(primary: &TestResource) -> Option<Objects> {
    let value = &primary.spec.value;
    let mut objects = Objects::new();
    objects.push(map("plain", value));
    objects.push(map("once", value)).create_only();
    objects.push(map("anew", value)).recreate();
    objects.push(map("whole", value)).replace();
    if value != "less" {
        objects.push(map("stays", value)).orphan();
        objects.push(map("stays-alone", value)).orphan_on_apply();
    }
    (value != "nothing").then_some(objects)
}

#[operator_test]
async fn each_object_is_written_and_let_go_as_it_says() -> Result<()> {
    let scene = Scene::new("bundles-policies").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = script.controller().workflow((with_policies,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "a").await?;
    let created = operator.settled().await?.written();
    assert_eq!(created.iter().filter(|line| line.ends_with("-> 201")).count(), 6, "{created:?}");

    scene.patch("one", json!({ "spec": { "value": "b" } })).await?;
    let mut written = operator.settled().await?.written();
    written.sort_unstable();
    let expected = [
        "DELETE configmaps/anew -> 200",
        "PATCH configmaps/anew -> 201",
        "PATCH configmaps/plain -> 200",
        "PATCH configmaps/stays -> 200",
        "PATCH configmaps/stays-alone -> 200",
        "PUT configmaps/whole -> 200",
    ];
    assert_eq!(written, expected, "{:?}", outcomes.lines("one"));

    scene.patch("one", json!({ "spec": { "value": "less" } })).await?;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    for name in ["stays", "stays-alone"] {
        let left = maps.get(name).await?;
        assert!(left.labels().is_empty() && left.data.is_some(), "{name} is nobody's: {left:?}");
    }
    scene.patch("one", json!({ "spec": { "value": "nothing" } })).await?;
    operator.settled().await?;
    for name in ["plain", "once", "anew", "whole"] {
        assert!(maps.get_opt(name).await?.is_none(), "{name} is gone");
    }
    assert!(scene.resources.get("one").await?.annotations().get("operator-core.io/kinds").is_none());
    Ok(())
}

/// Waves, and something that is needed only in between.
fn in_waves(primary: &TestResource) -> Objects {
    let mut objects = Objects::new();
    objects.push(map("last", &primary.spec.value)).wave(2);
    objects.push(map("between", &primary.spec.value)).wave(1).purged_after(1);
    objects.push(map("first", &primary.spec.value)).wave(-1);
    objects
}

#[operator_test]
async fn waves_come_one_after_the_other_and_what_is_purged_stays_away() -> Result<()> {
    let scene = Scene::new("bundles-waves").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = || script.controller().workflow((in_waves,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller()).await?;
    scene.create("one", "a").await?;
    let maps = |settled: operator_core::testing::Settled| {
        let written = settled.written().into_iter();
        written.filter(|line| line.contains("configmaps/")).collect::<Vec<_>>()
    };
    let expected = [
        "PATCH configmaps/first -> 201",
        "PATCH configmaps/between -> 201",
        "DELETE configmaps/between -> 200",
        "PATCH configmaps/last -> 201",
    ];
    assert_eq!(maps(operator.settled().await?), expected, "{:?}", outcomes.lines("one"));
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()), "{:?}", outcomes.lines("one"));

    operator.stop().await;
    let operator = scene.start(controller()).await?;
    let settled = operator.settled().await?;
    assert!(settled.requests.is_empty(), "what was purged isn't made again: {:?}", settled.requests);

    scene.patch("one", json!({ "spec": { "value": "b" } })).await?;
    let expected = [
        "PATCH configmaps/first -> 200",
        "PATCH configmaps/between -> 201",
        "DELETE configmaps/between -> 200",
        "PATCH configmaps/last -> 200",
    ];
    assert_eq!(maps(operator.settled().await?), expected, "but for other content it is");
    Ok(())
}

/// With mistakes.
fn faulty(_: &TestResource) -> Objects {
    let mut objects = Objects::new();
    objects.push(map("twice", "a"));
    objects.push(map("twice", "b"));
    objects.push(ConfigMap::default());
    objects
}

#[operator_test]
async fn a_set_with_faults_is_one_error_and_touches_nothing() -> Result<()> {
    let scene = Scene::new("bundles-faults").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((faulty,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.failures.expect(
        "faulty: the set has 2 faults: ConfigMap twice: it is in the set twice; ConfigMap without a name: it has no `name`",
    );
    scene.create("one", "a").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "no retry can help");
    assert!(settled.written().iter().all(|line| !line.contains("configmaps")), "{:?}", settled.written());
    Ok(())
}

fn with_replicas(primary: &TestResource) -> Result<Objects, BoxError> {
    let mut objects = Objects::new();
    let labels = json!({ "app": "web" });
    let web: Deployment = from_json(&json!({
        "metadata": { "name": "web", "annotations": { "value": primary.spec.value } },
        "spec": {
            "replicas": 2,
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": { "containers": [{ "name": "one", "image": "one" }] } }
        }
    }))?;
    objects.push(web).ignore_fields(["/spec/replicas"]);
    Ok(objects)
}

#[operator_test]
async fn a_field_that_is_left_to_others_is_sent_once() -> Result<()> {
    let scene = Scene::new("bundles-ignored").await?;
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((with_replicas.ready_when_applied(),));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "a").await?;
    let created = operator.settled().await?.written();
    let created: Vec<_> = created.iter().filter(|line| line.contains("deployments/")).collect();
    assert_eq!(created, ["PATCH deployments/web -> 201"], "what was sent once isn't a difference");
    let webs = scene.api::<Deployment>();
    let replicas =
        async || Ok::<_, anyhow::Error>(webs.get("web").await?.spec.and_then(|spec| spec.replicas));
    assert_eq!(replicas().await?, Some(2));

    let scaled = json!({ "spec": { "replicas": 5 } });
    webs.patch("web", &PatchParams::default(), &Patch::Merge(scaled)).await?;
    let settled = operator.settled().await?;
    assert!(settled.requests.is_empty(), "{:?}", settled.requests);

    scene.patch("one", json!({ "spec": { "value": "b" } })).await?;
    // The server's own controller may have changed it a moment ago.
    assert_eq!(accepted(&operator.settled().await?), ["PATCH deployments/web -> 200"]);
    assert_eq!(replicas().await?, Some(5), "another change leaves it alone, too");
    Ok(())
}

/// An object for each policy of adoption.
fn adopting(primary: &TestResource) -> Objects {
    let mut objects = Objects::new();
    for (name, adoption) in
        [("never", Adoption::Never), ("unowned", Adoption::IfUnowned), ("always", Adoption::Always)]
    {
        if primary.spec.value.split(' ').any(|said| said == name) {
            objects.push(map(name, "ours")).adopt(adoption);
        }
    }
    objects
}

#[operator_test]
async fn an_object_of_another_is_taken_over_as_the_policy_says() -> Result<()> {
    let scene = Scene::new("bundles-adoption").await?;
    let maps = scene.api::<ConfigMap>();
    let owner = scene
        .api::<Secret>()
        .create(&PostParams::default(), &from_json(&json!({ "metadata": { "name": "owner" } }))?)
        .await?;
    let uid = owner.metadata.uid.unwrap_or_default();
    for (name, is_owned) in [("never", false), ("unowned", false), ("always", true)] {
        let mut theirs = map(name, "theirs");
        if is_owned {
            let reference = json!([{ "apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": uid }]);
            theirs.metadata.owner_references = Some(serde_json::from_value(reference)?);
        }
        maps.create(&PostParams::default(), &theirs).await?;
    }
    let (script, _) = looking_on::<TestResource>();
    let controller = script.controller().workflow((adopting.may_be_empty(),));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "unowned always").await?;
    operator.settled().await?;
    let value = async |name: &str| {
        let data = maps.get(name).await?.data.unwrap_or_default();
        Ok::<_, anyhow::Error>(data.get("value").cloned().unwrap_or_default())
    };
    assert_eq!((value("unowned").await?, value("always").await?), ("ours".to_owned(), "ours".to_owned()));

    scene.failures.expect("ConfigMap bundles-adoption");
    scene.patch("one", json!({ "spec": { "value": "unowned always never" } })).await?;
    operator.settled().await?;
    assert_eq!(value("never").await?, "theirs");
    // It is in the way until somebody deletes it; then nothing more has to be done.
    maps.delete("never", &Default::default()).await?;
    eventually("the object in its place", async || {
        Ok((value("never").await.unwrap_or_default() == "ours").then_some(()))
    })
    .await?;
    operator.settled().await?;
    Ok(())
}

fn made_anew(primary: &TestResource) -> Objects {
    let mut objects = Objects::new();
    objects.push(map("anew", &primary.spec.value)).recreate();
    objects.push(map("later", "same")).wave(1);
    objects
}

#[operator_test]
async fn what_is_made_anew_is_left_alone_until_it_is_gone() -> Result<()> {
    let scene = Scene::new("bundles-anew").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = script.controller().workflow((made_anew,)).namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "a").await?;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    let keep = |finalizers: Value| Patch::Merge(json!({ "metadata": { "finalizers": finalizers } }));
    maps.patch("anew", &PatchParams::default(), &keep(json!(["example.com/keep"]))).await?;
    operator.settled().await?;
    scene.patch("one", json!({ "spec": { "value": "b" } })).await?;
    assert_eq!(operator.settled().await?.written(), ["DELETE configmaps/anew -> 200"]);
    scene.patch("one", json!({ "spec": { "value": "c" } })).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0], "it is going: {:?}", outcomes.lines("one"));
    let lines = outcomes.lines("one");
    assert!(format!("{lines:?}").contains("is made anew when it is gone"), "{lines:?}");

    maps.patch("anew", &PatchParams::default(), &keep(json!(null))).await?;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/anew -> 201"]);
    assert!(outcomes.last("one").is_some_and(|result| result.all_ready()), "{:?}", outcomes.lines("one"));
    Ok(())
}
