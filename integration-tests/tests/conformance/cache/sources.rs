//! The options of informers on a controller's sources and on its primaries: which objects are held, in which form, and how they are listed.

use futures::FutureExt;
use http::header::ACCEPT;
use integration_tests::prelude::*;
use kube::core::PartialObjectMeta;
use operator_core::{
    WatchScope,
    cache::{Bounds, InitialList},
    client::TransportHook,
    operations::Error,
};

use super::map;

/// Config maps with the label `for=test`, all of which belong to the primary `one`.
fn source() -> InformerEventSource<ConfigMap> {
    InformerEventSource::new().label_selector("for=test").map_to_primary(|map: &ConfigMap| {
        vec![ObjectKey::namespaced(&map.namespace().unwrap_or_default(), "one")]
    })
}

/// Says in the status what the config maps of its primary hold, after having fetched them.
fn fetching() -> Script {
    Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            if context.secondaries::<ConfigMap>().is_ok_and(|maps| !maps.is_empty()) {
                anyhow::bail!("a bounded cache was read without asking for what it doesn't hold");
            }
            let maps = context.fetch_secondaries::<ConfigMap>().await?;
            // They are there for the rest of the run.
            let again = context.secondaries::<ConfigMap>()?;
            anyhow::ensure!(again.len() == maps.len(), "what was fetched is held");
            for map in &maps {
                let key = ObjectKey::of(&**map);
                let one = context.fetch::<ConfigMap>(&key).await?.context("it exists")?;
                anyhow::ensure!(one.data == map.data, "{key}");
            }
            let values: Vec<&str> = maps.iter().filter_map(|map| value_of(map)).collect();
            Ok(Said::status(said(values.join(" "))))
        })
    })
}

async fn make(scene: &Scene, names: &[&str]) -> Result<()> {
    for name in names {
        scene.api::<ConfigMap>().create(&PostParams::default(), &map(name, name)).await?;
    }
    Ok(())
}

async fn change(scene: &Scene, name: &str, value: &str) -> Result<()> {
    let patch = Patch::Merge(json!({ "data": { "value": value } }));
    scene.api::<ConfigMap>().patch(name, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// How many objects were read, one by one.
async fn gets(audit: &mut Audit, resource: &str) -> Result<usize> {
    Ok(audit.calls().await?.counts().get(&format!("get {resource}")).copied().unwrap_or(0))
}

async fn message(scene: &Scene) -> Result<String> {
    let status = scene.resources.get("one").await?.status.unwrap_or_default();
    Ok(status.message.unwrap_or_default())
}

#[operator_test]
async fn a_miss_costs_one_request_and_a_hit_none() -> Result<()> {
    let scene = Scene::new("sources-bounded").await?;
    make(&scene, &["a", "b", "c"]).await?;
    let (operator, mut audit) = scene.audited().await?;
    let bounded = fetching().controller().watches(source().bounded(Bounds::new(1)));
    let operator = TestOperator::start(operator.register(bounded.namespaces([&scene.namespace]))).await?;
    operator.settled().await?;
    assert_eq!(gets(&mut audit, "configmaps").await?, 0, "nothing is read before it is needed");

    // Only the last one that was shown is held.
    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!((settled.runs_of(&scene.key("one")), message(&scene).await?), (1, "a b c".to_owned()));
    assert_eq!(gets(&mut audit, "configmaps").await?, 2);

    // What has changed was just shown: a hit. The other two are not held.
    change(&scene, "a", "changed").await?;
    let settled = operator.settled().await?;
    assert_eq!((settled.runs_of(&scene.key("one")), message(&scene).await?), (1, "changed b c".to_owned()));
    assert_eq!(gets(&mut audit, "configmaps").await?, 2);
    operator.stop().await;

    let (operator, mut audit) = scene.audited().await?;
    let roomy = fetching().controller().watches(source().bounded(Bounds::new(100)));
    let operator = TestOperator::start(operator.register(roomy.namespaces([&scene.namespace]))).await?;
    change(&scene, "b", "changed").await?;
    operator.settled().await?;
    assert_eq!(message(&scene).await?, "changed changed c");
    assert_eq!(gets(&mut audit, "configmaps").await?, 0, "all of them are held");
    Ok(())
}

#[operator_test]
async fn what_is_not_held_is_not_mistaken_for_missing() -> Result<()> {
    let scene = Scene::new("sources-not-held").await?;
    make(&scene, &["a"]).await?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let notes = Arc::clone(&notes);
        Box::pin(async move {
            let key = |name| ObjectKey::namespaced(&primary.namespace().unwrap_or_default(), name);
            let note = |name: &str, read: Result<Option<Arc<ConfigMap>>, Error>| {
                notes.lock().push(match read {
                    Ok(None) => format!("{name} is missing"),
                    Ok(Some(_)) => format!("{name} is there"),
                    Err(error @ Error::NotHeld { .. }) if error.to_string().contains("context.fetch") => {
                        format!("{name} is not held")
                    }
                    Err(error) => format!("{error}"),
                });
            };
            note("a", context.get(&key("a")));
            note("z", context.get(&key("z")));
            note("a", context.fetch(&key("a")).await);
            note("z", context.fetch(&key("z")).await);
            note("a", context.get(&key("a")));
            Ok(UpdateControl::no_update())
        })
    });
    let controller = script.controller().watches(source().bounded(Bounds::new(100)));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(
        *seen.lock(),
        ["a is not held", "z is missing", "a is there", "z is missing", "a is there"],
        "whether it happens to be held makes no difference"
    );
    Ok(())
}

