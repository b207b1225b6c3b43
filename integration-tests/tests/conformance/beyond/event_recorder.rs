//! Events of Kubernetes about primaries: one object for repeated Events, over restarts too, and nothing else suffers
//! from them.

use futures::future::BoxFuture;
use integration_tests::prelude::*;
use integration_tests::rights;
use k8s_openapi::api::core::v1::Event;
use operator_core::Context;
use tracing::Level;

/// Says in each run that it has made something of the primary's value, and with how many it began.
fn telling() -> Script {
    Script::new(|run, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            record(run, &*primary, context);
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    })
}

fn record<K: TestObject>(run: usize, primary: &K, context: &Context<K>) {
    let events = context.events();
    events.normal("Made", format!("made of {}", primary.value()));
    events.keyed("run").warn("Ran", format!("run {run}"));
}

fn named(controller: ControllerBuilder<Script>, scene: &Scene) -> ControllerBuilder<Script> {
    controller.name("recorder").namespaces([&scene.namespace]).records_events(true)
}

/// The Events in the namespace, by reason and message.
async fn events(scene: &Scene) -> Result<BTreeMap<(String, String), Event>> {
    let all = scene.api::<Event>().list(&ListParams::default()).await?;
    let what =
        |event: &Event| (event.reason.clone().unwrap_or_default(), event.message.clone().unwrap_or_default());
    Ok(all.into_iter().map(|event| (what(&event), event)).collect())
}

fn counts(events: &BTreeMap<(String, String), Event>) -> Vec<(&str, i32)> {
    events.iter().map(|((_, message), event)| (&**message, event.count.unwrap_or_default())).collect()
}

#[operator_test]
async fn what_happens_again_is_counted_even_after_a_restart() -> Result<()> {
    let scene = Scene::new("event-recorder").await?;
    let (builder, mut audit) = scene.audited().await?;
    let script = telling();
    let operator = TestOperator::start(builder.register(named(script.controller(), &scene))).await?;
    let one = scene.create("one", "first").await?;
    operator.settled().await?;
    let first = events(&scene).await?;
    assert_eq!(counts(&first), [("made of first", 1), ("run 1", 1)]);
    let made = &first[&("Made".to_owned(), "made of first".to_owned())];
    assert!(made.name_any().starts_with("one.") && made.name_any().len() == "one.".len() + 32, "{made:#?}");
    assert_eq!(
        (made.type_.as_deref(), made.reporting_component.as_deref()),
        (Some("Normal"), Some("recorder"))
    );
    let about = &made.involved_object;
    assert_eq!(
        (about.kind.as_deref(), about.name.as_deref(), about.namespace.as_ref(), about.uid.clone()),
        (Some("TestResource"), Some("one"), Some(&scene.namespace), one.uid())
    );
    assert!(about.resource_version.is_some() && made.first_timestamp.is_some(), "{made:#?}");
    assert_eq!(made.source.as_ref().and_then(|source| source.component.as_deref()), Some("recorder"));
    let ran = &first[&("Ran".to_owned(), "run 1".to_owned())];
    assert_eq!(ran.type_.as_deref(), Some("Warning"));
    let calls = audit.calls().await?.counts();
    let of_events =
        calls.into_iter().filter(|(call, _)| call.ends_with(" events")).collect::<BTreeMap<_, _>>();
    assert_eq!(of_events, [("create events".to_owned(), 2), ("get events".to_owned(), 2)].into());

    scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    operator.settled().await?;
    scene.patch("one", json!({ "spec": { "value": "first" } })).await?;
    operator.settled().await?;
    let third = events(&scene).await?;
    assert_eq!(counts(&third), [("made of first", 2), ("made of second", 1), ("run 3", 3)]);
    operator.stop().await;

    let operator = scene.start(named(telling().controller(), &scene)).await?;
    operator.settled().await?;
    let fourth = events(&scene).await?;
    // The number of the run is the script's own, and the newest message is shown.
    assert_eq!(counts(&fourth), [("made of first", 3), ("made of second", 1), ("run 1", 4)]);
    let again = &fourth[&("Made".to_owned(), "made of first".to_owned())];
    assert_eq!((again.name_any(), again.uid()), (made.name_any(), made.uid()));
    assert_eq!(again.first_timestamp, made.first_timestamp);
    assert!(again.last_timestamp >= made.last_timestamp);
    Ok(())
}

#[operator_test(flavor = "current_thread")]
async fn events_that_are_refused_or_not_answered_hold_up_nothing() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("event-recorder").await?;
    let user = format!("{}-operator", scene.namespace);
    scene.grant("primaries", &user, &rights::primaries()).await?;
    let numbers = Numbers::default();
    let script = telling();
    let builder = scene.operator().config(scene.cluster.config_as(&user, &[]));
    let builder = builder.metrics(numbers.recorder());
    let operator = TestOperator::start(builder.register(named(script.controller(), &scene))).await?;
    scene.create("one", "first").await?;
    let settled = operator.settled().await?;
    assert_eq!(settled.runs_of(&scene.key("one")), 1, "no retry");
    assert_eq!(settled.written(), ["PATCH testresources/one/status -> 200"]);
    assert!(events(&scene).await?.is_empty());
    let failed =
        || numbers.value("kubernetes_events_total", &[("controller_name", "recorder"), ("result", "failed")]);
    assert_eq!(failed(), 2.0);
    let warnings = log.lines(Level::WARN);
    let of_events: Vec<_> =
        warnings.iter().filter(|line| line.field("message").contains("an Event was not written")).collect();
    assert_eq!(of_events.len(), 1, "once, not for each: {warnings:#?}");
    operator.stop().await;

    // Asked for an Event, the server says nothing; the status doesn't wait for that.
    let silent = before(|_, path| {
        path.contains("/events").then(|| Box::pin(std::future::pending()) as BoxFuture<'static, ()>)
    });
    let script = telling();
    let builder = scene.operator().transport(silent).register(named(script.controller(), &scene));
    let operator = TestOperator::start(builder).await?;
    scene.create("two", "first").await?;
    scene.until("its status", "two", |two| two.status == Some(said("first"))).await?;
    // Nor does the next run.
    scene.patch("two", json!({ "spec": { "value": "second" } })).await?;
    scene.until("its status", "two", |two| two.status == Some(said("second"))).await?;
    assert!(events(&scene).await?.is_empty());
    let began = tokio::time::Instant::now();
    operator.stop().await;
    assert!(began.elapsed() < Duration::from_secs(10), "a stop gives up what isn't answered");
    Ok(())
}

