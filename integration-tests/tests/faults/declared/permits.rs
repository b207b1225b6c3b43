//! Every call of another system has a permit: none passes the limits of its system, whoever wants to know something about a record.

use integration_tests::prelude::*;
use operator_core::{
    Run,
    dependent::{Records, System},
    testing::OtherSystem,
    the,
};

use super::telling;
use crate::simulated::{pass, scene, under};

type Declared = Records<Word, TestResource>;
type Look = fn(Declared) -> Declared;

/// When records are read.
const LOOKS: [(&str, Look); 3] = [
    ("in each run", |record| record),
    ("polled", |record| record.polled(Duration::from_secs(20))),
    ("polled together", |record| record.polled_together(Duration::from_secs(20))),
];

/// What is beside the record.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Beside {
    Nothing,
    /// The record comes after what is never ready.
    NotReady,
    /// The record's own condition decides.
    Condition,
    /// The reconciler reads it by itself.
    Standalone,
}

/// What the other system does while the operator isn't there.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meanwhile {
    Nothing,
    Down,
    Slow,
}

fn map(_: &TestResource) -> ConfigMap {
    ConfigMap::default()
}

/// Asks for the record, whatever the run has done.
fn status(primary: &TestResource, run: &Run<TestResource>) -> TestStatus {
    let message = run.get(the::<Word>()).map(|word| word.to_string());
    TestStatus { message, ..telling(primary, run) }
}

async fn all_are_permitted(
    look: fn(Declared) -> Declared,
    beside: Beside,
    meanwhile: Meanwhile,
) -> Result<()> {
    let scene = scene().await?;
    let system: Words = OtherSystem::new();
    let (open, limits) = (Arc::new(Mutex::new(Vec::new())), System::new("words").calls_at_once(1));
    let noted = Arc::clone(&open);
    system.on_call(move |call| {
        let (when, what) = call.split_once(' ').unwrap_or_default();
        let mut open = noted.lock();
        match open.iter().position(|known| known == what).filter(|_| when == "after") {
            Some(at) => drop(open.remove(at)),
            None => open.push(what.to_owned()),
        }
        std::future::ready(())
    });
    let record = || look(Records::new(Word::new(&system)).id_in_status("recordId").system(&limits));
    let start = async |is_first: bool| -> Result<TestOperator> {
        let never = move |_: &ConfigMap| is_first;
        let is_met = |_: &String| true;
        let workflow = Workflow::builder();
        let workflow = match beside {
            Beside::Nothing => workflow.nodes((record(),)),
            Beside::NotReady => workflow.nodes((node(map).ready(never), record().after(map))),
            Beside::Condition => workflow.nodes((record().ready(is_met), node(map).after(the::<Word>()))),
            Beside::Standalone => workflow.nodes((map,)),
        };
        if beside != Beside::Standalone {
            let controller = Controller::of::<TestResource>().workflow(workflow).status(status);
            return under(&Faults::none(), &scene, controller.name("keeper").namespaces([&scene.namespace]))
                .await;
        }
        let alone = record().named("word").standalone();
        let called = alone.clone();
        let script = Script::new(move |_, primary: Arc<TestResource>, context| {
            let called = called.clone();
            Box::pin(async move {
                let known =
                    called.secondaries(&primary, context).await.map_err(anyhow::Error::from_boxed)?.len();
                called.reconcile(&primary, context).await.map_err(anyhow::Error::from_boxed)?;
                Ok(Said::status(TestStatus { message: Some(known.to_string()), ..said(String::new()) }))
            })
        });
        let controller = scene.controller(&script).name("keeper").dependent(&alone).cleaner(true);
        under(&Faults::none(), &scene, controller).await
    };
    let operator = start(true).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    ensure!(words_in(&system) == ["first"], "{:?}", words_in(&system));
    operator.stop().await;
    match meanwhile {
        Meanwhile::Nothing => {}
        Meanwhile::Down => drop(system.outage(true)),
        Meanwhile::Slow => drop(system.latency(Duration::from_secs(2))),
    }
    let _operator = start(false).await?;
    for round in 0..5 {
        scene.set("one", &format!("second {round}")).await?;
        pass(3).await;
    }
    system.outage(false);
    scene.delete("one").await?;
    pass(300).await;
    let unpermitted = system.unpermitted();
    ensure!(unpermitted.is_empty(), "called without a permit: {unpermitted:?}");
    ensure!(open.lock().is_empty(), "begun and dropped: {:?}", open.lock());
    ensure!(system.most_at_once() == 1, "{} calls at once", system.most_at_once());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn every_call_of_another_system_has_a_permit() -> Result<()> {
    for (name, look) in LOOKS {
        for beside in [Beside::Nothing, Beside::NotReady, Beside::Condition, Beside::Standalone] {
            for meanwhile in [Meanwhile::Nothing, Meanwhile::Down, Meanwhile::Slow] {
                let all = all_are_permitted(look, beside, meanwhile).await;
                all.with_context(|| format!("read {name}, beside {beside:?}, {meanwhile:?}"))?;
            }
        }
    }
    Ok(())
}

/// After a failed call the record pauses for a second, and the status function reads what is known.
#[tokio::test(start_paused = true)]
async fn a_status_function_calls_nobody() -> Result<()> {
    let scene = scene().await?;
    let system: Words = OtherSystem::new();
    let record = || Records::new(Word::new(&system)).id_in_status("recordId").system(&System::new("words"));
    let start = async || -> Result<TestOperator> {
        let controller = Controller::of::<TestResource>().workflow((record(),)).status(status);
        under(&Faults::none(), &scene, controller.name("keeper").namespaces([&scene.namespace])).await
    };
    let operator = start().await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    operator.stop().await;
    system.outage(true);
    let before = system.calls().len();
    let _operator = start().await?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    for round in 0..10 {
        scene.set("one", &format!("second {round}")).await?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let calls = system.calls().len() - before;
    ensure!(calls == 1, "{calls} calls, where the system allows one");
    Ok(())
}