#[operator_test]
async fn dependents_work_on_a_bounded_source() -> Result<()> {
    let scene = Scene::new("sources-dependents").await?;
    let script = Script::idle();
    let node = node(|primary: &TestResource| map_of(primary, "map", &primary.spec.value))
        .named("map")
        .informer(InformerEventSource::<ConfigMap>::new().bounded(Bounds::new(0)));
    let (operator, mut audit) = scene.audited().await?;
    let controller = scene.managed(&script, &workflow_of_one(node)?);
    let operator = TestOperator::start(operator.register(controller)).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(scene.values().await?, [("one-map".to_owned(), "first".to_owned())].into());
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "own writes cause no run");
    assert_eq!(gets(&mut audit, "configmaps").await?, 0, "what doesn't exist isn't read");

    // A run that changes nothing reads the object, and writes nothing.
    scene.patch("one", json!({ "metadata": { "finalizers": ["example.com/hold"] } })).await?;
    scene.set("one", "second").await?;
    let settled = operator.settled().await?;
    assert_eq!(scene.values().await?, [("one-map".to_owned(), "second".to_owned())].into());
    assert_eq!(gets(&mut audit, "configmaps").await?, usize::try_from(settled.runs_of(&scene.key("one")))?);
    assert_eq!(settled.writes().filter(|write| write.to_string().contains("configmaps")).count(), 1);

    // What others change is noticed, and put right.
    change(&scene, "one-map", "theirs").await?;
    operator.settled().await?;
    assert_eq!(scene.values().await?, [("one-map".to_owned(), "second".to_owned())].into());
    scene.patch("one", json!({ "metadata": { "finalizers": null } })).await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(operator.operator().footprint().await.leftovers, []);
    Ok(())
}

#[operator_test]
async fn a_controller_may_be_bounded() -> Result<()> {
    let scene = Scene::new("sources-primaries").await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move { Ok(Said::status(said(primary.spec.value.clone()))) })
    });
    let template = TestResource::new("any", TestResourceSpec { value: String::new() });
    let (operator, mut audit) = scene.audited().await?;
    let controller = script
        .controller()
        .cleaner(true)
        .bounded(Bounds::new(0).with_template(template))
        .namespaces([&scene.namespace]);
    let operator = TestOperator::start(operator.register(controller)).await?;
    for name in ["one", "two"] {
        scene.create(name, name).await?;
    }
    let settled = operator.settled().await?;
    for name in ["one", "two"] {
        assert_eq!(settled.runs_of(&scene.key(name)), 1);
        assert_eq!(scene.resources.get(name).await?.status, Some(said(name)));
    }
    assert_eq!(gets(&mut audit, "testresources").await?, 2, "one for each run");
    scene.set("one", "changed").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs, [(scene.key("one"), 1)].into());
    assert_eq!(scene.resources.get("one").await?.status, Some(said("changed")));
    assert_eq!(gets(&mut audit, "testresources").await?, 1);
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    scene.delete("two").await?;
    scene.until_gone("two").await?;
    operator.settled().await?;
    assert_eq!((script.cleanups.count(), operator.operator().footprint().await.leftovers), (2, vec![]));
    Ok(())
}

#[operator_test]
async fn what_is_transformed_is_kept_so() -> Result<()> {
    let scene = Scene::new("sources-transform").await?;
    make(&scene, &["a"]).await?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        let notes = Arc::clone(&notes);
        Box::pin(async move {
            let maps = context.secondaries::<ConfigMap>()?;
            notes.lock().extend(maps.iter().map(|map| (map.name_any(), map.data.clone())));
            Ok(UpdateControl::no_update())
        })
    });
    let shorn = |mut map: ConfigMap| {
        map.data = None;
        map.metadata.name = None;
        map
    };
    let controller = script.controller().watches(source().transform(shorn));
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(*seen.lock(), [("a".to_owned(), None)]);
    Ok(())
}

