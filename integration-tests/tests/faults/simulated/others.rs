//! Clocks that jump, people and systems that meddle.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use anyhow::{Result, ensure};
use integration_tests::{Counted, ExternalSystem, OneRecord, workflow_of_one};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams};
use operator_core::{
    Controller, ErrorStatusUpdateControl, GenericRetry, PollingEventSource, UpdateControl, Workflow,
    dependent::{CustomDependent, bulk::BulkKubernetesDependent},
    environment::WallClock,
    testing::{TestOperator, faults::Faults},
};
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::Instant;

use super::{Script, TestResource, keeper, over, owner, patient, rest, said, saying, scene, under};

/// A wall clock that others set.
#[derive(Debug, Default)]
struct Jumping(AtomicI64);

impl WallClock for Jumping {
    fn now(&self) -> jiff::Timestamp {
        let seconds = 1_767_225_600 + self.0.load(Ordering::Relaxed);
        jiff::Timestamp::from_second(seconds).expect("a time of this century")
    }
}

#[tokio::test(start_paused = true)]
async fn f33_timers_do_not_follow_a_wall_clock_that_jumps() -> Result<()> {
    let delay = Duration::from_secs(10);
    for jump in [3600, -3600] {
        let scene = scene().await?;
        let clock = Arc::new(Jumping::default());
        let jumps = Arc::clone(&clock);
        let script = Script::new(move |run, primary: Arc<TestResource>, _| {
            jumps.0.fetch_add(jump, Ordering::Relaxed);
            Box::pin(async move {
                ensure!(run > 2, "not yet");
                let done = UpdateControl::patch_status(said(primary.spec.value.clone()));
                Ok(if run < 5 { done.reschedule_after(Duration::from_secs(10)) } else { done })
            })
        });
        let controller = owner(&scene, &script)?.retry(GenericRetry::linear(delay, 5)?);
        let builder = scene.operator().wall_clock(clock).register(controller);
        let operator = TestOperator::start(builder).await?;
        scene.create("one", "first").await?;
        rest(&operator).await?;
        let runs = script.runs.instants("one");
        let gaps: Vec<u64> = runs.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).collect();
        assert_eq!(gaps, [10, 10, 10, 10], "two retries and two reschedules, by {jump} s each run");
        over(&operator, &scene, &["one"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f38_whatever_came_between_the_same_spec_leads_to_the_same_state() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move {
            ensure!(primary.spec.value != "2 invalid", "it is invalid");
            Ok(UpdateControl::patch_status(said(primary.spec.value.clone())))
        })
    })
    .on_error(|_, _, error| ErrorStatusUpdateControl::patch_status(said(error.to_string())));
    let workflow = workflow_of_one(BulkKubernetesDependent::new(Counted))?;
    let operator =
        under(&Faults::none(), &scene, scene.managed(&script, &workflow).retry(patient()?)).await?;
    scene.create("one", "3 a").await?;
    let state = async || -> Result<_> {
        let said = scene.resources.get("one").await?.status.and_then(|status| status.message);
        Ok((said, scene.values().await?))
    };
    rest(&operator).await?;
    let wanted = state().await?;
    assert_eq!(wanted.1.len(), 3);
    for between in ["0 a", "3 b", "1 a", "2 invalid", "7 c"] {
        scene.set("one", between).await?;
        tokio::time::sleep(Duration::from_secs(100)).await;
        assert_ne!(state().await?, wanted, "{between}");
        scene.set("one", "3 a").await?;
        rest(&operator).await?;
        assert_eq!(state().await?, wanted, "after {between}");
    }
    over(&operator, &scene, &["one"]).await
}

#[tokio::test(start_paused = true)]
async fn f39_what_hands_delete_and_edit_for_a_minute_is_restored() -> Result<()> {
    let scene = scene().await?;
    let script = saying();
    let operator = under(&Faults::none(), &scene, keeper(&scene, &script)?).await?;
    let expected: BTreeMap<String, String> =
        [("one-a", "first"), ("one-b", "first"), ("two-a", "first"), ("two-b", "first")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    scene.create("one", "first").await?;
    scene.create("two", "first").await?;
    rest(&operator).await?;
    let maps = scene.api::<ConfigMap>();
    let names: Vec<&String> = expected.keys().collect();
    for action in 0..300_u64 {
        let mixed = action.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let name = names[usize::try_from(mixed % 4)?];
        let done = match mixed / 4 % 4 {
            0 => maps.delete(name, &DeleteParams::default()).await.map(drop),
            1 => {
                let edit = json!({ "data": { "value": "edited" } });
                maps.patch(name, &PatchParams::default(), &Patch::Merge(edit)).await.map(drop)
            }
            2 => {
                let edit = json!({ "data": null });
                maps.patch(name, &PatchParams::default(), &Patch::Merge(edit)).await.map(drop)
            }
            _ => {
                let edit = json!({ "data": { "more": action.to_string() } });
                maps.patch(name, &PatchParams::default(), &Patch::Merge(edit)).await.map(drop)
            }
        };
        // What is being restored may be missing at the moment.
        assert!(
            done.as_ref().is_ok_and(|()| true)
                || matches!(&done, Err(kube::Error::Api(status)) if status.code == 404)
        );
        tokio::time::sleep(Duration::from_millis(mixed / 16 % 400)).await;
    }
    rest(&operator).await?;
    assert_eq!(scene.values().await?, expected);
    over(&operator, &scene, &["one", "two"]).await
}

#[tokio::test(start_paused = true)]
async fn f40_a_system_that_is_down_slow_and_late_gets_one_record() -> Result<()> {
    let scene = scene().await?;
    let system = ExternalSystem::with_names_as_keys();
    system.lose_answers(2);
    let polls = Arc::new(Mutex::new(Vec::new()));
    let (records, namespace, noted) = (system.clone(), scene.namespace.clone(), Arc::clone(&polls));
    let source = PollingEventSource::new("records", Duration::from_secs(5), move || {
        let poll = {
            let mut polls = noted.lock();
            polls.push(Instant::now());
            polls.len()
        };
        let (records, namespace) = (records.clone(), namespace.clone());
        async move {
            match poll {
                // Down, then slow, then behind, then as it should be.
                4..=6 => anyhow::bail!("the other system is down"),
                7 => tokio::time::sleep(Duration::from_secs(600)).await,
                _ => {}
            }
            let seen = if poll > 10 { records } else { ExternalSystem::default() };
            Ok::<_, anyhow::Error>(seen.by_primary(&namespace, |name| name))
        }
    });
    let dependent = CustomDependent::new(OneRecord::new(&system, "")).creates().remembered_by("records");
    let script = saying();
    let controller = Controller::builder(script.clone())
        .namespaces([&scene.namespace])
        .retry(patient()?)
        .watches(source)
        .workflow(&Workflow::builder().dependent(dependent).build()?);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    tokio::time::sleep(Duration::from_secs(900)).await;
    assert_eq!(system.created(), 1, "the system is asked before anything is made in it");
    assert!(polls.lock().len() > 12, "polls go on after trouble: {}", polls.lock().len());
    // A create without an answer is followed by a look of its own.
    let gaps: Vec<Duration> = polls.lock().windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps[2..].iter().all(|gap| *gap >= Duration::from_secs(5)), "no storm of polls: {gaps:?}");
    assert!(script.runs.count() < 20, "{} runs in a quarter of an hour", script.runs.count());
    operator.stop().await;
    Ok(())
}
