//! Failed runs: a test announces those that it expects, and any other fails the test.
//!
//! A failed run is retried, and the retry often succeeds. An assertion in a reconciler, a dependent or a
//! condition would be lost without this, and so would an error of the library.
//!
//! ```text
//!  operators of the scene ──RunFinished──▶ Failures ──▶ Judge, in the Scene that the test has made
//!                                            ▲           fails the test when it is dropped
//!                    expect, allow ──────────┘
//! ```
//!
//! # Guarantees
//! - Every operator that a scene declares is observed, whatever its reconciler, and however it was started.
//! - The test fails even if it checks nothing afterwards: when its scene is dropped. Clones of the scene don't judge.
//! - No kind of failure is excused: conflicts and refusals of the server have to be announced, too.
//! - A test that panics by itself keeps its own message; the failures are reported beside it.
//!
//! # Assumptions
//! - The scene lives as long as its test. Later failures aren't reported.

use std::{collections::BTreeMap, fmt, sync::Arc, thread};

use operator_core::{
    observe::{Observation, Observer, RunEnd},
    testing::ObservedGenerations,
};
use parking_lot::Mutex;

/// The number of different failures that are reported.
const MOST: usize = 10;

/// The failed runs of a scene. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Failures(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    announced: Vec<Announced>,
    /// How often runs failed that weren't announced, by their reports.
    others: BTreeMap<String, usize>,
    /// The errors of all failed runs.
    said: Vec<String>,
    /// What each operator has said about generations.
    generations: Vec<ObservedGenerations>,
    ignores_generations: bool,
}

/// Failures whose errors contain these words.
#[derive(Debug)]
struct Announced {
    words: String,
    /// Whether such a failure must happen.
    due: bool,
}

impl Failures {
    /// Runs may fail with an error that contains `words`, and at least one must: without it the test fails.
    pub fn expect(&self, words: impl Into<String>) {
        self.announce(words.into(), true);
    }

    /// Runs may fail with an error that contains `words`: chance decides whether any does.
    pub fn allow(&self, words: impl Into<String>) {
        self.announce(words.into(), false);
    }

    /// The test counts something else in `observedGeneration`: no status is judged by it.
    pub fn ignore_generations(&self) {
        self.0.lock().ignores_generations = true;
    }

    /// How many runs have failed with an error that contains `words`.
    #[must_use]
    pub fn seen(&self, words: &str) -> usize {
        self.0.lock().said.iter().filter(|said| said.contains(words)).count()
    }

    fn announce(&self, words: String, due: bool) {
        self.0.lock().announced.push(Announced { words, due });
    }

    fn note(&self, run: impl FnOnce() -> String, error: &str) {
        let mut inner = self.0.lock();
        inner.said.push(error.to_owned());
        let mut is_announced = false;
        for announced in inner.announced.iter_mut().filter(|one| error.contains(&one.words)) {
            announced.due = false;
            is_announced = true;
        }
        if !is_announced {
            *inner.others.entry(run()).or_default() += 1;
        }
    }

    /// Judges the statuses of an operator, too.
    pub(crate) fn also(&self, generations: ObservedGenerations) {
        self.0.lock().generations.push(generations);
    }

    /// The failures that weren't announced, and statuses that can't be right, a line each.
    fn surprises(&self) -> Vec<String> {
        let inner = self.0.lock();
        let mut lines: Vec<_> =
            inner.others.iter().take(MOST).map(|(run, times)| format!("{times} × {run}")).collect();
        if let Some(further) = inner.others.len().checked_sub(MOST).filter(|further| *further > 0) {
            lines.push(format!("and {further} more"));
        }
        if !inner.ignores_generations {
            lines.extend(inner.generations.iter().flat_map(ObservedGenerations::violations));
        }
        lines
    }

    /// The announced failures that haven't happened, a line each.
    fn missing(&self) -> Vec<String> {
        let inner = self.0.lock();
        let missing = inner.announced.iter().filter(|announced| announced.due);
        missing.map(|announced| format!("no run failed with {:?}", announced.words)).collect()
    }
}

impl Observer for Failures {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::RunFinished { controller, key, kind, end: RunEnd::Failed { error, .. }, .. } =
            observation
        {
            self.note(|| format!("{} of {key} by {controller}: {error}", kind.as_str()), error);
        }
    }
}

/// Fails the test when it is dropped, unless all failures were announced. A clone doesn't.
pub(crate) struct Judge(Option<Failures>);

impl Judge {
    pub(crate) fn of(failures: &Failures) -> Self {
        Self(Some(failures.clone()))
    }
}

impl Clone for Judge {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Judge")
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        let Some(failures) = self.0.take() else { return };
        let mut told = failures.surprises();
        if thread::panicking() {
            // The test fails anyway, maybe because of these.
            tell(&told);
            return;
        }
        told.extend(failures.missing());
        assert!(told.is_empty(), "failures of runs are not as announced:\n  {}", told.join("\n  "));
    }
}

#[allow(clippy::print_stderr, reason = "the test's own output, beside its panic")]
fn tell(surprises: &[String]) {
    if !surprises.is_empty() {
        eprintln!("runs failed that were not announced:\n  {}", surprises.join("\n  "));
    }
}