/// A transform that leaves nothing. What the framework needs is restored, so it knows its objects.
#[operator_test]
async fn what_is_no_longer_wanted_goes_whatever_a_transform_drops() -> Result<()> {
    let scene = Scene::new("sources-emptied").await?;
    let map =
        |primary: &TestResource| (primary.value() != "none").then(|| map_of(primary, "a", primary.value()));
    let emptied = InformerEventSource::<ConfigMap>::new().transform(|_| ConfigMap::default());
    let workflow = workflow_of_one(node(map).named("a").informer(emptied))?;
    let operator = scene.start_managed(&Script::idle(), &workflow).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(scene.values().await?["one-a"], "first");
    scene.set("one", "none").await?;
    assert_eq!(operator.settled().await?.written(), ["DELETE configmaps/one-a -> 200"]);
    assert!(scene.values().await?.is_empty());
    Ok(())
}

#[operator_test]
async fn only_metadata_is_asked_for() -> Result<()> {
    let scene = Scene::new("sources-metadata").await?;
    let secret: Secret =
        integration_tests::from_json(&json!({ "metadata": { "name": "one" }, "stringData": { "a": "b" } }))?;
    scene.api::<Secret>().create(&PostParams::default(), &secret).await?;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&asked);
    let hook = TransportHook::around(move |request, inner| {
        if request.uri().path().ends_with("secrets") {
            let accept = request.headers().get(ACCEPT).map(|accept| format!("{accept:?}"));
            notes.lock().push(accept.unwrap_or_default());
        }
        async move { inner.send(request).await }.boxed()
    });
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            let known = context.secondaries::<PartialObjectMeta<Secret>>()?;
            let names: Vec<String> = known.iter().map(|secret| secret.name_any()).collect();
            Ok(Said::status(said(names.join(" "))))
        })
    });
    let source = InformerEventSource::<PartialObjectMeta<Secret>>::new()
        .metadata_only()
        .map_to_primary(|secret| vec![ObjectKey::of(secret)]);
    let controller = script.controller().watches(source).namespaces([&scene.namespace]);
    let operator = TestOperator::start(scene.operator().transport(hook).register(controller)).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(message(&scene).await?, "one");
    let asked = asked.lock();
    assert!(
        !asked.is_empty() && asked.iter().all(|accept| accept.contains("PartialObjectMetadata")),
        "{asked:?}"
    );
    Ok(())
}

#[operator_test]
async fn lists_come_in_pages_of_that_size_or_as_a_stream() -> Result<()> {
    let scene = Scene::new("sources-lists").await?;
    make(&scene, &["a", "b", "c", "d", "e"]).await?;
    let lists = async |source: InformerEventSource<ConfigMap>| -> Result<(usize, bool)> {
        let (operator, mut audit) = scene.audited().await?;
        let controller = Script::<TestResource>::idle().controller().watches(source);
        let operator =
            TestOperator::start(operator.register(controller.namespaces([&scene.namespace]))).await?;
        let is_watched = |calls: &integration_tests::Calls| calls.counts().contains_key("watch configmaps");
        let calls = audit.calls_until("the watch", is_watched).await?;
        operator.stop().await;
        let streamed = calls.events().iter().any(|call| call.uri.contains("sendInitialEvents=true"));
        Ok((calls.counts().get("list configmaps").copied().unwrap_or(0), streamed))
    };
    assert_eq!(lists(source()).await?, (1, false));
    assert_eq!(lists(source().page_size(2)).await?, (3, false));
    assert_eq!(lists(source().initial_list(InitialList::Streaming)).await?, (0, true));
    Ok(())
}

#[operator_test]
async fn the_current_namespace_is_that_of_the_configuration() -> Result<()> {
    let scene = Scene::new("sources-current").await?;
    let elsewhere = scene.cluster.namespace("sources-elsewhere").await?;
    let script = Script::<TestResource>::idle();
    let mut config = scene.cluster.config();
    config.default_namespace = scene.namespace.clone();
    let controller = script.controller().namespaces(WatchScope::Current).owns::<ConfigMap>();
    let operator = TestOperator::start(scene.operator().config(config).register(controller)).await?;
    let others: Api<TestResource> = Api::namespaced(scene.client.clone(), &elsewhere);
    let other = TestResource::new("one", TestResourceSpec { value: "other".to_owned() });
    others.create(&PostParams::default(), &other).await?;
    scene.create("one", "value").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs, [(scene.key("one"), 1)].into());
    Ok(())
}
