//! A scenario that `dev --once` executes, step by step.

use super::{Error, Step};

/// Steps in their order. The first one that fails ends the scenario, and the command fails.
#[derive(Clone, Debug, Default)]
#[must_use = "a scenario does nothing until it is given to a workbench"]
pub struct Scenario {
    pub(super) steps: Vec<Step>,
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

    /// Reads the files.
    pub(super) fn read(&mut self) -> Result<(), Error> {
        self.steps.iter_mut().try_for_each(Step::read)
    }
}
