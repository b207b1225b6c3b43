//! One step of a scenario: what to do, and what to wait for.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use serde_json::Value;

use super::{Error, fixture::Fixture};

/// How long a step waits by default.
const PATIENCE: Duration = Duration::from_secs(30);

/// An object that a step is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

impl Target {
    /// An object by its `apiVersion`, kind and name; in the namespace that `dev` was given, unless another is set.
    pub fn new(api_version: impl Into<String>, kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self { api_version: api_version.into(), kind: kind.into(), namespace: None, name: name.into() }
    }

    /// The same in another namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

type Check = Arc<dyn Fn(&Value) -> Result<(), String> + Send + Sync>;

/// What is done.
#[derive(Clone)]
pub(super) enum Action {
    Apply(Fixture),
    Patch(Target, Value),
    Delete(Target),
}

/// What a step waits for.
#[derive(Clone)]
pub(super) enum Wanted {
    /// As [`Readiness`](super::Readiness) says.
    Ready,
    Gone,
    /// Another object with the same name replaces the one from before the step.
    Replaced,
    Holds(String, Check),
}

/// One step of a scenario: the actions, then the conditions to wait for, each in the order of the calls.
#[derive(Clone)]
#[must_use = "a step does nothing until it is added to a scenario"]
pub struct Step {
    pub(super) name: String,
    pub(super) actions: Vec<Action>,
    pub(super) wanted: Vec<(Target, Wanted)>,
    pub(super) within: Duration,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Step {
    /// A step that does nothing yet. Its name is printed.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), actions: Vec::new(), wanted: Vec::new(), within: PATIENCE }
    }

    /// Applies the objects of a YAML text.
    pub fn apply(mut self, yaml: impl Into<String>) -> Self {
        self.actions.push(Action::Apply(Fixture::text(yaml)));
        self
    }

    /// Applies the objects of these YAML files, which are read when `dev` starts. A relative path begins in the working
    /// directory.
    pub fn apply_files(mut self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.actions.extend(files.into_iter().map(|file| Action::Apply(Fixture::file(file))));
        self
    }

    /// Changes an object by a merge patch.
    pub fn patch(mut self, target: Target, patch: Value) -> Self {
        self.actions.push(Action::Patch(target, patch));
        self
    }

    /// Deletes an object.
    pub fn delete(mut self, target: Target) -> Self {
        self.actions.push(Action::Delete(target));
        self
    }

    /// Waits until `check` accepts the object. `wanted` describes the condition, for example "has two replicas"; an
    /// error of `check` says what is there instead.
    pub fn until(
        mut self,
        target: Target,
        wanted: impl Into<String>,
        check: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.wanted.push((target, Wanted::Holds(wanted.into(), Arc::new(check))));
        self
    }

    /// Waits until the object is ready, in the same sense as everywhere in `dev`.
    pub fn until_ready(mut self, target: Target) -> Self {
        self.wanted.push((target, Wanted::Ready));
        self
    }

    /// Waits until the object doesn't exist.
    pub fn until_gone(mut self, target: Target) -> Self {
        self.wanted.push((target, Wanted::Gone));
        self
    }

    /// Waits until another object with this name has replaced the one from before the step.
    pub fn until_replaced(mut self, target: Target) -> Self {
        self.wanted.push((target, Wanted::Replaced));
        self
    }

    /// How long the step may wait, all in all; 30 s by default.
    pub fn within(mut self, time: Duration) -> Self {
        self.within = time;
        self
    }

    /// Reads the files.
    pub(super) fn read(&mut self) -> Result<(), Error> {
        let mut fixtures = self.actions.iter_mut().filter_map(|action| match action {
            Action::Apply(fixture) => Some(fixture),
            Action::Patch(..) | Action::Delete(_) => None,
        });
        fixtures.try_for_each(Fixture::read)
    }
}
