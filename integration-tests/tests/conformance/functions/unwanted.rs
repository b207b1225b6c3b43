//! Unwanted objects are deleted, also while their nodes' dependencies aren't ready; held objects stay.

use anyhow::Result;
use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Pod;
use operator_core::{Verdict, Want, prelude::*};

use super::{a_map, a_secret, done, says};

fn html(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

/// Ready until somebody says that it isn't.
fn sound(html: &ConfigMap) -> Verdict {
    let value = html.data.as_ref().and_then(|data| data.get("value")).map_or("", String::as_str);
    Verdict::when(!value.contains("broken"), "the html is broken")
}

fn entrance(primary: &TestResource) -> Option<Secret> {
    says(primary, "exposed").then(a_secret)
}

#[operator_test]
async fn what_is_switched_off_goes_while_what_it_depends_on_is_not_ready() -> Result<()> {
    let scene = Scene::new("functions-unwanted").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = script.controller().workflow((html.ready(sound), entrance.after(html)));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "exposed").await?;
    let created = operator.settled().await?;
    let expected = ["PATCH configmaps/one-html -> 201", "PATCH secrets/one-entrance -> 201"];
    assert_eq!(done(&created), expected);

    scene.patch("one", json!({ "spec": { "value": "exposed broken" } })).await?;
    let broken = operator.settled().await?;
    assert_eq!(done(&broken), ["PATCH configmaps/one-html -> 200"], "the entrance stays as it is");
    let states = [
        "html: updated, not ready: the html is broken",
        "entrance: waiting for html to be ready: the html is broken",
    ];
    assert_eq!(outcomes.lines("one"), states);

    scene.patch("one", json!({ "spec": { "value": "broken" } })).await?;
    let off = operator.settled().await?;
    let expected = ["PATCH configmaps/one-html -> 200", "DELETE secrets/one-entrance -> 200"];
    assert_eq!(done(&off), expected);
    let result = outcomes.last("one").expect("the workflow has run");
    let unwanted = node_of(&result, "entrance").unwanted.clone().expect("it is removed");
    assert_eq!((unwanted.by.as_deref(), &*unwanted.reason), (Some("entrance"), "it is not wanted"));
    Ok(())
}

fn network(primary: &TestResource) -> Want<ConfigMap> {
    match says(primary, "networked") {
        true => Want::of(a_map(primary)),
        false => Want::none("no network is asked for"),
    }
}

fn database(primary: &TestResource) -> Result<Want<ConfigMap>> {
    Ok(match says(primary, "frozen") {
        true => Want::hold("Frozen", "the database is frozen"),
        false => a_map(primary).into(),
    })
}

fn client(_: &TestResource) -> Secret {
    a_secret()
}

#[operator_test]
async fn a_hold_protects_its_node_and_stops_what_comes_down_the_chain() -> Result<()> {
    let scene = Scene::new("functions-hold").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller =
        script.controller().workflow((network, database.requires(network), client.requires(database)));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "networked").await?;
    let created = operator.settled().await?;
    let expected = [
        "PATCH configmaps/one-network -> 201",
        "PATCH configmaps/one-database -> 201",
        "PATCH secrets/one-client -> 201",
    ];
    assert_eq!(done(&created), expected);

    scene.patch("one", json!({ "spec": { "value": "frozen" } })).await?;
    let held = operator.settled().await?;
    assert_eq!(done(&held), [""; 0], "neither what it holds back nor what comes after it");
    let lines = outcomes.lines("one");
    let expected = [
        "network: waiting for database to be released: the database is frozen",
        "database: held: the database is frozen",
        "client: waiting for database to be released: the database is frozen",
    ];
    assert_eq!(lines, expected);

    scene.patch("one", json!({ "spec": { "value": "" } })).await?;
    let gone = operator.settled().await?;
    let expected = [
        "DELETE secrets/one-client -> 200",
        "DELETE configmaps/one-database -> 200",
        "DELETE configmaps/one-network -> 200",
    ];
    assert_eq!(done(&gone), expected, "from the far end");
    Ok(())
}

fn runner(_: &TestResource) -> Pod {
    serde_json::from_value(
        json!({ "spec": { "schedulerName": "nobody", "containers": [{ "name": "main", "image": "main" }] } }),
    )
    .expect("it is a pod")
}

