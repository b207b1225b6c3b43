//! Controllers of one operator share their informers: one list and one watch for the same objects in the same form. A source that
//! joins later learns which objects exist, a source that leaves hears nothing more, and each keeps its own data.

use integration_tests::prelude::*;

/// The lists and watches of one kind.
fn of(calls: &Calls, resource: &str) -> (usize, usize) {
    let counts: BTreeMap<String, usize> = calls.counts();
    let count = |verb: &str| counts.get(&format!("{verb} {resource}")).copied().unwrap_or(0);
    (count("list"), count("watch"))
}

async fn lists_and_watches(audit: &mut Audit, resources: &[&str]) -> Result<Vec<(usize, usize)>> {
    let watched = |calls: &Calls| resources.iter().all(|resource| of(calls, resource).1 > 0);
    let calls = audit.calls_until("the watches", watched).await?;
    Ok(resources.iter().map(|resource| of(&calls, resource)).collect())
}

fn controller(scene: &Scene, script: &Script, name: &str) -> ControllerBuilder<Script> {
    scene.controller(script).name(name)
}

/// A controller with one dependent, a config map called after the controller.
fn with_a_map(scene: &Scene, script: &Script, name: &'static str) -> Result<ControllerBuilder<Script>> {
    let map = wanted(name, move |primary: &TestResource| map_of(primary, name, &primary.spec.value));
    Ok(controller(scene, script, name).workflow(&workflow_of_one(map)?))
}

#[operator_test]
async fn two_controllers_on_one_kind_make_one_list_and_one_watch() -> Result<()> {
    let scene = Scene::new("pool-basic").await?;
    let (one, two) = (Script::idle(), Script::idle());
    let (operator, mut audit) = scene.audited().await?;
    let operator = operator.register(with_a_map(&scene, &one, "a")?).register(with_a_map(&scene, &two, "b")?);
    let operator = TestOperator::start(operator).await?;
    let kinds = ["testresources", "configmaps"];
    assert_eq!(lists_and_watches(&mut audit, &kinds).await?, [(1, 1), (1, 1)]);

    scene.create("one", "first").await?;
    operator.settled().await?;
    scene.until_values([("one-a", "first"), ("one-b", "first")]).await?;
    assert_eq!(
        (one.runs.of("one").len(), two.runs.of("one").len()),
        (1, 1),
        "the other's writes are none's news"
    );

    // What one of them has made is put right by it alone.
    let patch = Patch::Merge(json!({ "data": { "value": "theirs" } }));
    scene.api::<ConfigMap>().patch("one-b", &PatchParams::default(), &patch).await?;
    let settled = operator.settled().await?;
    scene.until_values([("one-a", "first"), ("one-b", "first")]).await?;
    assert_eq!((one.runs.of("one").len(), two.runs.of("one").len()), (1, 2));
    assert_eq!(settled.writes().count(), 1, "{:?}", settled.written());
    scene.set("one", "second").await?;
    operator.settled().await?;
    scene.until_values([("one-a", "second"), ("one-b", "second")]).await?;
    assert_eq!((one.runs.of("one").len(), two.runs.of("one").len()), (2, 3));
    assert_eq!(operator.operator().footprint().await.leftovers, []);
    Ok(())
}

