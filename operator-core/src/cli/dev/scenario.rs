//! A scenario that `dev --once` executes, step by step.

use tokio::time::Instant;

use super::{
    Error, Step,
    actor::Actor,
    feed::{Feed, human},
};
use crate::cli::output::{Mark, Output};

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

    pub(super) async fn play(
        &self,
        actor: &Actor<'_>,
        deadline: Instant,
        feed: &Feed,
        output: Output,
    ) -> Result<(), Error> {
        for step in &self.steps {
            let started = actor.environment.now();
            let result = step.play(actor, deadline).await;
            let took = human(actor.environment.now().since(started));
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