#[operator_test]
async fn an_object_is_ready_when_its_status_says_so_unless_that_is_not_asked() -> Result<()> {
    let scene = Scene::new("functions-ready").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let late = |primary: &TestResource| a_map(primary);
    let early = |primary: &TestResource| a_map(primary);
    let second = |primary: &TestResource| runner(primary);
    let controller = script.controller().workflow((
        runner,
        late.after(runner).named("late"),
        second.ready_when_applied().named("second"),
        early.named("early").after(second),
    ));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "").await?;
    let created = operator.settled().await?;
    let maps: Vec<_> = done(&created).into_iter().filter(|write| write.contains("configmaps")).collect();
    assert_eq!(maps, ["PATCH configmaps/one-early -> 201"]);
    let lines = outcomes.lines("one");
    assert!(lines[0].starts_with("runner: created, not ready: "), "{lines:?}");
    assert!(lines[1].starts_with("late: waiting for runner to be ready"), "{lines:?}");
    Ok(())
}

fn called(primary: &TestResource, suffix: &str) -> ConfigMap {
    let mut map = a_map(primary);
    map.metadata.name = Some(format!("{}-{suffix}", primary.name_any()));
    map
}

fn old(primary: &TestResource) -> Option<ConfigMap> {
    says(primary, "old").then(|| called(primary, "old"))
}

/// Writes down whether it sees the object of the node before it, by its key and among those of the primary.
fn looker(primary: &TestResource, cx: &Context<TestResource>) -> Result<ConfigMap> {
    let mut map = called(primary, "looker");
    let namespace = primary.namespace().unwrap_or_default();
    let by_key =
        cx.get::<ConfigMap>(&ObjectKey::namespaced(&namespace, &format!("{}-old", primary.name_any())))?;
    let of_primary = cx.secondary_named::<ConfigMap>(&format!("{}-old", primary.name_any()))?;
    let seen = format!("{} {}", by_key.is_some(), of_primary.is_some());
    map.data = Some([("seen".to_owned(), seen)].into());
    Ok(map)
}

#[operator_test]
async fn what_is_going_is_not_seen_by_what_comes_after_it() -> Result<()> {
    let scene = Scene::new("functions-going").await?;
    let (script, _outcomes) = looking_on::<TestResource>();
    let controller = script.controller().workflow((old, looker.after(old)));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    let seen = async || {
        let map = scene.api::<ConfigMap>().get("one-looker").await?;
        anyhow::Ok(map.data.and_then(|data| data.get("seen").cloned()).unwrap_or_default())
    };
    scene.create("one", "old").await?;
    operator.settled().await?;
    assert_eq!(seen().await?, "true true");
    scene.patch("one", json!({ "spec": { "value": "new" } })).await?;
    let expected = ["PATCH configmaps/one-looker -> 200", "DELETE configmaps/one-old -> 200"];
    assert_eq!(done(&operator.settled().await?), expected, "it goes after what comes after it was written");
    assert_eq!(seen().await?, "false false");
    Ok(())
}

fn left(primary: &TestResource) -> ConfigMap {
    called(primary, if says(primary, "swapped") { "b" } else { "a" })
}

fn right(primary: &TestResource) -> ConfigMap {
    called(primary, if says(primary, "swapped") { "a" } else { "b" })
}

/// Without an order between the two, each takes over the other's object, as it is.
#[operator_test]
async fn names_are_swapped_in_place_unless_one_node_comes_after_the_other() -> Result<()> {
    for in_order in [false, true] {
        let scene = Scene::new("functions-swap").await?;
        let (script, _outcomes) = looking_on::<TestResource>();
        let controller = match in_order {
            true => script.controller().workflow((left, right.after(left))),
            false => script.controller().workflow((left, right)),
        };
        let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
        let uids = async || {
            let maps = scene.api::<ConfigMap>();
            anyhow::Ok([maps.get("one-a").await?.uid(), maps.get("one-b").await?.uid()])
        };
        let makers = async || {
            let of = |map: ConfigMap| map.labels().get("operator-core.io/node").cloned();
            let maps = scene.api::<ConfigMap>();
            anyhow::Ok([of(maps.get("one-a").await?), of(maps.get("one-b").await?)])
        };
        scene.create("one", "plain").await?;
        operator.settled().await?;
        let before = uids().await?;
        if in_order {
            scene.failures.expect("`left` and `right` would swap ConfigMap");
        }
        scene.patch("one", json!({ "spec": { "value": "swapped" } })).await?;
        match in_order {
            true => {
                let failed = async || Ok((scene.failures.seen("would swap") > 0).then_some(()));
                eventually("the error", failed).await?;
                assert_eq!(makers().await?, ["left", "right"].map(|node| Some(node.to_owned())));
                scene.patch("one", json!({ "spec": { "value": "plain" } })).await?;
                operator.settled().await?;
            }
            false => {
                operator.settled().await?;
                assert_eq!(makers().await?, ["right", "left"].map(|node| Some(node.to_owned())));
            }
        }
        assert_eq!(uids().await?, before, "they are the same objects");
    }
    Ok(())
}

