//! Objects that are read by name or key: no word says where they are seen, and their events trigger the primaries that
//! name them.

use anyhow::Result;
use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Namespace;
use kube::core::DynamicObject;
use operator_core::{client::TransportHook, dependent::Read, prelude::*};

use super::{a_map, a_secret, done};

/// The Secret that the value names, if it names one.
fn given(primary: &TestResource) -> Option<Read<Secret>> {
    match primary.spec.value.split_once('/') {
        _ if primary.spec.value.is_empty() => None,
        Some((namespace, name)) => Some(Read::key(ObjectKey::namespaced(namespace, name))),
        None => Some(Read::named(&primary.spec.value)),
    }
}

fn behind(primary: &TestResource) -> ConfigMap {
    a_map(primary)
}

fn keys(_: &TestResource) -> Secret {
    a_secret()
}

fn named(primary: &TestResource) -> Vec<ObjectKey> {
    vec![ObjectKey::namespaced(&primary.namespace().unwrap_or_default(), &primary.spec.value)]
}

async fn make(secrets: &Api<Secret>, name: &str) -> Result<()> {
    let mut secret = a_secret();
    secret.metadata.name = Some(name.to_owned());
    secrets.create(&PostParams::default(), &secret).await?;
    Ok(())
}

/// The message of the condition `Ready`.
async fn ready(scene: &Scene, name: &str) -> Result<String> {
    let status = scene.resources.get(name).await?.status.unwrap_or_default();
    let ready = status.conditions.into_iter().find(|condition| condition.type_ == "Ready");
    Ok(ready.context("it has the condition")?.message)
}

fn status(primary: &TestResource, run: &Run<TestResource>) -> integration_tests::TestStatus {
    integration_tests::TestStatus { conditions: run.conditions(primary), ..Default::default() }
}

type Words = ControllerBuilder<Script>;

/// A name, and a change of the declaration.
type Beside = (&'static str, fn(Words) -> Words);

/// Sources that a controller may have beside it.
const BESIDE: [Beside; 6] = [
    ("nothing", |controller| controller),
    ("refers_to", |controller| controller.refers_to::<Secret>(named)),
    ("watches_referenced", |controller| {
        controller.watches_referenced(InformerEventSource::<Secret>::new().name("used"), named)
    }),
    ("owns", |controller| controller.owns::<Secret>()),
    ("a source with a selector", |controller| {
        controller.watches(InformerEventSource::<Secret>::new().label_selector("some=other"))
    }),
    ("a source that accepts nothing", |controller| {
        controller.watches(InformerEventSource::<Secret>::new().generic_filter(|_| false))
    }),
];

#[operator_test]
async fn a_read_by_name_needs_no_further_word() -> Result<()> {
    let scene = Scene::new("reads-by-name").await?;
    let secrets = scene.api::<Secret>();
    for (position, (told, beside)) in BESIDE.into_iter().enumerate() {
        let [theirs, others] = ["theirs", "others"].map(|name| format!("{name}-{position}"));
        let controller = scene.controller(&Script::idle()).workflow((behind.after(given), given));
        let operator = scene.start(beside(controller)).await?;
        scene.create("one", &theirs).await?;
        assert_eq!(done(&operator.settled().await?), [""; 0], "{told}: it isn't there yet");
        make(&secrets, &others).await?;
        assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 0, "{told}: nobody names it");
        make(&secrets, &theirs).await?;
        let made = operator.settled().await?;
        assert_eq!(done(&made), ["PATCH configmaps/one-behind -> 201"], "{told}");
        assert_eq!(made.runs_of(&scene.key("one")), 1, "{told}: one event");
        secrets.delete(&theirs, &DeleteParams::default()).await?;
        assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 1, "{told}: its end");
        // Another key replaces it.
        scene.patch("one", json!({ "spec": { "value": others } })).await?;
        let changed = operator.settled().await?;
        assert_eq!(done(&changed), ["PATCH configmaps/one-behind -> 200"], "{told}");
        make(&secrets, &theirs).await?;
        assert_eq!(
            operator.settled().await?.runs_of(&scene.key("one")),
            0,
            "{told}: nobody names it any more"
        );
        // A function that names nothing.
        scene.patch("one", json!({ "spec": { "value": "" } })).await?;
        operator.settled().await?;
        secrets.delete(&others, &DeleteParams::default()).await?;
        assert_eq!(operator.settled().await?.runs_of(&scene.key("one")), 0, "{told}: it names nothing");
        scene.delete("one").await?;
        operator.settled().await?;
        operator.stop().await;
    }
    Ok(())
}

