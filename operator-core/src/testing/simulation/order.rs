//! The order in which the nodes of workflows are declared makes no difference: in a calm run in which it is the other way round there
//! is the same in the end, and the operator makes the same requests. Schedules keep the order: messages of conditions list the nodes in
//! it.

use std::collections::BTreeMap;

use super::{
    CalmRun, Choices, Oracle, Tape, calm::first, check::Test, oracles::same_state, record::Violation,
    report::Failure, schedule::run, world::Apart,
};
use crate::{operator::OperatorBuilder, testing::faults::Verb, workflow::NODES_ARE_REVERSED};

/// The maximum number of requests in a report.
const MOST_TOLD: usize = 8;

/// What `declare` returns, with its nodes the other way round if so.
pub(super) fn declared(is_reversed: bool, declare: &dyn Fn() -> OperatorBuilder) -> OperatorBuilder {
    let before = NODES_ARE_REVERSED.replace(is_reversed);
    let declared = declare();
    NODES_ARE_REVERSED.set(before);
    declared
}

/// A calm run in the reverse order, compared with the usual one. Must not be called inside a runtime.
///
/// # Errors
/// If it is another one.
pub(super) fn compare(name: &str, test: Test<'_>, calm: &CalmRun) -> Result<(), Box<Failure>> {
    let (made_up, checkpoint) = (calm.made_up.clone(), calm.checkpoint.clone());
    let apart = Apart { is_reversed: true, made_up, checkpoint, ..Apart::default() };
    let mut outcome = run(test, &Choices::replayed(Tape::calm()), None, &apart);
    if outcome.violations.is_empty() {
        let states = outcome.run.states.iter().zip(&calm.states);
        outcome.violations.extend(states.filter_map(|(here, there)| same_state("at a rest", here, there)));
        let differences = differences(&outcome.run, calm);
        if !differences.is_empty() {
            let message =
                format!("other requests than in the calm run: {}", first(MOST_TOLD, differences).join("; "));
            outcome.violations.push(Violation { oracle: Oracle::SameState, message });
        }
    }
    match outcome.violations.is_empty() {
        true => Ok(()),
        false => {
            Err(Box::new(Failure::calm(&format!("{name}, with its nodes the other way round,"), outcome)))
        }
    }
}

/// How often the operator has made each request. Watches are opened again as time passes.
fn requests(run: &CalmRun) -> BTreeMap<String, i64> {
    let mut all = BTreeMap::new();
    // A run after the maximum interval is in the usual calm run only.
    let (begin, end) = run.long_quiet;
    let calls = run.calls[..begin].iter().chain(&run.calls[end..]);
    for call in calls.filter(|call| call.by_operator() && call.target.verb != Verb::Watch) {
        *all.entry(call.what()).or_default() += 1;
    }
    all
}

fn differences(here: &CalmRun, calm: &CalmRun) -> Vec<String> {
    let (mut here, calm) = (requests(here), requests(calm));
    for (what, times) in calm {
        *here.entry(what).or_default() -= times;
    }
    let more = |times: i64| if times > 0 { "more" } else { "fewer" };
    let told = |(what, times): (String, i64)| format!("{} {} times: {what}", times.abs(), more(times));
    here.into_iter().filter(|(_, times)| *times != 0).map(told).collect()
}
