//! What is done about one node, and what the plan is told about it.

use std::{fmt, future::Future, panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use tracing::Instrument;

use super::{Activity, Answer, Record, Run};
use crate::{
    event_source::Claimant,
    reconciler::{
        BoxError,
        workflow::{ConditionKind, Panicked, ReconcileResult},
    },
    resource::KubeObject,
    workflow::{
        Cluster, Gate, Node, NodeId, NodeView,
        condition::AnyCondition,
        plan::{Checked, Reconciled, Removed, Step},
    },
};

impl<P: KubeObject> Run<'_, P> {
    pub(super) async fn step(&self, step: Step, record: &mut Record) -> Answer {
        let node = &self.workflow.nodes[step.node().index()];
        let span = tracing::debug_span!("node", name = node.dependent.name());
        async {
            match step {
                Step::Check(_) => Answer::Checked(match self.check(node, record).await {
                    Ok(checked) => checked,
                    Err(error) => {
                        record.failed(error);
                        Checked::Failed
                    }
                }),
                Step::Reconcile(_) => Answer::Reconciled(match self.reconcile(node, record).await {
                    Ok(reconciled) => reconciled,
                    Err(error) => {
                        record.failed(error);
                        Reconciled::Failed
                    }
                }),
                Step::Delete(_) => Answer::Removed(match self.delete(node, record).await {
                    Ok(removed) => removed,
                    Err(error) => {
                        record.failed(error);
                        Removed::Failed
                    }
                }),
            }
        }
        .instrument(span)
        .await
    }

    /// The answer to a check for which nothing has to be asked any more: most nodes have no conditions.
    pub(super) fn known(&self, step: Step, record: &mut Record) -> Option<Checked> {
        let Step::Check(id) = step else { return None };
        match record.activity {
            Some(Ok(Activity::Inactive)) => {
                record.removes = Some(record.reason.clone());
                Some(Checked::Inactive)
            }
            Some(Ok(Activity::Waiting)) => Some(Checked::Waiting),
            None | Some(Ok(Activity::Active)) => {
                self.workflow.nodes[id.index()].precondition.is_none().then_some(Checked::Run)
            }
            Some(Err(_)) => None,
        }
    }

    /// Asks a node that takes part, or of which that can't be told.
    async fn check(&self, node: &Node<P>, record: &mut Record) -> Result<Checked, BoxError> {
        record.activity()?;
        let Some(precondition) = &node.precondition else { return Ok(Checked::Run) };
        let view = view(node, None);
        let asked = ConditionKind::ReconcilePrecondition;
        let decision = precondition.decide(&view, self.primary, self.context);
        let (gate, answer) = self.called(asked, record, decision).await?;
        let (checked, reason) = match gate {
            Gate::Run => (Checked::Run, String::new()),
            Gate::Hold(reason) => (Checked::Hold, reason),
            Gate::Remove(reason) => {
                record.removes = Some(reason.clone());
                (Checked::Remove, reason)
            }
        };
        record.conditions.insert(asked, answer);
        record.reason = reason;
        Ok(checked)
    }

    async fn reconcile(&self, node: &Node<P>, record: &mut Record) -> Result<Reconciled, BoxError> {
        let call = node.dependent.attempt(self.primary, self.context);
        let reconciled = self.called("dependent", record, call).await?;
        let complete = reconciled.check();
        record.reconciled = Some(reconciled);
        complete?;
        let ready = self.ask(ConditionKind::ReadyPostcondition, node, node.ready.as_ref(), record).await?;
        Ok(if ready { Reconciled::Ready } else { Reconciled::NotReady })
    }

    async fn delete(&self, node: &Node<P>, record: &mut Record) -> Result<Removed, BoxError> {
        match record.activity()? {
            Activity::Active => {}
            Activity::Inactive => return Ok(Removed::Inactive),
            Activity::Waiting => return Ok(Removed::NotYet),
        }
        let capabilities = node.dependent.capabilities();
        if self.deletes(node) {
            let call = node.dependent.remove(self.primary, self.context);
            record.deleted = Some(self.called("dependent", record, call).await?);
        } else if capabilities.is_garbage_collected() {
            record.left = Some("to the garbage collector");
        } else {
            record.left = Some("as it is: it is not deleted by its dependent");
        }
        let gone = self.ask(ConditionKind::DeletePostcondition, node, node.deleted.as_ref(), record).await?;
        Ok(if gone { Removed::Gone } else { Removed::NotYet })
    }

    /// Whether the dependent is called to delete what is not to be there.
    fn deletes(&self, node: &Node<P>) -> bool {
        let capabilities = node.dependent.capabilities();
        // A primary that stays has nobody who collects what is not wanted any more.
        if self.cleans_up { capabilities.needs_cleanup() } else { capabilities.can_delete() }
    }

    /// Whether it is asked if the node takes part. Where a clean-up has nothing to do about it, nothing depends on the answer,
    /// and its event sources aren't needed any more.
    pub(super) fn asks_activation(&self, id: NodeId) -> bool {
        let node = &self.workflow.nodes[id.index()];
        if node.activation.is_none() {
            return false;
        }
        let needed = !self.cleans_up || self.deletes(node) || node.deleted.is_some();
        if !needed {
            self.release(id, node);
        }
        needed
    }

    /// Asks the activation condition, and has the node's event sources run or not, as it says.
    pub(super) async fn activate(&self, id: NodeId, record: &mut Record) -> Result<Activity, BoxError> {
        let node = &self.workflow.nodes[id.index()];
        let Some(activation) = &node.activation else { return Ok(Activity::Active) };
        let (asked, cluster) = (ConditionKind::Activation, Cluster::of(self.context));
        let answer = self.called(asked, record, activation.check(&cluster)).await?;
        record.conditions.insert(asked, answer.clone());
        if !answer.is_met() {
            answer.reason().clone_into(&mut record.reason);
            self.release(id, node);
            return Ok(Activity::Inactive);
        }
        let (sources, primary) = (self.context.shared().sources.conditional(), self.context.primary_key());
        let exists = || self.context.primary().is_some();
        // All of them, so that they are listed at the same time.
        let waits = node.sources.iter().fold(None, |waits, source| {
            let claimed = sources.claim(source, primary, self.claimant(id), exists);
            waits.or(claimed.err())
        });
        let Some(reason) = waits else { return Ok(Activity::Active) };
        record.reason = reason;
        Ok(Activity::Waiting)
    }

    fn release(&self, id: NodeId, node: &Node<P>) {
        for source in &node.sources {
            let sources = self.context.shared().sources.conditional();
            sources.release(source, self.context.primary_key(), self.claimant(id));
        }
    }

    fn claimant(&self, id: NodeId) -> Claimant {
        Claimant { workflow: self.workflow.id, node: id.index() }
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
                // Cheap to clone, and the record is written to meanwhile.
                let reconciled = record.reconciled.clone();
                let view = view(node, reconciled.as_ref());
                let check = condition.check(&view, self.primary, self.context);
                let answer = self.called(kind, record, check).await?;
                record.conditions.insert(kind, answer.clone());
                answer
            }
        };
        if !answer.is_met() {
            answer.reason().clone_into(&mut record.reason);
        }
        Ok(answer.is_met())
    }

    /// Calls a part of the user's: the record says so meanwhile, and a panic is an error.
    async fn called<T>(
        &self,
        what: impl fmt::Display,
        record: &mut Record,
        call: impl Future<Output = Result<T, BoxError>>,
    ) -> Result<T, BoxError> {
        record.under_way = Some((what.to_string(), self.now()));
        let answer = AssertUnwindSafe(call).catch_unwind().await;
        record.under_way = None;
        answer.unwrap_or_else(|payload| Err(Panicked::new(&what, &*payload).into()))
    }
}

fn view<'r, P: KubeObject>(node: &'r Node<P>, reconciled: Option<&'r ReconcileResult>) -> NodeView<'r, P> {
    NodeView { name: node.dependent.name(), dependent: &node.dependent, reconciled }
}