#[operator_test]
async fn an_object_is_read_in_another_namespace_and_without_one() -> Result<()> {
    let scene = Scene::new("reads-elsewhere").await?;
    let elsewhere = scene.cluster.namespace("reads-elsewhere-too").await?;
    let place = |primary: &TestResource| {
        let value = primary.spec.value.split_once('/').map_or("", |(namespace, _)| namespace);
        Read::<Namespace>::named(value)
    };
    let place = node(place).named("place");
    let workflow = Workflow::builder().nodes((behind.after(given).after(&place), given, place)).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow)).await?;
    scene.create("one", &format!("{elsewhere}/theirs")).await?;
    assert_eq!(done(&operator.settled().await?), [""; 0]);
    make(&Api::namespaced(scene.client.clone(), &elsewhere), "theirs").await?;
    let made = operator.settled().await?;
    assert_eq!(done(&made), ["PATCH configmaps/one-behind -> 201"]);
    assert_eq!(made.runs_of(&scene.key("one")), 1);
    Ok(())
}

#[operator_test]
async fn a_kind_that_is_not_served_is_waited_for_and_stops_nothing_else() -> Result<()> {
    let scene = Scene::new("reads-unserved").await?;
    let theirs = |_: &TestResource| Read::<DynamicObject>::named("theirs");
    let theirs = node(theirs).named("theirs").kind(("nowhere.example.com/v1", "Monitor"));
    let workflow = Workflow::builder().nodes((behind.after(&theirs), theirs, keys)).build()?;
    let controller = Controller::of::<TestResource>().workflow(&workflow).status(status);
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "value").await?;
    eventually("the state to say so", async || {
        let ready = ready(&scene, "one").await.unwrap_or_default();
        Ok(ready.contains("theirs: not ready: Monitor").then_some(()))
    })
    .await?;
    assert!(scene.api::<Secret>().get_opt("one-keys").await?.is_some(), "everything else is done");
    assert!(scene.api::<ConfigMap>().get_opt("one-behind").await?.is_none());
    operator.stop().await;
    Ok(())
}

/// How secrets were requested.
#[derive(Clone, Default)]
struct Requests(Arc<Mutex<Vec<String>>>);

impl Requests {
    fn hook(&self) -> TransportHook {
        let all = self.clone();
        TransportHook::around(move |request, inner| {
            let uri = request.uri();
            if let Some((_, rest)) = uri.path().split_once("/secrets") {
                let query = uri.query().unwrap_or_default();
                let of = match query.contains("fieldSelector") {
                    true => "one",
                    false => "all",
                };
                // Before each watch there is a list; to settle, all is listed, too.
                match rest {
                    "" if query.contains("watch=") => all.0.lock().push(format!("watch {of}")),
                    "" => {}
                    name => all.0.lock().push(format!("get {name}")),
                }
            }
            async move { inner.send(request).await }
        })
    }

    /// The number of each since the last call.
    fn taken(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for request in std::mem::take(&mut *self.0.lock()) {
            *counts.entry(request).or_default() += 1;
        }
        counts
    }
}

