//! What `dev` uses in addition to the operator's declaration.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;

use super::{Error, Readiness, Scenario, ready::Judge};

/// What `dev` uses in addition to the operator's declaration: manifests, examples, hints, a scenario. All of it is
/// optional.
#[derive(Clone, Debug, Default)]
#[must_use = "a workbench does nothing until it is given to a command line"]
pub struct Workbench {
    pub(super) manifests: Vec<String>,
    pub(super) examples: Vec<String>,
    pub(super) hints: Vec<String>,
    pub(super) scenario: Option<Scenario>,
    pub(super) judge: Judge,
}

impl Workbench {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies these manifests before the operator starts. If they contain a service account, the operator runs under
    /// it, with the rights that they grant. Leave out the Deployment: `dev` is the operator.
    pub fn manifests(mut self, yaml: impl Into<String>) -> Self {
        self.manifests.push(yaml.into());
        self
    }

    /// Applies these objects once the operator runs.
    pub fn example(mut self, yaml: impl Into<String>) -> Self {
        self.examples.push(yaml.into());
        self
    }

    /// Something to try, as arguments of kubectl: `dev` prints it as a line that can be pasted into a shell.
    pub fn hint(mut self, kubectl: impl Into<String>) -> Self {
        self.hints.push(kubectl.into());
        self
    }

    /// What `dev --once` executes, instead of applying the examples.
    pub fn scenario(mut self, scenario: Scenario) -> Self {
        self.scenario = Some(scenario);
        self
    }

    /// How to tell whether a primary is ready, for kinds whose status follows none of the conventions that
    /// [`Readiness::of`] knows.
    pub fn readiness(mut self, judge: impl Fn(&Value) -> Readiness + Send + Sync + 'static) -> Self {
        self.judge = Judge(Arc::new(judge));
        self
    }

    /// The user's files replace the examples and the scenario: both are about the operator's own examples.
    pub(super) fn with_files(mut self, files: &[PathBuf]) -> Result<Self, Error> {
        if files.is_empty() {
            return Ok(self);
        }
        let read = |path: &PathBuf| {
            std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.clone(), source })
        };
        self.examples = files.iter().map(read).collect::<Result<_, _>>()?;
        self.scenario = None;
        Ok(self)
    }
}
