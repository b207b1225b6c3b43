//! When a schedule has settled, and what has to hold then.

use std::time::Duration;

use tokio::time::timeout;

use super::{
    Oracle,
    cluster::Readiness,
    objects::{Objects, named},
    oracles::same_state,
    state::ClusterState,
    sweep::GaveUp,
    world::World,
};

/// How long an operator may take to become quiet, and its cluster to be as without faults, once nothing goes wrong any
/// more: a silent watch may hide an event for two minutes, and a delay after a failure of the server takes up to five
/// in users' own policies.
const CALM_WITHIN: Duration = Duration::from_secs(6 * 60);

/// The time until the next check.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// The maximum time for which bad luck goes on after the users' last action.
pub(super) const UNDER_BAD_LUCK: Duration = Duration::from_secs(120);

/// How long users and their scripts may take.
const SCRIPTS_END_WITHIN: Duration = Duration::from_secs(6 * 60 * 60);

impl World {
    /// Waits for the users, ends the faults and waits until the operator is quiet.
    pub(super) async fn settle(&self) {
        let scripts = std::mem::take(&mut *self.scripts.borrow_mut());
        let within = self.scripts_end_within(SCRIPTS_END_WITHIN);
        for script in scripts {
            match timeout(within, script).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) if error.is_panic() => {
                    let panic = error.into_panic();
                    if !panic.is::<GaveUp>() {
                        std::panic::resume_unwind(panic);
                    }
                }
                Ok(Err(_)) => self.violated(Oracle::Test, "a user's script was cancelled"),
                Err(_) => {
                    self.cluster.is_unfit.set(true);
                    self.violated(Oracle::Test, "a user's script doesn't end");
                }
            }
        }
        // Bad luck has its chance until the operator has coped with it, or has tried for long enough.
        drop(self.quiet(UNDER_BAD_LUCK).await);
        let at = self.states.borrow().len();
        self.luck_takes_its_course().await;
        self.faults.off();
        self.end_luck();
        self.others.borrow().iter().for_each(|calm| calm());
        self.record.tell("from here on nothing goes wrong");
        self.rollouts_fail().await;
        let (state, objects) = self.until_same(|state| self.differs(at, state)).await;
        self.judge(at, &objects);
        self.states.borrow_mut().push(state);
    }

    /// Waits until the operator is quiet and nothing differs any more, or has had enough time for that.
    pub(super) async fn until_same(
        &self,
        differs: impl Fn(&ClusterState) -> bool,
    ) -> (ClusterState, Objects) {
        let calm_by = self.record.now() + CALM_WITHIN;
        loop {
            let within = calm_by.saturating_sub(self.record.now());
            if let Err(busy) = self.quiet(within).await {
                self.cluster.is_unfit.set(true);
                self.violated(Oracle::SameState, format!("the operator doesn't become quiet: {busy}"));
            }
            let objects = self.objects().await;
            let state = self.state_of(&objects);
            if self.record.now() >= calm_by || !differs(&state) {
                return (state, objects);
            }
            // A watch that has fallen silent isn't noticed at once.
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// What has to hold whenever a schedule has settled.
    fn judge(&self, at: usize, objects: &Objects) {
        for name in objects.behind() {
            self.record.complaints.complain(format_args!("the status of {name} is about another generation"));
        }
        for invariant in &*self.invariants.borrow() {
            if let Err(wrong) = invariant(objects) {
                let message = format!("after settling ({}): {wrong}", at + 1);
                self.violated(Oracle::Test, message);
            }
        }
    }

    fn differs(&self, at: usize, state: &ClusterState) -> bool {
        let calm = self.calm.as_ref().and_then(|calm| calm.states.get(at));
        calm.is_some_and(|calm| !state.differences(calm).is_empty())
    }

    pub(super) async fn objects(&self) -> Objects {
        let written = self.record.with_calls(Objects::written);
        match Objects::read(&self.client, written).await {
            Ok(objects) => objects,
            Err(error) => {
                self.violated(Oracle::Test, format!("the state can't be read: {error}"));
                Objects::default()
            }
        }
    }

    /// An object that a user has made is the one that this user has seen; any other one is the same as when it settled
    /// last.
    pub(super) fn state_of(&self, objects: &Objects) -> ClusterState {
        let states = self.states.borrow();
        let mut known = states.last().map(|state| state.uids().clone()).unwrap_or_default();
        for (of, namespace, name) in &*self.made.borrow() {
            let namespace = if of.is_namespaced() { namespace } else { "" };
            known.remove(&named(of.plural(), namespace, name));
        }
        known.extend(self.seen.borrow().clone());
        let mut state = ClusterState::of(objects, &self.made_up.borrow(), &known);
        if self.cluster.readiness == Readiness::NeverComes {
            state.forget_counts();
        }
        self.storm.sweep.allow_for_the_act(&mut state);
        state
    }

    /// SameState, at the last place at which the schedule has settled.
    pub(super) fn compare_last_state(&self) {
        let states = self.states.borrow();
        let Some(at) = states.len().checked_sub(1) else {
            return self.violated(Oracle::Test, "it was never settled");
        };
        let Some(calm) = &self.calm else { return };
        match calm.states.get(at) {
            Some(calm) => {
                let violation = same_state(&format!("after settling ({})", at + 1), &states[at], calm);
                violation
                    .into_iter()
                    .for_each(|violation| self.violated(violation.oracle, violation.message));
            }
            None => self.violated(Oracle::Test, "the calm run was settled less often"),
        }
    }
}