#[operator_test]
async fn many_keys_of_a_namespace_share_one_watch_of_metadata() -> Result<()> {
    let scene = Scene::new("reads-many").await?;
    let (secrets, requests) = (scene.api::<Secret>(), Requests::default());
    make(&secrets, "theirs-3").await?;
    make(&secrets, "theirs-24").await?;
    let controller = scene.controller(&Script::idle()).workflow((behind.after(given), given));
    let builder = scene.operator().transport(requests.hook()).register(controller);
    let operator = TestOperator::start(builder).await?;
    for number in 0..20 {
        scene.create(&format!("one-{number}"), &format!("theirs-{number}")).await?;
    }
    operator.settled().await?;
    let few = requests.taken();
    assert_eq!(few, [("watch one".to_owned(), 20)].into());
    for number in 20..26 {
        scene.create(&format!("one-{number}"), &format!("theirs-{number}")).await?;
    }
    let settled = operator.settled().await?;
    let mut many = requests.taken();
    assert_eq!(done(&settled), ["PATCH configmaps/one-24-behind -> 201"]);
    assert_eq!(many.remove("get /theirs-3"), Some(1), "{many:?}");
    assert_eq!(many.remove("get /theirs-24"), Some(1), "{many:?}");
    assert_eq!(many.remove("watch all"), Some(1), "{many:?}");
    assert!(
        many.keys().all(|request| request.starts_with("get ")),
        "those that were new are asked for: {many:?}"
    );
    assert!(many.len() <= 6, "{many:?}");

    // One event, one read.
    make(&secrets, "theirs-7").await?;
    make(&secrets, "nobodys").await?;
    let made = operator.settled().await?;
    assert_eq!(done(&made), ["PATCH configmaps/one-7-behind -> 201"]);
    assert_eq!(made.runs, [(scene.key("one-7"), 1)].into());
    assert_eq!(requests.taken(), [("get /theirs-7".to_owned(), 1)].into());
    // A run for another reason reads nothing again.
    scene.patch("one-7", json!({ "metadata": { "labels": { "some": "body" } } })).await?;
    operator.settled().await?;
    assert_eq!(requests.taken(), [].into());
    let patch = Patch::Merge(json!({ "metadata": { "labels": { "some": "body" } } }));
    secrets.patch("theirs-7", &PatchParams::default(), &patch).await?;
    secrets.patch("nobodys", &PatchParams::default(), &patch).await?;
    assert_eq!(operator.settled().await?.runs, [(scene.key("one-7"), 1)].into());
    assert_eq!(requests.taken(), [("get /theirs-7".to_owned(), 1)].into());
    secrets.delete("theirs-7", &DeleteParams::default()).await?;
    assert_eq!(operator.settled().await?.runs, [(scene.key("one-7"), 1)].into());
    assert_eq!(requests.taken(), [].into(), "its end needs no read");

    // With few keys, each has its own watch again.
    for number in 0..20 {
        scene.delete(&format!("one-{number}")).await?;
    }
    operator.settled().await?;
    make(&secrets, "theirs-25").await?;
    assert_eq!(done(&operator.settled().await?), ["PATCH configmaps/one-25-behind -> 201"]);
    let few = requests.taken();
    assert!(few.keys().all(|request| request == "watch one"), "{few:?}");
    assert!(few["watch one"] >= 6, "{few:?}");
    operator.stop().await;
    Ok(())
}

#[tokio::test]
async fn what_no_object_can_be_called_is_refused_with_the_name_of_the_function() -> Result<()> {
    for (value, why) in [
        ("Not A Name", "no object of this kind can have that name"),
        ("a/", "no object of this kind can have that name"),
        ("Shop/a", "no namespace can have that name"),
    ] {
        let controller = Controller::of::<TestResource>().workflow((given,)).status(status);
        let mut one = TestResource::named("one", value);
        one.metadata.namespace = Some("shop".to_owned());
        let run = controller.dry_run(&one).await;
        let told = run.to_string();
        assert!(told.contains("`given` can't read Secret") && told.contains(why), "{value}: {told}");
    }
    Ok(())
}

/// Whether it found the Secret of its sibling when it was asked.
fn asks(primary: &TestResource, context: &Context<TestResource>) -> Result<ConfigMap> {
    let key = ObjectKey::namespaced(
        &primary.namespace().unwrap_or_default(),
        &format!("{}-keys", primary.name_any()),
    );
    let secret = context.get::<Secret>(&key)?;
    found(secret.and_then(|secret| secret.metadata.resource_version.clone()))
}

fn asks_for_all(_: &TestResource, context: &Context<TestResource>) -> Result<ConfigMap> {
    let secret = context.secondary::<Secret>()?;
    found(secret.and_then(|secret| secret.metadata.resource_version.clone()))
}

fn found(version: Option<String>) -> Result<ConfigMap> {
    let data = version.map(|version| [("version".to_owned(), version)].into());
    Ok(ConfigMap { data, ..ConfigMap::default() })
}