#[operator_test]
async fn indexes_filters_and_own_writes_stay_apart() -> Result<()> {
    let scene = Scene::new("pool-apart").await?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let reading = |index: &'static str, writes: bool| {
        let notes = Arc::clone(&seen);
        Script::new(move |run, primary: Arc<TestResource>, context| {
            let notes = Arc::clone(&notes);
            Box::pin(async move {
                if writes && run == 1 {
                    let key = ObjectKey::namespaced(&primary.namespace().unwrap_or_default(), "map");
                    if let Some(map) = context.get::<ConfigMap>(&key)? {
                        let data = Some([("value".to_owned(), "written".to_owned())].into());
                        context
                            .resource_operations()
                            .json_patch(&*map, |map| map.data = data.clone())
                            .await?;
                    }
                }
                let (mine, others) = (["mine", "theirs"], ["written", "map"]);
                let found: Vec<String> = mine
                    .iter()
                    .zip(others)
                    .map(|(index, value)| Ok(context.by_index::<ConfigMap>(index, value)?.len().to_string()))
                    .collect::<Result<_>>()?;
                notes.lock().push(format!("{index}: {}", found.join(" ")));
                Ok(UpdateControl::no_update())
            })
        })
    };
    let source = |index: &'static str| {
        InformerEventSource::<ConfigMap>::new()
            .label_selector("for=test")
            .map_to_primary(|map: &ConfigMap| {
                vec![ObjectKey::namespaced(&map.namespace().unwrap_or_default(), "one")]
            })
            .index(index, move |map: &ConfigMap| match index {
                "mine" => map.data.iter().flatten().map(|(_, value)| value.clone()).collect(),
                _ => vec![map.name_any()],
            })
    };
    let map: ConfigMap = integration_tests::from_json(
        &json!({ "metadata": { "name": "map", "labels": { "for": "test" } }, "data": { "value": "old" } }),
    )?;
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    let (writer, reader) = (reading("mine", true), reading("theirs", false));
    let (operator, mut audit) = scene.audited().await?;
    let operator = operator.register(controller(&scene, &writer, "writer").watches(source("mine"))).register(
        controller(&scene, &reader, "reader")
            .watches(source("theirs").on_update(|_, _| true).on_add(|_| false)),
    );
    let operator = TestOperator::start(operator).await?;
    assert_eq!(lists_and_watches(&mut audit, &["configmaps"]).await?, [(1, 1)]);
    scene.create("one", "value").await?;
    operator.settled().await?;
    // Its own write is no news to the writer, and is news to the other one.
    assert_eq!(writer.runs.of("one").len(), 1);
    assert!((1..=2).contains(&reader.runs.of("one").len()));
    let seen = seen.lock();
    assert!(seen.iter().any(|seen| seen == "mine: 1 0"), "{seen:?}");
    assert!(
        seen.iter().all(|seen| seen.starts_with("mine: 1 0") || seen.starts_with("theirs: 0 1")),
        "{seen:?}"
    );
    Ok(())
}

#[operator_test]
async fn what_is_unshared_has_its_own_informer() -> Result<()> {
    let scene = Scene::new("pool-unshared").await?;
    let (one, two) = (Script::idle(), Script::idle());
    let (operator, mut audit) = scene.audited().await?;
    let secrets = InformerEventSource::<Secret>::new;
    let operator = operator
        .register(controller(&scene, &one, "a").unshared().watches(secrets()))
        .register(controller(&scene, &two, "b").watches(secrets().unshared()));
    let operator = TestOperator::start(operator).await?;
    operator.settled().await?;
    // `settled` lists, too.
    let count = |calls: &Calls| ["testresources", "secrets"].map(|resource| of(calls, resource).1);
    let calls =
        audit.calls_until("the watches", |calls| count(calls).iter().all(|found| *found >= 2)).await?;
    assert_eq!(count(&calls), [2, 2], "{:?}", calls.counts());
    Ok(())
}

/// A controller with a secret, whose informer runs while the switch is on.
fn at_times(
    scene: &Scene,
    script: &Script,
    name: &'static str,
    switch: &Switch,
) -> Result<ControllerBuilder<Script>> {
    let secret = wanted(name, move |primary: &TestResource| {
        let mut metadata = meta_of(primary, name);
        metadata.labels = Some([("shared".to_owned(), "true".to_owned())].into());
        Secret { metadata, ..Secret::default() }
    });
    let source = InformerEventSource::<Secret>::new().label_selector("shared=true");
    let node = secret.informer(source).needs(switch.clone());
    Ok(controller(scene, script, name).workflow(&workflow_of_one(node)?))
}

