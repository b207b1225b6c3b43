//! Many events, many primaries.

use integration_tests::prelude::*;
use operator_core::{
    bench::{Effect, Input, Machine, MachineConfig, Outcome, Uid},
    environment::Now,
    observe::Cause,
};

use super::{Script, TestResource, over, owner, rest, said, scene, under};

fn run_of(effects: &[Effect]) -> Vec<operator_core::bench::Run> {
    let runs = effects.iter().filter_map(|effect| match effect {
        Effect::Run(run) => Some(run.clone()),
        _ => None,
    });
    runs.collect()
}

/// An event of the primary of that number.
fn changed(number: usize, cause: Cause) -> Input {
    let key = ObjectKey::namespaced("storm", &format!("p-{number}"));
    Input::PrimaryChanged { key, uid: Uid::new(&number.to_string()), cause, deleting: false }
}

/// Ends runs, and those that follow, until none is left; says how many there were.
fn drain(machine: &mut Machine, effects: &mut Vec<Effect>) -> usize {
    let mut ended = 0;
    loop {
        let runs = run_of(effects);
        effects.clear();
        if runs.is_empty() {
            return ended;
        }
        for run in runs {
            ended += 1;
            let outcome = Outcome::Success { reschedule: None };
            machine.on(Input::Finished { run: run.id, key: run.key, outcome }, Now::START, effects);
        }
    }
}

#[test]
fn f22_a_hundred_thousand_events_of_ten_primaries_are_two_runs_each() {
    let mut machine = Machine::new(MachineConfig::default());
    let mut effects = Vec::new();
    machine.on(Input::Start { opening: 0, namespace: None }, Now::START, &mut effects);
    for event in 0..100_000 {
        machine.on(changed(event % 10, Cause::Changed), Now::START, &mut effects);
    }
    assert_eq!(run_of(&effects).len(), 10, "one run each at a time");
    assert!(effects.len() < 100, "{} effects: an event that joins others has none", effects.len());
    assert_eq!(drain(&mut machine, &mut effects), 20);
}

#[test]
fn f22_among_a_hundred_thousand_primaries_a_user_s_change_goes_first() {
    let mut machine = Machine::new(MachineConfig::default());
    let mut effects = Vec::new();
    for number in 0..100_000 {
        machine.on(changed(number, Cause::InitialList), Now::START, &mut effects);
    }
    machine.on(Input::Start { opening: 0, namespace: None }, Now::START, &mut effects);
    let first = run_of(&effects);
    assert_eq!(first.len(), 50, "as many as there are workers");
    effects.clear();
    machine.on(changed(99_999, Cause::Changed), Now::START, &mut effects);
    let outcome = Outcome::Success { reschedule: None };
    let ended = Input::Finished { run: first[0].id, key: first[0].key.clone(), outcome };
    machine.on(ended, Now::START, &mut effects);
    assert_eq!(run_of(&effects)[0].key.name(), "p-99999", "it overtakes all that only were there");
    for run in &first[1..] {
        let ended = Input::Finished { run: run.id, key: run.key.clone(), outcome };
        machine.on(ended, Now::START, &mut effects);
    }
    assert_eq!(drain(&mut machine, &mut effects) + 50, 100_000);
}

#[tokio::test(start_paused = true)]
async fn f22_a_storm_of_changes_costs_a_run_at_a_time() -> Result<()> {
    let scene = scene().await?;
    let gate = Gate::new();
    let held = gate.clone();
    let script = Script::new(move |run, primary: Arc<TestResource>, _| {
        let gate = held.clone();
        Box::pin(async move {
            if run == 1 {
                gate.pass().await;
            }
            Ok(Said::status(said(primary.spec.value.clone())))
        })
    });
    let operator = under(&Faults::none(), &scene, owner(&scene, &script)?).await?;
    let names: Vec<String> = (0..10).map(|number| format!("p-{number}")).collect();
    for name in &names {
        scene.create(name, "0").await?;
        gate.arrived().await?;
    }
    for value in 1..=100 {
        for name in &names {
            scene.patch(name, json!({ "spec": { "value": value.to_string() } })).await?;
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    gate.let_through(names.len());
    rest(&operator).await?;
    for name in &names {
        assert_eq!(script.runs.of(name).len(), 2, "{name}: the one under way, and one for all that came");
        let one = scene.resources.get(name).await?;
        assert_eq!(one.status.and_then(|status| status.message).as_deref(), Some("100"));
    }
    over(&operator, &scene, &names.iter().map(String::as_str).collect::<Vec<_>>()).await
}