#[operator_test]
async fn a_function_that_asked_too_early_is_asked_once_more() -> Result<()> {
    let scene = Scene::new("reads-asked").await?;
    let keys_with_value = |primary: &TestResource| {
        let mut secret = a_secret();
        secret.metadata.labels = Some([("value".to_owned(), primary.spec.value.clone())].into());
        secret
    };
    let keys = node(keys_with_value).named("keys");
    let workflow =
        Workflow::builder().nodes((asks, asks_for_all, keys.after(asks).after(asks_for_all))).build()?;
    let operator = scene.start(scene.managed(&Script::idle(), &workflow)).await?;
    let maps = scene.api::<ConfigMap>();
    scene.create("one", "first").await?;
    for (value, runs) in [("first", 2), ("second", 2), ("second", 0)] {
        if runs > 0 && value != "first" {
            scene.patch("one", json!({ "spec": { "value": value } })).await?;
        }
        let settled = operator.settled().await?;
        assert_eq!(settled.runs_of(&scene.key("one")), runs, "{value}: {:?}", settled.written());
        let version = scene.api::<Secret>().get("one-keys").await?.metadata.resource_version;
        for name in ["one-asks", "one-asks-for-all"] {
            let data = maps.get(name).await?.data.unwrap_or_default();
            assert_eq!(data.get("version").cloned(), version, "{value}: {name} knows it as it is");
        }
    }
    operator.stop().await;
    Ok(())
}

/// The Secret that a sibling makes.
fn made_here(primary: &TestResource) -> Read<Secret> {
    Read::named(format!("{}-keys", primary.name_any()))
}

fn only(_: &TestResource) -> Read<Secret> {
    Read::only()
}

#[operator_test]
async fn a_reader_sees_what_a_sibling_makes_whatever_the_order_of_declaration() -> Result<()> {
    let scene = Scene::new("reads-sibling").await?;
    type Builder = operator_core::workflow::WorkflowBuilder<TestResource>;
    type Order = (&'static str, fn(Builder) -> Builder);
    let orders: [Order; 4] = [
        ("reader first", |all| all.nodes((made_here, keys, behind.after(made_here)))),
        ("maker first", |all| all.nodes((keys, made_here, behind.after(made_here)))),
        ("the only one, reader first", |all| all.nodes((only, keys, behind.after(only)))),
        ("the only one, maker first", |all| all.nodes((keys, only, behind.after(only)))),
    ];
    for (told, nodes) in orders {
        let workflow = nodes(Workflow::builder()).build()?;
        let operator = scene.start(scene.managed(&Script::idle(), &workflow)).await?;
        scene.create("one", "value").await?;
        let made = operator.settled().await?;
        let expected = ["PATCH configmaps/one-behind -> 201", "PATCH secrets/one-keys -> 201"];
        let mut written = done(&made);
        written.sort();
        assert_eq!(written, expected, "{told}: nothing is written twice");
        assert_eq!(made.runs_of(&scene.key("one")), 1, "{told}: in the same run");
        scene.delete("one").await?;
        scene.api::<Secret>().delete("one-keys", &DeleteParams::default()).await.ok();
        scene.api::<ConfigMap>().delete("one-behind", &DeleteParams::default()).await.ok();
        operator.settled().await?;
        operator.stop().await;
    }
    Ok(())
}

/// Its own primary, which it has already.
fn itself(primary: &TestResource) -> Read<TestResource> {
    Read::named(primary.name_any())
}

#[tokio::test]
async fn a_read_of_the_primary_itself_or_of_what_nothing_relates_is_refused() -> Result<()> {
    let mut one = TestResource::named("one", "value");
    one.metadata.namespace = Some("shop".to_owned());
    let told =
        Controller::of::<TestResource>().workflow((itself,)).status(status).dry_run(&one).await.to_string();
    assert!(told.contains("`itself` can't read") && told.contains("that is its own primary"), "{told}");
    let told =
        Controller::of::<TestResource>().workflow((only,)).status(status).dry_run(&one).await.to_string();
    assert!(told.contains("nothing relates a Secret to it; write `.owns::<Secret>()`"), "{told}");
    let related = Controller::of::<TestResource>().owns::<Secret>().workflow((only,)).status(status);
    let told = related.dry_run(&one).await.to_string();
    assert!(!told.contains("nothing relates"), "{told}");
    Ok(())
}
