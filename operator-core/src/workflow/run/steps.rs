//! The work on one node, and the answer that the plan gets.

use std::{future::Future, pin::pin, sync::Arc, task::Poll};

use futures::poll;
use parking_lot::Mutex;
use tracing::Instrument;

use super::{Activity, NodeRecord, Part, Reply, WorkflowRun};
use crate::{
    dependent::{Capabilities, Deletion, OfKind, function::Want},
    environment::fenced_future,
    error::Awaited,
    event_source::Claimant,
    observe::error_chain,
    reconciler::BoxError,
    resource::{ObjectKey, ResourceType},
    results::{
        ConditionKind, Leaving, Panicked, Secondary, Verdict, WantCode, dependent_error::undecided,
        failure_kind::awaited,
    },
    workflow::{
        Cluster, NodeId,
        conditions::{
            condition::{AnyCondition, Asking, all_met},
            is_deleted,
        },
        declare::{any_node::AnyNode, ending::Ending},
        plan::{Checked, Fate, Plan, Reconciled, Removed, Step, Swept},
    },
};

impl WorkflowRun<'_> {
    pub(super) async fn step(&self, step: Step, record: &Mutex<NodeRecord>) -> Reply {
        let node = &self.workflow.nodes[step.node().index()];
        let span = tracing::debug_span!("node", name = node.dependent.name());
        async {
            match step {
                Step::Check(_) => {
                    let checked = self.check(node, true, record).await;
                    Reply::Checked(self.or_failed(record, checked, (Checked::Waiting, Checked::Failed)))
                }
                Step::Judge(_) => Reply::Judged(match self.check(node, false, record).await {
                    // It isn't reconciled in any case, and it can't hold anything: the same as without a gate.
                    Err(error) if !node.may_be_held() && awaited(&*error).is_none() => {
                        tracing::debug!(error = %error_chain(&*error), "could not be evaluated yet");
                        Checked::Run
                    }
                    judged => self.or_failed(record, judged, (Checked::Waiting, Checked::Failed)),
                }),
                Step::Reconcile(_) => {
                    let reconciled = self.reconcile(step.node(), node, record).await;
                    let otherwise = (Reconciled::Waiting, Reconciled::Failed);
                    Reply::Reconciled(self.or_failed(record, reconciled, otherwise))
                }
                Step::Sweep(_) => {
                    let swept = self.sweep(node, record).await;
                    Reply::Swept(self.or_failed(record, swept, (Swept::Kept, Swept::Failed)))
                }
                Step::Delete(_) => {
                    let removed = self.delete(step.node(), node, record).await;
                    Reply::Removed(self.or_failed(record, removed, (Removed::NotYet, Removed::Failed)))
                }
            }
        }
        .instrument(span)
        .await
    }

    /// The answer of a step; if it waits or has failed, the record says so.
    fn or_failed<T>(
        &self,
        record: &Mutex<NodeRecord>,
        answer: Result<T, BoxError>,
        (waits, failed): (T, T),
    ) -> T {
        answer.unwrap_or_else(|error| {
            let Some(Awaited { after, code, reason }) = awaited(&*error).cloned() else {
                record.lock().failed(error);
                return failed;
            };
            self.given.context.remembered().lock().note_again_in(after);
            let mut record = record.lock();
            record.reason.clone_from(&reason);
            let answer = Verdict::not_met(reason).with_detail(WantCode(code));
            record.conditions.insert(ConditionKind::OnlyIf, answer);
            waits
        })
    }

    /// The answer, if nothing more has to be evaluated: most nodes have no conditions.
    pub(super) fn known(&self, step: Step, plan: &Plan<'_>, record: &mut NodeRecord) -> Option<Reply> {
        if !self.takes_part(step.node()) {
            return self.outside(step, record);
        }
        let answer = match step {
            Step::Check(_) => Reply::Checked,
            Step::Judge(_) => Reply::Judged,
            Step::Sweep(_) => {
                let leaves = record.reconciled.as_ref().is_some_and(|result| result.leaves);
                return (!leaves).then_some(Reply::Swept(Swept::Done));
            }
            // What a sibling may still make is read once nothing else can be done.
            Step::Reconcile(node)
                if self.may_come(node, plan) && (!record.was_open || self.is_moving(plan)) =>
            {
                record.was_open = true;
                return Some(Reply::Reconciled(Reconciled::Open));
            }
            Step::Reconcile(_) | Step::Delete(_) => return None,
        };
        let is_start_asked = matches!(step, Step::Check(_)) && !record.starts_when.is_empty();
        if let Some(judged) = record.judged
            && !is_start_asked
        {
            return Some(answer(judged));
        }
        match record.activity {
            Some(Ok(Activity::Inactive)) => {
                record.removes = Some(record.reason.clone());
                Some(answer(Checked::Inactive))
            }
            Some(Ok(Activity::Waiting)) => Some(answer(Checked::Waiting)),
            None | Some(Ok(Activity::Active)) => {
                let node = &self.workflow.nodes[step.node().index()];
                let asks = node.is_wish_asked(matches!(step, Step::Check(_)));
                (!asks && !is_start_asked).then(|| answer(Checked::Run))
            }
            Some(Err(_)) => None,
        }
    }

    /// Checks a node that takes part, or for which this can't be determined.
    async fn check(
        &self,
        node: &AnyNode,
        in_order: bool,
        record: &Mutex<NodeRecord>,
    ) -> Result<Checked, BoxError> {
        record.lock().activity()?;
        let is_known = record.lock().judged.is_some() || !node.is_wish_asked(in_order);
        let wish = async {
            match is_known {
                true => Ok(Want::Is(())),
                false => node.dependent.wish(self.given, in_order).await,
            }
        };
        let (checked, answer) = match self.called(Part::Dependent, record, wish).await? {
            // No condition was set.
            Want::Is(()) if in_order && let Some(wait) = self.start(node, record).await? => wait,
            Want::Is(()) => {
                // What was asked before its turn isn't asked again in its turn.
                if in_order || node.dependent.is_judged_early() {
                    record.lock().judged = Some(Checked::Run);
                }
                return Ok(Checked::Run);
            }
            Want::None(reason) => {
                record.lock().removes = Some(reason.clone());
                (Checked::Remove, Verdict::not_met(reason))
            }
            Want::Hold { code, reason } => {
                (Checked::Hold, Verdict::not_met(reason).with_detail(WantCode(code)))
            }
            Want::Wait { code, reason } => {
                (Checked::Waiting, Verdict::not_met(reason).with_detail(WantCode(code)))
            }
        };
        let mut record = record.lock();
        answer.reason().clone_into(&mut record.reason);
        record.conditions.insert(ConditionKind::OnlyIf, answer);
        Ok(checked)
    }

    /// For what a node waits that hasn't started; `None` if it may start.
    async fn start(
        &self,
        node: &AnyNode,
        record: &Mutex<NodeRecord>,
    ) -> Result<Option<(Checked, Verdict)>, BoxError> {
        let gates = record.lock().starts_when.clone();
        if gates.is_empty() {
            return Ok(None);
        }
        let asked = node.dependent.asks(&gates, self.given);
        let answer = match self.called(Part::Dependent, record, asked).await? {
            Want::Is(()) => return Ok(None),
            Want::None(reason) => Verdict::not_met(reason),
            Want::Hold { code, reason } | Want::Wait { code, reason } => {
                Verdict::not_met(reason).with_detail(WantCode(code))
            }
        };
        record.lock().is_starting = true;
        Ok(Some((Checked::Waiting, answer)))
    }

    /// Removes what is left of a node that was reconciled, and isn't wanted any more.
    async fn sweep(&self, node: &AnyNode, record: &Mutex<NodeRecord>) -> Result<Swept, BoxError> {
        let call = node.dependent.sweep(self.given);
        let removed = self.called(Part::Dependent, record, call).await?;
        let keeps = removed.leaves;
        let mut record = record.lock();
        let all = record.reconciled.get_or_insert_default();
        all.add(removed);
        all.check()?;
        Ok(if keeps { Swept::Kept } else { Swept::Done })
    }

    async fn reconcile(
        &self,
        id: NodeId,
        node: &AnyNode,
        record: &Mutex<NodeRecord>,
    ) -> Result<Reconciled, BoxError> {
        let call = node.dependent.attempt(self.given);
        let reconciled = match self.called(Part::Dependent, record, call).await {
            Ok(reconciled) => reconciled,
            Err(error) => return unless_undecided(record, error),
        };
        let (nothing, complete) = (reconciled.operations().is_empty(), reconciled.check());
        let is_unknown = reconciled.is_unknown;
        let halted = reconciled.progress().filter(|progress| !progress.is_whole);
        let halted = halted.map(|progress| progress.told.clone());
        let lacking = reconciled.lacking().cloned();
        let going = reconciled.going().filter(|_| node.dependent.capabilities().can_write());
        record.lock().reconciled = Some(reconciled);
        if let Err(error) = complete {
            return unless_undecided(record, error.into());
        }
        if let Some(going) = going {
            record.lock().reason = format!("{going} is being deleted, and is made anew when it is gone");
            return Ok(Reconciled::Waiting);
        }
        if is_unknown || nothing && node.has_to_be_found() {
            let (what, who) = lacking.unwrap_or_else(|| ("nothing found".to_owned(), String::new()));
            let behind = self.workflow.graph.transitive_dependents_of(id);
            let key = self.key_of(id);
            let waiting = self.makers(id).find(|(maker, of)| {
                behind.contains(maker) && !is_unknown && self.may_make(*maker, &of.kind, key.as_ref())
            });
            let who = waiting.map_or(who, |(maker, of)| {
                let maker = self.workflow.graph.name(maker);
                format!("{maker} makes {}s and waits for {}", of.kind.kind(), node.name())
            });
            record.lock().reason = if who.is_empty() { what } else { format!("{what}; {who}") };
            return Ok(Reconciled::NotReady);
        }
        if let Some(progress) = halted {
            let mut record = record.lock();
            record.reason.clone_from(&progress.message);
            let answer = Verdict::not_met(progress.message.clone()).with_detail(progress);
            record.conditions.insert(ConditionKind::Ready, answer);
            return Ok(Reconciled::NotReady);
        }
        let ready = self.ask(ConditionKind::Ready, node, &node.ready, record).await?;
        Ok(if ready { Reconciled::Ready } else { Reconciled::NotReady })
    }

    /// Whether a sibling that doesn't come after this node, which only reads, may still make what the node reads.
    fn may_come(&self, id: NodeId, plan: &Plan<'_>) -> bool {
        let mut open =
            self.makers(id).filter(|(maker, _)| plan.fate(*maker) == Fate::Pending && !plan.is_out(*maker));
        let Some(first) = open.next() else { return false };
        let behind = self.workflow.graph.transitive_dependents_of(id);
        let key = self.key_of(id);
        let mut all = std::iter::once(first).chain(open);
        all.any(|(maker, of)| !behind.contains(&maker) && self.may_make(maker, &of.kind, key.as_ref()))
    }

    /// The only object that the node reads, if that can be said now.
    fn key_of(&self, reader: NodeId) -> Option<ObjectKey> {
        self.workflow.nodes[reader.index()].dependent.reads(self.given)
    }

    fn may_make(&self, maker: NodeId, kind: &ResourceType, key: Option<&ObjectKey>) -> bool {
        let maker = &self.workflow.nodes[maker.index()].dependent;
        key.is_none_or(|key| maker.wants(kind, key, self.given) != Some(false))
    }

    /// Whether a step is under way that isn't a read that waits for others.
    fn is_moving(&self, plan: &Plan<'_>) -> bool {
        self.workflow.graph.nodes().any(|node| plan.is_asked(node) && !self.may_come(node, plan))
    }

    /// The nodes that make objects of the kind that this node only reads; none if it doesn't.
    fn makers(&self, id: NodeId) -> impl Iterator<Item = (NodeId, &OfKind)> {
        let declared = |id: NodeId| self.workflow.nodes[id.index()].dependent.declaration();
        let reads = declared(id).capabilities == Capabilities::READ_ONLY;
        let read = declared(id).objects.as_ref().filter(|_| reads);
        read.into_iter().flat_map(move |read| {
            self.workflow.graph.nodes().filter(move |node| *node != id && self.takes_part(*node)).filter_map(
                move |node| {
                    let of = declared(node);
                    let makes = of.capabilities.creates && of.outside.is_none();
                    let made =
                        of.objects.as_ref().filter(|made| makes && made.kind.is_kind_of(&read.kind))?;
                    Some((node, made))
                },
            )
        })
    }

    async fn delete(
        &self,
        id: NodeId,
        node: &AnyNode,
        record: &Mutex<NodeRecord>,
    ) -> Result<Removed, BoxError> {
        let deletes = self.deletes(id);
        if !deletes {
            record.lock().left = Some(match node.dependent.capabilities().garbage_collected {
                true => "to the garbage collector",
                false => "as it is: its dependent doesn't delete it",
            });
            // In that case nothing needs to know what exists.
            if self.cleans_up && node.terms.deleted.is_empty() {
                return Ok(Removed::Gone);
            }
        }
        match record.lock().activity()? {
            Activity::Active => {}
            Activity::Inactive => return Ok(Removed::Inactive),
            Activity::Waiting => return Ok(Removed::NotYet),
        }
        if deletes {
            let call = node.dependent.remove(self.given);
            let deleted = self.called(Part::Dependent, record, call).await?;
            record.lock().deleted = Some(deleted.found);
            if let Some(kept) = deleted.kept {
                record.lock().reason = kept;
                return Ok(Removed::NotYet);
            }
            let ending = self.workflow.endings[id.index()];
            if deleted.deletion == Deletion::Asked && !self.is_over(node, ending, record).await? {
                return Ok(Removed::NotYet);
            }
        }
        let gone = self.ask(ConditionKind::Gone, node, &node.terms.deleted, record).await?;
        if gone {
            let forget = |leaving: &mut Leaving| leaving.forget(node.dependent.name());
            self.given.context.scope().look(forget);
        }
        Ok(if gone { Removed::Gone } else { Removed::NotYet })
    }

    /// Whether a requested deletion counts as done; if not, the record says why.
    async fn is_over(
        &self,
        node: &AnyNode,
        ending: Ending,
        record: &Mutex<NodeRecord>,
    ) -> Result<bool, BoxError> {
        if node.dependent.is_outside() {
            "the deletion was requested, and takes its time".clone_into(&mut record.lock().reason);
            return Ok(false);
        }
        // The cluster deletes it sooner or later. Only the end of a primary waits for that without a setting.
        if !self.cleans_up || !node.terms.deleted.is_empty() || ending != (Ending::Deleted { awaited: true })
        {
            return Ok(true);
        }
        let answer = is_deleted(&node.dependent, self.given).await?;
        answer.reason().clone_into(&mut record.lock().reason);
        Ok(answer.is_met())
    }

    /// Whether the dependent is called to delete an object that should not exist.
    fn deletes(&self, id: NodeId) -> bool {
        // While a primary stays, nothing else deletes unwanted objects.
        match self.cleans_up {
            true => self.workflow.endings[id.index()].is_deleted(),
            false => self.workflow.nodes[id.index()].dependent.capabilities().deletes,
        }
    }

    /// Whether to determine if the node takes part. If a clean-up has nothing to do about it, nothing depends on the
    /// answer, and its event sources aren't needed any more.
    pub(super) fn asks_activation(&self, id: NodeId) -> bool {
        let node = &self.workflow.nodes[id.index()];
        if node.terms.activations.is_empty() {
            return false;
        }
        let needed = !self.cleans_up || self.deletes(id) || !node.terms.deleted.is_empty();
        if !needed {
            self.release(id, node);
        }
        needed
    }

    /// Evaluates the condition `needs`, and starts or stops the node's event sources accordingly.
    pub(super) async fn activate(
        &self,
        id: NodeId,
        record: &Mutex<NodeRecord>,
    ) -> Result<Activity, BoxError> {
        let node = &self.workflow.nodes[id.index()];
        let (asked, cluster) = (ConditionKind::Needs, Cluster::of(self.given.context));
        let checks = all_met(node.terms.activations.iter().map(|one| one.check(&cluster)));
        let answer = self.called(Part::Condition(asked), record, checks).await?;
        record.lock().conditions.insert(asked, answer.clone());
        // Nobody else deletes its records at the end of the primary.
        let is_last_chance = self.cleans_up && node.dependent.is_outside();
        if !answer.is_met() && !is_last_chance {
            answer.reason().clone_into(&mut record.lock().reason);
            self.release(id, node);
            return Ok(Activity::Inactive);
        }
        let (sources, scope) =
            (self.given.context.shared().sources.conditional(), self.given.context.scope());
        // All of them, so that they are listed at the same time.
        let waits = node.sources.iter().fold(None, |waits, source| {
            let claimed = sources.claim(source, scope, self.claimant(id));
            waits.or(claimed.err())
        });
        let Some(reason) = waits else { return Ok(Activity::Active) };
        record.lock().reason = reason;
        Ok(Activity::Waiting)
    }

    fn release(&self, id: NodeId, node: &AnyNode) {
        for source in &node.sources {
            let sources = self.given.context.shared().sources.conditional();
            sources.release(source, self.given.context.scope(), self.claimant(id));
        }
    }

    fn claimant(&self, id: NodeId) -> Claimant {
        Claimant { workflow: self.workflow.id, node: id.index() }
    }

    /// Whether these conditions are met. Evaluated once in a run.
    async fn ask(
        &self,
        kind: ConditionKind,
        node: &AnyNode,
        conditions: &[Arc<dyn AnyCondition>],
        record: &Mutex<NodeRecord>,
    ) -> Result<bool, BoxError> {
        if conditions.is_empty() {
            return Ok(true);
        }
        // Cheap to clone, and neither stays locked while user code is called.
        let (known, reconciled) = {
            let record = record.lock();
            (record.conditions.get(&kind).cloned(), record.reconciled.clone())
        };
        let answer = match known {
            Some(answer) => answer,
            None => {
                let note = |read: &[Secondary]| record.lock().read(read);
                let asking = Asking {
                    dependent: &node.dependent,
                    reconciled: reconciled.as_ref(),
                    may_lack: node.may_lack(),
                    given: self.given,
                    note: &note,
                };
                let checks = all_met(conditions.iter().map(|one| one.check(asking)));
                let answer = self.called(Part::Condition(kind), record, checks).await?;
                record.lock().conditions.insert(kind, answer.clone());
                answer
            }
        };
        if !answer.is_met() {
            answer.reason().clone_into(&mut record.lock().reason);
        }
        if let Some(delay) = answer.asked_again_in() {
            self.given.context.remembered().lock().note_again_in(delay);
        }
        Ok(answer.is_met())
    }

    /// Calls a part of user code: the record says so while the call waits, and a panic is an error.
    async fn called<T>(
        &self,
        part: Part,
        record: &Mutex<NodeRecord>,
        call: impl Future<Output = Result<T, BoxError>>,
    ) -> Result<T, BoxError> {
        let mut call = pin!(fenced_future(call));
        let answer = match poll!(&mut call) {
            Poll::Ready(answer) => answer,
            // A run is dropped while it waits, and only then somebody asks what it waits for.
            Poll::Pending => {
                record.lock().under_way = Some((part, self.now()));
                let answer = call.await;
                record.lock().under_way = None;
                answer
            }
        };
        answer.unwrap_or_else(|payload| Err(Panicked::new(&part, &*payload).into()))
    }
}

/// The answer of a node that failed. If it lacks the word of another node, it is asked once more, and then waits.
fn unless_undecided(record: &Mutex<NodeRecord>, error: BoxError) -> Result<Reconciled, BoxError> {
    let Some(reason) = undecided(&*error) else { return Err(error) };
    let mut record = record.lock();
    record.reason = reason;
    Ok(if std::mem::replace(&mut record.was_open, true) { Reconciled::Waiting } else { Reconciled::Open })
}
