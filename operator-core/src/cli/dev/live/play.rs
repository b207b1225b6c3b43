//! How a scenario is executed.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    Error, Readiness, Scenario, Step, Target, feed::human, ready::Judge, stage::Stage, step::Wanted,
};
use crate::{cli::output::Mark, testing};

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

impl Scenario {
    pub(super) async fn play(&self, stage: &Stage, deadline: Instant) -> Result<(), Error> {
        let Stage { environment, feed, output, .. } = stage;
        for step in &self.steps {
            let started = environment.now();
            let result = step.play(stage, deadline).await;
            let took = human(environment.now().since(started));
            let name = &*step.name;
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

impl Step {
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
