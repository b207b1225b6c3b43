//! A story that `dev --once` goes through, step by step.

use kube::Client;
use tokio::time::Instant;

use super::{
    Error, Step,
    feed::{Feed, human},
    ready::Judge,
};
use crate::{
    cli::output::{Mark, Output},
    environment::Environment,
    testing::TestCluster,
};

/// Steps in their order. The first one that fails ends the scenario, and the command with an error.
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
                    return Err(Error::Step { step: name.to_owned(), source: Box::new(source) });
                }
            }
        }
        Ok(())
    }
}

/// Whoever goes through a scenario: the cluster's administrator.
pub(super) struct Actor<'a> {
    pub(super) cluster: &'a TestCluster,
    pub(super) client: &'a Client,
    pub(super) environment: &'a Environment,
    pub(super) namespace: &'a str,
    pub(super) judge: &'a Judge,
}
