//! One step of a scenario: what to do, and what to wait for.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    ready::{Judge, Readiness},
    stage::Stage,
};
use crate::testing;

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

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum StepError {
    /// The expected condition was not met in time.
    #[error("waited {} s for {target} {wanted}, and saw: {seen}", waited.as_secs())]
    NotSeen {
        /// The object.
        target: Target,
        /// The condition.
        wanted: String,
        /// What was there instead, at the end.
        seen: String,
        /// How long.
        waited: Duration,
    },
    /// Something could not be applied, or its kind isn't served.
    #[error("could not reach the step's objects")]
    Unreachable(#[from] testing::Error),
    /// A request was refused.
    #[error("could not {doing} {target}")]
    Refused {
        /// What was tried.
        doing: &'static str,
        /// With which object.
        target: Target,
        /// The server's words.
        source: Box<kube::Error>,
    },
}

impl StepError {
    pub(super) fn is_timeout(&self) -> bool {
        matches!(self, Self::NotSeen { .. })
    }
}

type Check = Arc<dyn Fn(&Value) -> Result<(), String> + Send + Sync>;

/// What is done.
#[derive(Clone)]
pub(super) enum Action {
    Apply(String),
    Patch(Target, Value),
    Delete(Target),
}

/// What a step waits for.
#[derive(Clone)]
enum Wanted {
    /// As [`Readiness`] says.
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
    name: String,
    actions: Vec<Action>,
    wanted: Vec<(Target, Wanted)>,
    within: Duration,
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
        self.actions.push(Action::Apply(yaml.into()));
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

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) async fn play(&self, stage: &Stage, latest: Instant) -> Result<(), StepError> {
        let mut before = Vec::with_capacity(self.wanted.len());
        for (target, wanted) in &self.wanted {
            let replaced = matches!(wanted, Wanted::Replaced);
            before.push(if replaced { stage.uid(target).await? } else { None });
        }
        for action in &self.actions {
            stage.act(action).await?;
        }
        let started = Instant::now();
        let deadline = (started + self.within).min(latest);
        for ((target, wanted), uid) in self.wanted.iter().zip(before) {
            let mut seen = "nothing yet".to_owned();
            let check = |object: Option<&Value>| wanted.check(object, uid.as_deref(), &stage.judge);
            let wait = stage.wait(target, &check, &mut seen);
            if let Ok(result) = timeout_at(deadline, wait).await {
                result?;
            } else {
                let waited = started.elapsed();
                return Err(StepError::NotSeen {
                    target: target.clone(),
                    wanted: wanted.words(),
                    seen,
                    waited,
                });
            }
        }
        Ok(())
    }
}

impl Wanted {
    fn words(&self) -> String {
        match self {
            Self::Ready => "to be ready".to_owned(),
            Self::Gone => "to be gone".to_owned(),
            Self::Replaced => "to be there again".to_owned(),
            Self::Holds(words, _) => words.clone(),
        }
    }

    fn check(&self, object: Option<&Value>, uid_before: Option<&str>, judge: &Judge) -> Result<(), String> {
        let Some(object) = object else {
            return if matches!(self, Self::Gone) { Ok(()) } else { Err("no such object".to_owned()) };
        };
        match self {
            Self::Ready => match (judge.0)(object) {
                Readiness::Ready => Ok(()),
                Readiness::Waiting(reason) | Readiness::Error(reason) => Err(reason),
                Readiness::Unknown => Err("a status that doesn't tell".to_owned()),
            },
            Self::Gone => Err("it is there".to_owned()),
            Self::Replaced if object.pointer("/metadata/uid").and_then(Value::as_str) == uid_before => {
                Err("the same object as before".to_owned())
            }
            Self::Replaced if object.pointer("/metadata/deletionTimestamp").is_some() => {
                Err("it is being deleted".to_owned())
            }
            Self::Replaced => Ok(()),
            Self::Holds(_, check) => check(object),
        }
    }
}