fn early(primary: &TestResource) -> Result<Vec<ConfigMap>> {
    if says(primary, "silent") {
        anyhow::bail!("it can't say what it wants");
    }
    Ok(says(primary, "plain").then(|| called(primary, "shared")).into_iter().collect())
}

fn taker(primary: &TestResource) -> Vec<ConfigMap> {
    (!says(primary, "plain")).then(|| called(primary, "shared")).into_iter().collect()
}

#[operator_test]
async fn a_name_is_taken_over_once_its_maker_has_said_that_it_does_not_want_it() -> Result<()> {
    let scene = Scene::new("functions-taken").await?;
    scene.failures.expect("it can't say what it wants");
    let told: Arc<Mutex<String>> = Arc::default();
    let noted = Arc::clone(&told);
    // It is called for failed runs, too.
    let status = move |_: &TestResource, run: &Run<TestResource>| {
        *noted.lock() = run.state(taker).map(ToString::to_string).unwrap_or_default();
        TestStatus::default()
    };
    let controller = Script::idle().controller().workflow((taker, early)).status(status);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    let shared = async || {
        let map = scene.api::<ConfigMap>().get("one-shared").await?;
        anyhow::Ok((map.labels().get("operator-core.io/node").cloned().unwrap_or_default(), map.uid()))
    };
    scene.create("one", "plain").await?;
    operator.settled().await?;
    let (maker, uid) = shared().await?;
    assert_eq!(maker, "early");

    scene.patch("one", json!({ "spec": { "value": "silent" } })).await?;
    let failed = async || Ok((scene.failures.seen("it can't say") > 0).then_some(()));
    eventually("the failure", failed).await?;
    let why = "was made by `early`, which hasn't said yet whether it still wants it";
    let waits = async || Ok((told.lock().starts_with("waiting") && told.lock().ends_with(why)).then_some(()));
    eventually("the wait", waits).await?;
    assert_eq!(shared().await?, ("early".to_owned(), uid.clone()), "nothing is taken before the word");

    scene.patch("one", json!({ "spec": { "value": "said" } })).await?;
    assert_eq!(done(&operator.settled().await?), ["PATCH configmaps/one-shared -> 200"]);
    assert_eq!(shared().await?, ("taker".to_owned(), uid), "in place");
    Ok(())
}

fn guest(_: &TestResource) -> Secret {
    a_secret()
}

#[operator_test]
async fn what_is_wanted_again_while_it_goes_waits_for_its_end_and_what_comes_after_it_waits_with_it()
-> Result<()> {
    let scene = Scene::new("functions-again").await?;
    let (script, outcomes) = looking_on::<TestResource>();
    let controller = script.controller().workflow((old, guest.after(old)));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    let maps = scene.api::<ConfigMap>();
    let finalizers = async |finalizers: Value| {
        let patch = Patch::Merge(json!({ "metadata": { "finalizers": finalizers } }));
        anyhow::Ok(maps.patch("one-old", &PatchParams::default(), &patch).await?.uid())
    };
    scene.create("one", "old").await?;
    operator.settled().await?;
    let first = finalizers(json!(["example.com/kept"])).await?;
    operator.settled().await?;
    scene.patch("one", json!({ "spec": { "value": "new" } })).await?;
    assert_eq!(done(&operator.settled().await?), ["DELETE configmaps/one-old -> 200"]);

    scene.patch("one", json!({ "spec": { "value": "old" } })).await?;
    assert_eq!(done(&operator.settled().await?), [""; 0], "it can't be made beside what goes");
    let told = outcomes.lines("one");
    let why = "is being deleted, and is made anew when it is gone";
    assert!(told[0].starts_with("old: waiting") && told[0].ends_with(why), "{told:?}");
    assert!(told[1].starts_with("guest: waiting for old"), "{told:?}");

    finalizers(Value::Null).await?;
    assert_eq!(done(&operator.settled().await?), ["PATCH configmaps/one-old -> 201"]);
    assert_ne!(maps.get("one-old").await?.uid(), first);
    Ok(())
}
