//! User code that is slow, or panics.

use integration_tests::prelude::*;

use super::{Script, TestResource, over, owner, patient, rest, said, saying, scene, under};

#[tokio::test(start_paused = true)]
async fn f19_slow_runs_on_all_workers_but_one_hold_nobody_up() -> Result<()> {
    for slow in [1, 3] {
        let scene = scene().await?;
        let script = Script::new(|_, primary: Arc<TestResource>, _| {
            Box::pin(async move {
                if primary.name_any().starts_with("slow") {
                    tokio::time::sleep(Duration::from_secs(60)).await;
                }
                Ok(Said::status(said(primary.spec.value.clone())))
            })
        });
        let operator =
            under(&Faults::none(), &scene, owner(&scene, &script)?.max_concurrent_reconciles(4)).await?;
        operator.operator().synced().await;
        let slow: Vec<String> = (0..slow).map(|number| format!("slow-{number}")).collect();
        for name in &slow {
            scene.create(name, "first").await?;
        }
        let begin = Instant::now();
        let quick: Vec<String> = (0..30).map(|number| format!("quick-{number}")).collect();
        for name in &quick {
            scene.create(name, "first").await?;
        }
        for name in &quick {
            scene.until("its status", name, |one| one.status.is_some()).await?;
        }
        assert!(begin.elapsed() < Duration::from_secs(1), "they waited {:?}", begin.elapsed());
        assert_eq!(script.runs.under_way(), slow.len(), "the slow ones are still slow");
        let names: Vec<&str> = slow.iter().chain(&quick).map(String::as_str).collect();
        over(&operator, &scene, &names).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f19_events_are_taken_in_while_all_workers_are_busy() -> Result<()> {
    let scene = scene().await?;
    let gate = Gate::new();
    let held = gate.clone();
    let script = Script::new(move |_, primary: Arc<TestResource>, _| {
        let gate = held.clone();
        Box::pin(async move {
            if primary.name_any() == "slow" {
                gate.pass().await;
            }
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    });
    let operator =
        under(&Faults::none(), &scene, owner(&scene, &script)?.max_concurrent_reconciles(1)).await?;
    scene.create("slow", "first").await?;
    gate.arrived().await?;
    for name in ["one", "two"] {
        scene.create(name, "0").await?;
        for value in 1..100 {
            scene.patch(name, json!({ "spec": { "value": value.to_string() } })).await?;
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    gate.let_through(1);
    rest(&operator).await?;
    for name in ["one", "two"] {
        assert_eq!(script.runs.of(name).len(), 1, "a hundred events are one run");
        let one = scene.resources.get(name).await?;
        assert_eq!(
            one.status.and_then(|status| status.message).as_deref(),
            Some("99"),
            "of the newest state"
        );
    }
    over(&operator, &scene, &["slow", "one", "two"]).await
}

/// Panics twice for each primary whose value is `place`.
fn panics_in(place: &'static str) -> impl Fn(&TestResource) + Clone + Send + Sync + 'static {
    let times: Arc<Mutex<BTreeMap<String, u32>>> = Arc::default();
    move |primary| {
        if primary.spec.value == place {
            let times = {
                let mut all = times.lock();
                let times = all.entry(primary.name_any()).or_default();
                *times += 1;
                *times
            };
            assert!(times > 2, "no luck in {place}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn f20_a_panic_anywhere_in_user_code_is_that_primary_s_failure_alone() -> Result<()> {
    for place in ["reconcile", "desired", "condition", "error policy"] {
        let scene = scene().await?;
        let (reconcile, policy) = (panics_in("reconcile"), panics_in("error policy"));
        let script = Script::new(move |run, primary: Arc<TestResource>, _| {
            reconcile(&primary);
            let fails = primary.spec.value == "error policy" && run <= 3;
            Box::pin(async move {
                ensure!(!fails, "not yet");
                Ok(Said::status(said(primary.spec.value.clone())))
            })
        })
        .on_error(move |primary, _, error| {
            policy(primary);
            said(error.to_string())
        });
        let (desired, condition) = (panics_in("desired"), panics_in("condition"));
        let map = wanted("a", move |primary: &TestResource| {
            desired(primary);
            integration_tests::map_of(primary, "a", primary.spec.value.as_str())
        });
        let node = map.ready(move |primary: &TestResource| {
            condition(primary);
            true
        });
        let workflow = Workflow::builder().nodes((node,)).build()?;
        let numbers = Numbers::default();
        let controller = scene.managed(&script, &workflow).retry(patient()?).max_concurrent_reconciles(1);
        let builder = scene.operator().metrics(numbers.recorder());
        let operator = TestOperator::start(builder.register(controller)).await?;
        scene.create("bad", place).await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
        let begin = Instant::now();
        scene.create("good", "good").await?;
        let says = |what: &'static str| {
            move |one: &TestResource| {
                one.status.as_ref().and_then(|status| status.message.as_deref()) == Some(what)
            }
        };
        scene.until("its turn", "good", says("good")).await?;
        assert!(begin.elapsed() < Duration::from_secs(1), "{place}: it waited {:?}", begin.elapsed());
        scene.until("the end of bad luck", "bad", says(place)).await?;
        rest(&operator).await?;
        assert_eq!(script.runs.of("good").len(), 1, "{place}");
        assert!(numbers.value("reconciliations_failure_total", &[]) >= 2.0, "{place}: each is a failed run");
        if place != "error policy" {
            assert_eq!(numbers.value("reconciler_panics_total", &[]), 2.0, "{place}: each is counted");
        }
        over(&operator, &scene, &["bad", "good"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f20_a_panic_in_a_mapper_costs_the_event_alone() -> Result<()> {
    let scene = scene().await?;
    let script = saying();
    let source = InformerEventSource::<ConfigMap>::new().map_to_primary(|map| {
        assert_ne!(value_of(map), Some("poison"), "not to be mapped");
        vec![ObjectKey::of(map)]
    });
    let controller = script.controller().watches(source).namespaces([&scene.namespace]);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    rest(&operator).await?;
    let runs = script.runs.count();
    let maps = scene.api::<ConfigMap>();
    for (name, value) in [("poisoned", "poison"), ("one", "wholesome")] {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.to_owned());
        map.data = Some([("value".to_owned(), value.to_owned())].into());
        maps.create(&PostParams::default(), &map).await?;
    }
    rest(&operator).await?;
    assert_eq!(script.runs.count(), runs + 1, "the other map wakes its primary");
    over(&operator, &scene, &["one"]).await
}