#[operator_test]
async fn a_primary_with_too_much_to_say_is_cut_short() -> Result<()> {
    let scene = Scene::new("event-recorder").await?;
    let numbers = Numbers::default();
    let script = Script::<TestResource>::new(|_, _, context| {
        for number in 0..40 {
            context.events().normal("Counted", format!("number {number}"));
        }
        context.events().warn("TooMany", "there are 40");
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    let builder = scene.operator().metrics(numbers.recorder());
    let operator = TestOperator::start(builder.register(named(script.controller(), &scene))).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    assert_eq!(events(&scene).await?.len(), 26, "the warning has a measure of its own");
    let became = |result| {
        numbers.value("kubernetes_events_total", &[("controller_name", "recorder"), ("result", result)])
    };
    assert_eq!([became("created"), became("suppressed"), became("failed")], [26.0, 15.0, 0.0]);
    scene.create("two", "first").await?;
    operator.settled().await?;
    let all = scene.api::<Event>().list(&ListParams::default()).await?.items.len();
    assert_eq!(all, 52, "each primary has its own measure");
    scene.delete("one").await?;
    scene.delete("two").await?;
    scene.until_gone("two").await?;
    operator.settled().await?;
    let footprint = operator.operator().footprint().await;
    assert_eq!((footprint.primaries, &footprint.leftovers[..]), (0, &[][..]), "nothing is kept");
    Ok(())
}

#[operator_test]
async fn the_end_of_a_primary_can_be_told_after_it() -> Result<()> {
    let scene = Scene::new("event-recorder").await?;
    let script = Script::<TestResource>::idle().cleanup(|_, _, context| {
        context.events().normal("Removed", "all that was made of it is gone");
        Box::pin(async { Ok(Removal::Done) })
    });
    let operator = scene.start(named(script.controller(), &scene).cleaner(true)).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    operator.settled().await?;
    assert_eq!(counts(&events(&scene).await?), [("all that was made of it is gone", 1)]);
    Ok(())
}

#[operator_test]
async fn events_about_a_cluster_scoped_primary_are_in_the_namespace_default() -> Result<()> {
    let scene = Scene::cluster_scoped("event-recorder").await?;
    let name = scene.namespace.clone();
    let script = Script::<ClusterTestResource>::new(|run, primary, context| {
        record(run, &*primary, context);
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    let controller = script.controller().name("recorder").field_selector(format!("metadata.name={name}"));
    let operator = scene.start(controller.records_events(true)).await?;
    scene.create(&name, "first").await?;
    operator.settled().await?;
    let all = Api::<Event>::namespaced(scene.client.clone(), "default").list(&ListParams::default()).await?;
    let ours = all.into_iter().filter(|event| event.involved_object.name.as_ref() == Some(&name));
    assert_eq!(ours.map(|event| event.involved_object.namespace).collect::<Vec<_>>(), [None, None]);
    let ended = operator.operator().footprint().await;
    assert_eq!(
        (ended.primaries, operator.settled().await?.runs_of(&ObjectKey::cluster_scoped(&name))),
        (1, 0)
    );
    scene.delete(&name).await
}

#[operator_test(flavor = "current_thread")]
async fn the_rights_that_are_told_are_those_that_are_needed() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("event-recorder").await?;
    let script = telling();
    let silent = scene.controller(&script).name("recorder").build()?;
    assert!(silent.access().iter().all(|access| access.resource_type.kind() != "Event"));
    let declared = named(script.controller(), &scene).build()?;
    let told = declared.access().into_iter().filter(|access| access.resource_type.kind() == "Event");
    let told: Vec<_> = told.map(|access| (access.resource_type.group().to_owned(), access.verbs)).collect();
    assert_eq!(told, [(String::new(), vec!["get", "create", "patch"])]);

    let user = format!("{}-operator", scene.namespace);
    scene.grant("primaries", &user, &rights::primaries()).await?;
    let rule = json!({ "apiGroups": [told[0].0], "resources": ["events"], "verbs": told[0].1 });
    scene.grant("events", &user, &rule).await?;
    // With exactly these, what isn't declared is written as well, but not without a word.
    let builder = scene.operator().config(scene.cluster.config_as(&user, &[]));
    let operator = TestOperator::start(builder.register(silent)).await?;
    scene.create("one", "first").await?;
    eventually("both Events", async || Ok((events(&scene).await?.len() == 2).then_some(()))).await?;
    scene
        .patch("one", json!({ "metadata": { "labels": { "a": "b" } }, "spec": { "value": "second" } }))
        .await?;
    operator.settled().await?;
    assert_eq!(counts(&events(&scene).await?), [("made of first", 1), ("made of second", 1), ("run 2", 2)]);
    let warnings = log.lines(Level::WARN);
    let advice = warnings.iter().filter(|line| line.field("message").contains("`.records_events(true)`"));
    assert_eq!(advice.count(), 1, "{warnings:#?}");
    Ok(())
}
