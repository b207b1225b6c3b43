//! Quiet and BoundedLoad: how much an operator does, while there is nothing to do and in total.

use std::collections::BTreeMap;

use super::{Oracle, Violation, record::Call, world::World};
use crate::resource::ObjectKey;

/// What was done up to a moment.
pub(super) struct Mark {
    /// How many calls had been made by then.
    pub(super) calls: usize,
    runs: BTreeMap<(String, ObjectKey), u64>,
}

/// What was done in a period.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    pub(super) runs: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
}

impl Load {
    /// The rest of a whole without a part of it.
    pub(super) fn without(self, part: Self) -> Self {
        Self {
            runs: self.runs - part.runs,
            reads: self.reads - part.reads,
            writes: self.writes - part.writes,
        }
    }

    fn of(calls: &[Call], runs: u64) -> Self {
        let made = |writes: bool| {
            calls.iter().filter(|call| call.is_work() && call.target.verb.is_write() == writes).count() as u64
        };
        Self { runs, reads: made(false), writes: made(true) }
    }
}

impl World {
    /// This moment.
    pub(super) fn mark(&self) -> Mark {
        Mark { calls: self.record.with_calls(<[Call]>::len), runs: self.exclusive.runs() }
    }

    /// What was done in the whole schedule so far.
    pub(super) fn load(&self) -> Load {
        let runs = self.exclusive.runs().values().sum();
        self.record.with_calls(|calls| Load::of(calls, runs))
    }

    /// Quiet: what was done since then, when all was done, within this number of seconds. `calm` is what the calm run did
    /// in the same time.
    pub(super) fn quiet_since(
        &self,
        mark: &Mark,
        seconds: u64,
        calm: Option<Load>,
    ) -> (Load, Vec<Violation>) {
        let runs = self.exclusive.runs().values().sum::<u64>() - mark.runs.values().sum::<u64>();
        let (load, mut violations) = self.record.with_calls(|calls| {
            let calls = &calls[mark.calls..];
            (Load::of(calls, runs), written(calls))
        });
        let busiest = self.exclusive.runs().into_iter().map(|(primary, runs)| {
            let before = mark.runs.get(&primary).copied().unwrap_or(0);
            (runs - before, primary.1)
        });
        if let Some((runs, key)) = busiest.max().filter(|(runs, _)| *runs > seconds) {
            violations.push(format!("{runs} runs of {key} in {seconds} s when all was done"));
        }
        if load.reads > load.runs + seconds {
            violations.push(format!("{} reads in {seconds} s when all was done", load.reads));
        }
        if let Some(calm) = calm {
            let kinds = [("runs", load.runs, calm.runs, 20), ("reads", load.reads, calm.reads, 40)];
            for (what, made, calmly, more) in kinds {
                if made > 2 * calmly + more {
                    violations.push(format!("{made} {what} when all was done, and {calmly} in the calm run"));
                }
            }
        }
        let violation = |message| Violation { oracle: Oracle::Quiet, message };
        (load, violations.into_iter().map(violation).collect())
    }
}

fn written(calls: &[Call]) -> Vec<String> {
    // An Event about each run changes nothing.
    let is_record = |call: &&Call| call.target.resource == "events";
    let writes = calls.iter().filter(|call| call.is_work() && call.target.verb.is_write());
    let writes = writes.filter(|call| !is_record(call));
    let writes: Vec<String> = writes.map(|call| call.to_string().trim().to_owned()).collect();
    let told = || format!("{} writes when all was done: {}", writes.len(), some(&writes));
    (!writes.is_empty()).then(told).into_iter().collect()
}

/// BoundedLoad: a multiple of what the calm run needs, an allowance for each fault, and a constant. Reads of the simulation
/// itself count, too.
pub(super) fn bounded_load(here: Load, calm: Load, faults: u64) -> Vec<Violation> {
    let parts = [
        ("writes", here.writes, calm.writes, 20, 20),
        ("runs", here.runs, calm.runs, 20, 40),
        ("reads", here.reads, calm.reads, 40, 200),
    ];
    let over = parts.into_iter().filter_map(|(what, made, calmly, for_each, more)| {
        let most = 4 * calmly + for_each * faults + more;
        let message = || {
            format!("{made} {what}, and {calmly} in the calm run; {most} are the most for {faults} faults")
        };
        (made > most).then(|| Violation { oracle: Oracle::BoundedLoad, message: message() })
    });
    over.collect()
}

fn some(texts: &[String]) -> String {
    match texts {
        [first, second, third, .., last] if texts.len() > 4 => {
            format!("{first}; {second}; {third}; … {last}")
        }
        _ => texts.join("; "),
    }
}
