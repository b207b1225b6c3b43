//! What is done about one node, and what the plan is told about it.

use std::{future::Future, panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use tracing::Instrument;

use super::{Answer, Record, Run};
use crate::{
    dependent::Deletion,
    event_source::Claimant,
    observe::error_chain,
    reconciler::{
        BoxError,
        workflow::{ConditionKind, Panicked},
    },
    resource::KubeObject,
    workflow::{
        Condition, Gate, Node, NodeId, NodeView,
        condition::AnyCondition,
        conditions::ResourceDeleted,
        ending::Ending,
        plan::{Checked, Reconciled, Removed, Step},
    },
};

/// Whether a node takes part for this primary.
enum Activity {
    Active,
    Inactive,
    /// Its event source has not seen everything yet; the primary is woken when it has.
    Waiting,
}

impl<P: KubeObject> Run<'_, P> {
    pub(super) async fn step(&self, step: Step, mut record: Record) -> (NodeId, Record, Answer) {
        let id = step.node();
        let node = &self.workflow.nodes[id.index()];
        let span = tracing::debug_span!("node", name = node.dependent.name());
        let answer = async {
            match step {
                Step::Check(_) => Answer::Checked(match self.check(id, node, &mut record).await {
                    Ok(checked) => checked,
                    Err(error) => {
                        record.failed(error);
                        Checked::Failed
                    }
                }),
                Step::Judge(_) => Answer::Judged(match self.check(id, node, &mut record).await {
                    Ok(judged) => judged,
                    // It isn't reconciled in any case, and it can't hold anything: as good as without a gate.
                    Err(error) if !node.may_be_held() => {
                        tracing::debug!(error = %error_chain(&*error), "could not be asked yet");
                        Checked::Run
                    }
                    Err(error) => {
                        record.failed(error);
                        Checked::Failed
                    }
                }),
                Step::Reconcile(_) => Answer::Reconciled(match self.reconcile(node, &mut record).await {
                    Ok(reconciled) => reconciled,
                    Err(error) => {
                        record.failed(error);
                        Reconciled::Failed
                    }
                }),
                Step::Delete(_) => Answer::Removed(match self.delete(id, node, &mut record).await {
                    Ok(removed) => removed,
                    Err(error) => {
                        record.failed(error);
                        Removed::Failed
                    }
                }),
            }
        }
        .instrument(span)
        .await;
        (id, record, answer)
    }

    async fn check(&self, id: NodeId, node: &Node<P>, record: &mut Record) -> Result<Checked, BoxError> {
        match self.activity(id, node, record).await? {
            Activity::Active => {}
            Activity::Inactive => return Ok(Checked::Inactive),
            Activity::Waiting => return Ok(Checked::Waiting),
        }
        let Some(precondition) = &node.precondition else { return Ok(Checked::Run) };
        let view = view(node);
        let asked = ConditionKind::ReconcilePrecondition;
        let (gate, answer) = guarded(asked, precondition.decide(&view, self.primary, self.context)).await?;
        let (checked, reason) = match gate {
            Gate::Run => (Checked::Run, String::new()),
            Gate::Hold(reason) => (Checked::Hold, reason),
            Gate::Remove(reason) => (Checked::Remove, reason),
        };
        record.conditions.insert(asked, answer);
        record.reason = reason;
        Ok(checked)
    }

    async fn reconcile(&self, node: &Node<P>, record: &mut Record) -> Result<Reconciled, BoxError> {
        let reconciled = {
            let _permit = self.permit().await;
            guarded("dependent", node.dependent.reconcile(self.primary, self.context)).await?
        };
        let nothing = reconciled.operations().is_empty();
        record.reconciled = Some(reconciled);
        if nothing && node.has_to_be_found() {
            "not found".clone_into(&mut record.reason);
            return Ok(Reconciled::NotReady);
        }
        let ready = self.ask(ConditionKind::ReadyPostcondition, node, node.ready.as_ref(), record).await?;
        Ok(if ready { Reconciled::Ready } else { Reconciled::NotReady })
    }

    async fn delete(&self, id: NodeId, node: &Node<P>, record: &mut Record) -> Result<Removed, BoxError> {
        let (capabilities, ending) = (node.dependent.capabilities(), self.workflow.endings[id.index()]);
        // A primary that stays has nobody who collects what is not wanted any more.
        let deletes = if self.cleans_up { ending.is_deleted() } else { capabilities.can_delete() };
        if !deletes {
            record.left = Some(match capabilities.is_garbage_collected() {
                true => "to the garbage collector",
                false => "as it is: it is not deleted by its dependent",
            });
            // Then nobody has to know what there is.
            if self.cleans_up && node.deleted.is_none() {
                return Ok(Removed::Gone);
            }
        }
        match self.activity(id, node, record).await? {
            Activity::Active => {}
            Activity::Inactive => return Ok(Removed::Inactive),
            Activity::Waiting => return Ok(Removed::NotYet),
        }
        if deletes {
            let deletion = {
                let _permit = self.permit().await;
                guarded("dependent", node.dependent.delete(self.primary, self.context)).await?
            };
            if deletion == Deletion::Asked && !self.is_over(node, ending, record).await? {
                return Ok(Removed::NotYet);
            }
        }
        let gone = self.ask(ConditionKind::DeletePostcondition, node, node.deleted.as_ref(), record).await?;
        Ok(if gone { Removed::Gone } else { Removed::NotYet })
    }

    /// Whether a deletion that was asked for counts as done; otherwise the record says why not.
    async fn is_over(&self, node: &Node<P>, ending: Ending, record: &mut Record) -> Result<bool, BoxError> {
        if node.dependent.is_outside() {
            "the deletion was asked for, and takes its time".clone_into(&mut record.reason);
            return Ok(false);
        }
        // The cluster deletes it sooner or later. Only the end of a primary waits for that without being told to.
        if !self.cleans_up || node.deleted.is_some() || ending != (Ending::Deleted { awaited: true }) {
            return Ok(true);
        }
        let answer = Condition::check(&ResourceDeleted, &view(node), self.primary, self.context).await?;
        answer.reason().clone_into(&mut record.reason);
        Ok(answer.is_met())
    }

    /// Asks the activation condition, and has the node's event sources run or not, as it says.
    async fn activity(&self, id: NodeId, node: &Node<P>, record: &mut Record) -> Result<Activity, BoxError> {
        if node.activation.is_none() {
            return Ok(Activity::Active);
        }
        let active = self.ask(ConditionKind::Activation, node, node.activation.as_ref(), record).await?;
        let (sources, primary) = (self.context.shared().sources.conditional(), self.context.primary_key());
        let claimant = Claimant { workflow: self.workflow.id, node: id.index() };
        let mut waits = None;
        for source in &node.sources {
            if active {
                let exists = || self.context.primary().is_some();
                // All of them, so that they are listed at the same time.
                waits = waits.or(sources.claim(source, primary, claimant, exists).err());
            } else {
                sources.release(source, primary, claimant);
            }
        }
        Ok(match waits {
            Some(reason) => {
                record.reason = reason;
                Activity::Waiting
            }
            None if active => Activity::Active,
            None => Activity::Inactive,
        })
    }

    /// Whether a condition is met; one that there isn't is. It is asked once in a run.
    async fn ask(
        &self,
        kind: ConditionKind,
        node: &Node<P>,
        condition: Option<&Arc<dyn AnyCondition<P>>>,
        record: &mut Record,
    ) -> Result<bool, BoxError> {
        let Some(condition) = condition else { return Ok(true) };
        let answer = match record.conditions.get(&kind) {
            Some(answer) => answer.clone(),
            None => {
                let view = view(node);
                let answer = guarded(kind, condition.check(&view, self.primary, self.context)).await?;
                record.conditions.insert(kind, answer.clone());
                answer
            }
        };
        if !answer.is_met() {
            answer.reason().clone_into(&mut record.reason);
        }
        Ok(answer.is_met())
    }

    /// The right to call a dependent; there are so many for all runs of the operator. It is never closed.
    async fn permit(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        self.context.shared().workflows.dependents.acquire().await.ok()
    }
}

fn view<P: KubeObject>(node: &Node<P>) -> NodeView<'_, P> {
    NodeView { name: node.dependent.name(), dependent: &node.dependent }
}

/// A panic as an error; `what` is the part that panicked.
async fn guarded<T>(
    what: impl std::fmt::Display,
    call: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, BoxError> {
    match AssertUnwindSafe(call).catch_unwind().await {
        Ok(answer) => answer,
        Err(payload) => Err(Panicked::new(&what, &*payload).into()),
    }
}
