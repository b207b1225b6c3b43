//! A scenario that `dev --once` executes, step by step.

use tokio::time::Instant;

use super::{Error, Step, feed::human, stage::Stage};
use crate::cli::output::Mark;

/// Steps in their order. The first one that fails ends the scenario, and the command fails.
#[derive(Clone, Debug, Default)]
#[must_use = "a scenario does nothing until it is given to a workbench"]
pub struct Scenario {
    steps: Vec<Step>,
}

impl Scenario {
    /// A scenario without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step.
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub(super) async fn play(&self, stage: &Stage, deadline: Instant) -> Result<(), Error> {
        let Stage { environment, feed, output, .. } = stage;
        for step in &self.steps {
            let started = environment.now();
            let result = step.play(stage, deadline).await;
            let took = human(environment.now().since(started));
            let name = step.name();
            match result {
                Ok(()) => feed.text(format!("{} step {name}  ({took})", output.mark(Mark::Ready))),
                Err(source) => {
                    feed.text(format!("{} step {name}  ({took}): {source}", output.mark(Mark::Error)));
                    let (step, timed_out) = (name.to_owned(), source.is_timeout());
                    return Err(Error::Step { step, timed_out, source: Box::new(source) });
                }
            }
        }
        Ok(())
    }
}
