//! The view of a run from outside: its span, and the metrics.

use integration_tests::prelude::*;

#[operator_test(flavor = "current_thread")]
async fn the_span_of_a_run_says_what_it_is_about_and_why_it_runs() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("observability").await?;
    let script = Script::<TestResource>::idle();
    let controller = script.controller().name("observed").namespaces([&scene.namespace]);
    let operator = scene.start(controller).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    let one = scene.patch("one", json!({ "spec": { "value": "second" } })).await?;
    operator.settled().await?;
    operator.stop().await;

    let spans = log.spans("reconcile");
    let [created, changed] = &spans[..] else { panic!("not one span for each run: {spans:#?}") };
    assert_eq!((created["because"].as_str(), created["resource.generation"].as_str()), ("created", "1"));
    let expected = [
        ("controller", "observed".to_owned()),
        ("because", "changed".to_owned()),
        ("resource.apiVersion", "conformance.operator-core.io/v1".to_owned()),
        ("resource.kind", "TestResource".to_owned()),
        ("resource.name", "one".to_owned()),
        ("resource.namespace", scene.namespace.clone()),
        ("resource.generation", "2".to_owned()),
        ("resource.resourceVersion", one.resource_version().unwrap_or_default()),
        ("resource.uid", one.uid().unwrap_or_default()),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value));
    assert_eq!(*changed, expected.into());
    Ok(())
}

#[operator_test]
async fn the_metrics_count_what_has_happened() -> Result<()> {
    let scene = Scene::new("observability").await?;
    scene.failures.expect("no luck");
    scene.failures.expect("no luck at all");
    let numbers = Numbers::default();
    // "one" fails twice, panics once, then succeeds; "two" succeeds at once, and again after a change.
    let script = Script::new(|run, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            match (primary.name_any().as_str(), run) {
                ("one", 1 | 2) => bail!("no luck"),
                ("one", 3) => panic!("no luck at all"),
                _ => {}
            }
            let message = Some(primary.spec.value.clone());
            Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
        })
    });
    let controller = script
        .controller()
        .name("counted")
        .cleaner(true)
        .retry(GenericRetry::linear(Duration::from_millis(50), 5)?)
        .namespaces([&scene.namespace]);
    let builder = scene.operator().metrics(numbers.recorder()).register(controller);
    let operator = TestOperator::start(builder).await?;

    let counted = ("controller_name", "counted");
    let of_controller = |name| numbers.value(name, &[counted]);
    let in_namespace = |name| numbers.value(name, &[counted, ("namespace", &scene.namespace)]);
    scene.create("one", "value").await?;
    scene.create("two", "value").await?;
    operator.settled().await?;
    assert_eq!(of_controller("custom_resources"), 2.0);
    scene.patch("two", json!({ "spec": { "value": "changed" } })).await?;
    operator.settled().await?;
    scene.delete("two").await?;
    scene.until_gone("two").await?;
    operator.settled().await?;

    // Four runs of "one"; two reconciles and one clean-up of "two".
    let expected = [
        ("reconciliations_started_total", 7.0),
        ("reconciliations_success_total", 4.0),
        ("reconciliations_failure_total", 3.0),
        ("reconciliations_retries_total", 3.0),
        ("reconciler_panics_total", 1.0),
    ];
    for (name, count) in expected {
        assert_eq!(in_namespace(name), count, "{name}");
    }
    let all_over = ["reconciliations_active", "reconciliations_queue"];
    assert_eq!(all_over.map(of_controller), [0.0, 0.0]);
    assert_eq!(of_controller("custom_resources"), 1.0);
    let runs =
        |kind| numbers.value("reconciliations_execution_duration_seconds_count", &[counted, ("name", kind)]);
    assert_eq!((runs("reconcile"), runs("cleanup")), (6.0, 1.0));
    let writes =
        |result| numbers.value("api_writes_total", &[counted, ("kind", "TestResource"), ("result", result)]);
    // A finalizer and a status for each, and a further status of "two", whose end is that of its finalizer.
    let effects = ["updated", "deleted", "unchanged", "matched", "created", "failed"];
    assert_eq!(effects.map(writes), [5.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let text = numbers.text();
    assert!(!text.contains("\"one\"") && !text.contains("\"two\""), "{text}");
    Ok(())
}

#[operator_test]
async fn requests_ages_and_what_is_held_are_measured() -> Result<()> {
    let scene = Scene::new("observability").await?;
    let gate = Gate::new();
    let numbers = Numbers::default();
    let script = Script::new({
        let gate = gate.clone();
        move |_, primary: Arc<TestResource>, _| {
            let gate = gate.clone();
            Box::pin(async move {
                gate.pass().await;
                let message = Some(primary.spec.value.clone());
                Ok(Said::status(TestStatus { message, ..TestStatus::default() }))
            })
        }
    });
    let controller = script.controller().name("measured").max_concurrent_reconciles(1);
    let controller = controller.owns::<Secret>().namespaces([&scene.namespace]);
    let builder = scene.operator().metrics(numbers.recorder()).register(controller);
    let operator = TestOperator::start(builder).await?;

    let measured = ("controller_name", "measured");
    let of = |name, event| numbers.value(name, &[measured, ("event", event)]);
    scene.create("one", "value").await?;
    scene.create("two", "value").await?;
    // One runs, and the other waits for it; what is measured every five seconds shows that.
    eventually("a wait of a second", async || {
        Ok((numbers.value("reconciliations_oldest_waiting_seconds", &[measured]) >= 1.0).then_some(()))
    })
    .await?;
    eventually("the age of the last event", async || {
        Ok((of("last_event_age_seconds", "primary") >= 1.0).then_some(()))
    })
    .await?;
    assert_eq!([of("objects_held", "primary"), of("objects_held", "Secret")], [2.0, 0.0]);
    gate.let_through(10);
    operator.settled().await?;
    eventually("nothing to wait", async || {
        Ok((numbers.value("reconciliations_oldest_waiting_seconds", &[measured]) == 0.0).then_some(()))
    })
    .await?;
    let requests = |verb, code| numbers.value("api_requests_total", &[("verb", verb), ("code", code)]);
    assert_eq!([requests("apply", "200"), requests("watch", "200")], [2.0, 2.0], "{}", numbers.text());
    assert!(requests("list", "200") >= 2.0);
    let took = ["count", "sum"]
        .map(|of| numbers.value(&format!("api_request_duration_seconds_{of}"), &[("verb", "apply")]));
    assert!(took[0] == 2.0 && took[1] < 60.0, "{took:?}");
    operator.stop().await;
    Ok(())
}
