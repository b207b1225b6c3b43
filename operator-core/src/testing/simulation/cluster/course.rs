//! What happens to Pods while bad luck lasts, and how long a schedule waits for that.

use std::{cell::Cell, rc::Rc, sync::Arc, time::Duration};

use super::{Kind, LASTS, RESTARTED, Readiness, SOON, Script, time};
use crate::testing::{
    InProcessServer,
    simulation::{oracles::same_state, settle::UNDER_BAD_LUCK, state::ClusterState, world::World},
};

/// How long a schedule waits for late steps.
const STEPS_END_WITHIN: Duration = Duration::from_secs(300);

/// How long it waits for Pods that are ready again.
const SCRIPTS_END_WITHIN: Duration = Duration::from_secs(900);

/// How long no Pod gets ready at most while users act: they may wait for it.
const NEVER: Duration = Duration::from_secs(780);

/// Longer than a Deployment has for a rollout by default: how long it has taken makes no difference then.
const DEADLINE: Duration = Duration::from_secs(660);

/// Begins bad luck with Pods.
fn begin(kind: Kind, server: &InProcessServer) -> &'static str {
    match kind {
        Kind::Crash => {
            server.pods().crash_loop(RESTARTED).ok();
            "cluster: all containers crash from here on"
        }
        _ => {
            server.pods().unready("").ok();
            "cluster: no Pod is ready from here on"
        }
    }
}

impl World {
    /// Something happens to the Pods as soon as one thing was ready, and ends after some time.
    pub(super) fn later(&self, kind: Kind) -> Script {
        let soon = time(&self.choices, "cluster soon", &SOON);
        self.script(Some((kind, soon)), time(&self.choices, "cluster lasts", &LASTS))
    }

    /// Something happens to the Pods from here on, and ends after some time.
    pub(super) fn at_once(&self, kind: Kind) -> Script {
        self.record.tell(begin(kind, &self.server));
        self.script(None, time(&self.choices, "cluster lasts", &LASTS))
    }

    /// Pods get ready before the bad luck ends if users take very long.
    pub(super) fn unless_somebody_waits(&self) -> Script {
        self.script(None, NEVER)
    }

    fn script(&self, begins: Option<(Kind, Duration)>, lasts: Duration) -> Script {
        let (server, record) = (self.server.clone(), Arc::clone(&self.record));
        let ready = Arc::clone(&self.cluster.became_ready);
        let has_begun = Rc::new(Cell::new(begins.is_none()));
        let begun = Rc::clone(&has_begun);
        let task = tokio::task::spawn_local(async move {
            if let Some((kind, soon)) = begins {
                ready.notified().await;
                begun.set(true);
                tokio::time::sleep(soon).await;
                record.tell(begin(kind, &server));
            }
            tokio::time::sleep(lasts).await;
            record.tell("cluster: from here on Pods are ready again");
            server.pods().release("").ok();
        });
        Script { has_begun, task }
    }

    /// Users are done, and the operator has been quiet: waits until late steps are taken and what happens to Pods has
    /// happened, while everything else goes on to go wrong.
    pub(in crate::testing::simulation) async fn luck_takes_its_course(&self) {
        let kind = self.cluster.luck.borrow().as_ref().map(|luck| luck.kind);
        let waits = match kind {
            _ if self.goes_for_good_now() => {
                self.readiness_goes().await;
                true
            }
            Some(Kind::Slow | Kind::Late) => {
                self.until(STEPS_END_WITHIN, || self.server.steps_left() == 0).await
            }
            Some(Kind::Goes | Kind::Crash) => {
                self.until(SCRIPTS_END_WITHIN, || {
                    let luck = self.cluster.luck.borrow();
                    let script = luck.as_ref().and_then(|luck| luck.script.as_ref());
                    script.is_none_or(|script| !script.has_begun.get() || script.task.is_finished())
                })
                .await
            }
            Some(Kind::Never) if !self.cluster.is_for_good.get() => {
                tokio::time::sleep(time(&self.choices, "cluster lasts", &LASTS)).await;
                true
            }
            _ => false,
        };
        if waits {
            drop(self.quiet(UNDER_BAD_LUCK).await);
        }
    }

    /// Waits; returns whether there was something to wait for.
    async fn until(&self, within: Duration, is_over: impl Fn() -> bool) -> bool {
        let end = self.record.now() + within;
        let mut pause = Duration::from_millis(100);
        let waits = !is_over();
        while !is_over() && self.record.now() < end {
            tokio::time::sleep(pause).await;
            pause = (pause * 3 / 2).min(Duration::from_secs(10));
        }
        waits
    }

    fn goes_for_good_now(&self) -> bool {
        let cluster = &self.cluster;
        let is_drawn =
            self.is_calm() || cluster.luck.borrow().as_ref().is_some_and(|luck| luck.kind == Kind::Goes);
        cluster.readiness == Readiness::GoesForGood
            && is_drawn
            && cluster.storms.get()
            && !cluster.is_for_good.get()
            && !cluster.is_farewell.get()
    }

    /// Readiness goes when all is as it is without bad luck, and doesn't come back.
    async fn readiness_goes(&self) {
        if self.is_calm() {
            let state = self.state_of(&self.objects().await);
            *self.cluster.before.borrow_mut() = Some(state);
        } else if self.differs_from_before(&self.state_of(&self.objects().await)) {
            // What is to be done is done first: the end of a rollout depends on whether it has begun before.
            self.faults.off();
            let (state, _) = self.until_same(|state| self.differs_from_before(state)).await;
            self.faults.on();
            let before = self.calm.as_ref().and_then(|calm| calm.before.as_ref());
            let violation = before.and_then(|before| same_state("before readiness goes", &state, before));
            violation.into_iter().for_each(|violation| self.violated(violation.oracle, violation.message));
        }
        self.cluster.is_for_good.set(true);
        self.record.tell(begin(Kind::Goes, &self.server));
    }

    /// Once nothing goes wrong: what is not ready in time has failed before a schedule is judged.
    pub(in crate::testing::simulation) async fn rollouts_fail(&self) {
        let cluster = &self.cluster;
        if cluster.readiness == Readiness::NeverComes && !cluster.is_farewell.get() {
            tokio::time::sleep(DEADLINE).await;
        }
    }

    fn differs_from_before(&self, state: &ClusterState) -> bool {
        let before = self.calm.as_ref().and_then(|calm| calm.before.as_ref());
        before.is_some_and(|before| !state.differences(before).is_empty())
    }

    /// How long users' scripts may take. In the calm run in which readiness never comes, those that wait for it are not
    /// waited for.
    pub(in crate::testing::simulation) fn scripts_end_within(&self, usual: Duration) -> Duration {
        match self.is_calm() && self.cluster.readiness == Readiness::NeverComes {
            true => usual.min(SCRIPTS_END_WITHIN),
            false => usual,
        }
    }
}
