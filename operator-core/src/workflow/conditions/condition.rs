//! Conditions as the engine sees them. How they are declared is in [`wired`](crate::workflow::declare).

use futures::future::BoxFuture;

use crate::{
    dependent::AnyDependent,
    reconciler::{AnyGiven, BoxError},
    results::{ReconcileResult, Secondary, Verdict},
};

/// The result of evaluating a condition.
pub(in crate::workflow) type Answer = Result<Verdict, BoxError>;

/// The node that a condition is evaluated for, of a primary of any type.
#[derive(Clone, Copy)]
pub(in crate::workflow) struct Asking<'r> {
    pub(in crate::workflow) dependent: &'r AnyDependent,
    /// What its dependent did in this run; `None` for conditions that are evaluated before that, and if it failed.
    pub(in crate::workflow) reconciled: Option<&'r ReconcileResult>,
    /// Whether it is ready even if there is nothing.
    pub(in crate::workflow) may_lack: bool,
    pub(in crate::workflow) given: AnyGiven<'r>,
    /// Notes a state that was read of the node.
    pub(in crate::workflow) note: &'r (dyn Fn(&[Secondary]) + Send + Sync),
}

impl Asking<'_> {
    /// The existing resources of the node. The run reports nothing older than what its condition has judged.
    pub(in crate::workflow) async fn secondaries(&self) -> Result<Vec<Secondary>, BoxError> {
        let read = self.dependent.secondaries(self.given).await?;
        (self.note)(&read);
        Ok(read)
    }
}

/// A condition, without its type.
pub(in crate::workflow) trait AnyCondition: Send + Sync {
    fn check<'r>(&'r self, asking: Asking<'r>) -> BoxFuture<'r, Answer>;
}

/// The answer of these conditions together, which are evaluated one after the other: the first that isn't met says why.
pub(in crate::workflow) async fn all_met<'r>(checks: impl Iterator<Item = BoxFuture<'r, Answer>>) -> Answer {
    let mut answer = Verdict::met();
    for check in checks {
        answer = check.await?;
        if !answer.is_met() {
            break;
        }
    }
    Ok(answer)
}