/// An operator of two such controllers, `a` and `b`, and the requests that it makes.
async fn both_at_times(
    scene: &Scene,
    [one, two]: [&Script; 2],
    [first, second]: [&Switch; 2],
) -> Result<(TestOperator, Audit)> {
    let (operator, audit) = scene.audited().await?;
    let operator =
        operator.register(at_times(scene, one, "a", first)?).register(at_times(scene, two, "b", second)?);
    Ok((TestOperator::start(operator).await?, audit))
}

async fn touch(scene: &Scene, secret: &str, value: &str) -> Result<()> {
    let patch = Patch::Merge(json!({ "metadata": { "annotations": { "touched": value } } }));
    scene.api::<Secret>().patch(secret, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// The lists and watches that are not the barrier's own: those have metadata only, and no watch follows them.
async fn watches(audit: &mut Audit) -> Result<usize> {
    Ok(of(&audit.calls().await?, "secrets").1)
}

#[operator_test]
async fn who_leaves_hears_nothing_more_and_the_others_go_on() -> Result<()> {
    let scene = Scene::new("pool-deregister").await?;
    let (one, two) = (Script::idle(), Script::idle());
    let (first, second) = (Switch::on(), Switch::on());
    let (operator, mut audit) = both_at_times(&scene, [&one, &two], [&first, &second]).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    assert_eq!(watches(&mut audit).await?, 1, "one for both");

    // The one that has opened the watch leaves: the other one goes on from where it was.
    first.turn(false);
    operator.settled().await?;
    let (before, after) = (one.runs.count(), two.runs.count());
    touch(&scene, "one-a", "first").await?;
    touch(&scene, "one-b", "first").await?;
    operator.settled().await?;
    assert_eq!(one.runs.count(), before, "a removed one causes no event");
    assert!(two.runs.count() > after, "the other one is still told");

    // With the last one, the watch goes.
    second.turn(false);
    operator.settled().await?;
    audit.calls().await?;
    let (before, after) = (one.runs.count(), two.runs.count());
    touch(&scene, "one-a", "second").await?;
    touch(&scene, "one-b", "second").await?;
    operator.settled().await?;
    assert_eq!((one.runs.count(), two.runs.count()), (before, after));
    assert_eq!(watches(&mut audit).await?, 0);
    second.turn(true);
    operator.settled().await?;
    touch(&scene, "one-b", "third").await?;
    operator.settled().await?;
    assert!(two.runs.count() > after);
    // A watch is opened after its list, perhaps only after the operator has settled.
    assert_eq!(watches(&mut audit).await?, 1, "it begins anew");
    Ok(())
}

#[operator_test]
async fn who_comes_later_is_told_what_is_there() -> Result<()> {
    let scene = Scene::new("pool-dynamic").await?;
    let (one, two) = (Script::idle(), Script::idle());
    let (first, second) = (Switch::on(), Switch::off());
    let (operator, mut audit) = both_at_times(&scene, [&one, &two], [&first, &second]).await?;
    // It belongs to the second one, and is there before that comes.
    scene.create("one", "value").await?;
    // The first one has opened the watch: it doesn't go with the second one.
    assert_eq!(lists_and_watches(&mut audit, &["secrets"]).await?[0].1, 1);
    second.turn(true);
    operator.settled().await?;
    second.turn(false);
    operator.settled().await?;
    audit.calls().await?;
    second.turn(true);
    let settled = operator.settled().await?;
    assert_eq!(settled.writes().count(), 0, "its secret is known to it: {:?}", settled.written());
    assert_eq!(watches(&mut audit).await?, 0, "nothing was asked for again");
    let after = two.runs.count();
    touch(&scene, "one-b", "now").await?;
    operator.settled().await?;
    assert!(two.runs.count() > after, "and it is told of what follows");
    Ok(())
}
