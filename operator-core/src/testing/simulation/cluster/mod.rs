//! The luck of the cluster's own controllers: readiness comes late, goes, or doesn't come, and steps take their time.
//!
//! ```text
//!  storm begins ─▶ one kind of bad luck, or none ─▶ server: delays of steps, rules for Pods
//!  settle ───────▶ it takes its course ─▶ it ends ─▶ what the operator has waited for: counted
//!                                           │ for good
//!                                           └─▶ the schedule is compared with a calm run in which the same happens
//! ```
//!
//! # Guarantees
//! - Each kind and each delay is a decision on the tape, in a lane that begins with `cluster`; 0 is none.
//! - What has ended differs in nothing from what never was: steps that wait are taken, Pods are released.
//! - Readiness that doesn't come, or goes for good, does the same in the calm run with which the schedule is compared.

mod course;
mod ending;
mod waits;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::Notify, task::JoinHandle};

use super::{Choices, FaultPlan, state::ClusterState, world::World};
use test_cluster::{ClusterController, Controllers};

pub(super) use ending::Readiness;
use waits::Waits;
pub(super) use waits::{Troubles, is_workload, writes_workloads};

/// A kind of bad luck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Pods are started late.
    Late,
    /// No Pod gets ready before the bad luck ends.
    Never,
    /// Pods that were ready aren't any more.
    Goes,
    /// Containers end again and again.
    Crash,
    /// Any controller takes its time.
    Slow,
}

/// All of them, with the names under which they are counted.
const KINDS: [(Kind, &str); 5] = [
    (Kind::Slow, "cluster: controllers take their time"),
    (Kind::Late, "cluster: Pods are ready late"),
    (Kind::Crash, "cluster: containers crash again and again"),
    (Kind::Goes, "cluster: Pods become unready"),
    (Kind::Never, "cluster: no Pod gets ready"),
];

/// Of so many numbers the highest ones are bad luck, one each; the others are none.
const DRAWN: u32 = 7;

/// How late a step is, in seconds.
const DELAYS: [u64; 6] = [0, 1, 3, 10, 40, 120];

/// How soon after readiness something happens, in milliseconds.
const SOON: [u64; 6] = [0, 30, 100, 300, 1_000, 6_000];

/// For how long it lasts, in milliseconds. The last one is longer than a Deployment has for a rollout by default.
const LASTS: [u64; 6] = [100, 1_000, 5_000, 20_000, 60_000, 700_000];

/// Pods that are started again when their containers have ended.
const RESTARTED: &str = "!batch.kubernetes.io/job-name";

/// The names of all kinds.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().map(|(_, name)| name)
}

/// The cluster of a schedule.
#[derive(Default)]
pub(super) struct Cluster {
    /// How readiness ends in this schedule, and in the calm run with which it is compared.
    pub(super) readiness: Readiness,
    luck: RefCell<Option<Luck>>,
    waits: Arc<Mutex<Waits>>,
    /// Something has become ready.
    became_ready: Arc<Notify>,
    /// Whether a storm has begun.
    pub(super) storms: Cell<bool>,
    /// Readiness is as it stays: it has gone, or none will come.
    is_for_good: Cell<bool>,
    /// The state before readiness went for good, in the calm run in which it does.
    pub(super) before: RefCell<Option<ClusterState>>,
    /// This can't be a calm run in which readiness never comes: the test waits for it, or the operator asks for it again
    /// and again.
    pub(super) is_unfit: Cell<bool>,
    /// Everything is about to be deleted.
    pub(super) is_farewell: Cell<bool>,
    /// What the operator has waited for, until the bad luck has ended for the first time.
    pub(super) troubles: RefCell<Option<Troubles>>,
}

/// The bad luck of a schedule.
struct Luck {
    kind: Kind,
    name: &'static str,
    /// Whether any step was late.
    late: Arc<AtomicBool>,
    script: Option<Script>,
}

/// What happens to the Pods.
struct Script {
    has_begun: Rc<Cell<bool>>,
    task: JoinHandle<()>,
}

impl Cluster {
    pub(super) fn new(readiness: Readiness) -> Self {
        Self { readiness, ..Self::default() }
    }
}

/// The kind of bad luck that is drawn next.
fn drawn(choices: &Choices) -> Option<(Kind, &'static str)> {
    let kinds = u32::try_from(KINDS.len()).unwrap_or_default();
    let kind = choices.next("cluster", DRAWN).checked_sub(DRAWN - kinds)?;
    KINDS.get(kind as usize).copied()
}

/// One of these times.
fn time(choices: &Choices, lane: &str, times: &[u64]) -> Duration {
    let drawn = choices.next(lane, u32::try_from(times.len()).unwrap_or(1));
    Duration::from_millis(times[drawn as usize])
}

impl World {
    /// A storm begins: draws the luck of the cluster, and the way in which watches are sent.
    pub(super) fn try_luck(&self, plan: &FaultPlan) {
        if !plan.is_storm() {
            return;
        }
        let is_first = !self.cluster.storms.replace(true);
        if self.is_calm() {
            if self.cluster.readiness == Readiness::NeverComes && is_first {
                self.never_ready();
            }
            return;
        }
        if is_first {
            self.listen();
            let watches = self.choices.rarely("watches", 2, u32::from(u16::MAX));
            if watches > 0 {
                self.server.vary_watches(watches.into());
                self.record.tell(format_args!("bookmarks, ends and pieces of watches vary by {watches}"));
            }
        }
        let (kind, name) = match self.cluster.is_farewell.get() {
            // No one waits for readiness any more, but for the end.
            true if self.choices.next("cluster at the end", 3) == 2 => KINDS[0],
            true => return,
            false => match drawn(&self.choices) {
                Some(kind) => kind,
                None => return,
            },
        };
        self.record.tell(format_args!("{name}"));
        let late = Arc::new(AtomicBool::new(false));
        let is_for_good = is_first
            && ending::is_for_good(kind, &self.choices)
            && self.cluster.readiness == Readiness::after(kind);
        let script = match kind {
            Kind::Slow | Kind::Late => {
                self.take_time(kind == Kind::Late, &late);
                None
            }
            Kind::Never => {
                self.cluster.is_for_good.set(is_for_good);
                self.never_ready();
                (!is_for_good).then(|| self.unless_somebody_waits())
            }
            // When everything else is done.
            Kind::Goes if is_for_good => None,
            Kind::Goes => Some(self.later(kind)),
            Kind::Crash if self.choices.next("cluster crash later", 2) == 1 => Some(self.later(kind)),
            Kind::Crash => Some(self.at_once(kind)),
        };
        *self.cluster.luck.borrow_mut() = Some(Luck { kind, name, late, script });
    }

    /// Sees what becomes ready, and when.
    fn listen(&self) {
        let (waits, ready) = (Arc::clone(&self.cluster.waits), Arc::clone(&self.cluster.became_ready));
        self.server.on_change(move |at, object, is_gone| {
            if waits.lock().changed(at, object, is_gone) {
                ready.notify_one();
            }
        });
    }

    /// From here on no Pod is ready.
    fn never_ready(&self) {
        self.record.tell("cluster: no Pod is ready from here on");
        self.server.pods().unready("").ok();
    }

    /// Each step comes late; only those with Pods if it is `about_pods`.
    fn take_time(&self, about_pods: bool, late: &Arc<AtomicBool>) {
        let (choices, record, late) = (self.choices.clone(), Arc::clone(&self.record), Arc::clone(late));
        self.server.pace(move |controller| {
            let is_of_pods = matches!(controller, ClusterController::Node | ClusterController::Scheduler);
            if about_pods && !is_of_pods {
                return Duration::ZERO;
            }
            let delays = u32::try_from(DELAYS.len()).unwrap_or(1);
            let drawn = choices.next(&format!("cluster step {controller:?}"), delays);
            let delay = DELAYS[drawn as usize];
            if delay > 0 {
                late.store(true, Ordering::Relaxed);
                record.tell(format_args!("cluster: {controller:?} takes {delay} s for a step"));
            }
            Duration::from_secs(delay)
        });
    }

    /// From here on the controllers do everything at once, and Pods get ready, but for what is for good. What has
    /// happened counts if it has made a difference.
    pub(super) fn end_luck(&self) {
        let cluster = &self.cluster;
        if self.is_calm() || !cluster.storms.get() {
            return;
        }
        let told = self.record.with_calls(|calls| cluster.waits.lock().told(calls));
        cluster.troubles.borrow_mut().get_or_insert(told);
        let Some(luck) = cluster.luck.borrow_mut().take() else { return };
        if let Some(script) = luck.script {
            script.task.abort();
        }
        let took_effect = match luck.kind {
            Kind::Slow => luck.late.load(Ordering::Relaxed),
            _ => told.any(),
        };
        if took_effect {
            self.record.fault(luck.name, format_args!("{}, until here", luck.name));
        }
        if !cluster.is_for_good.get() {
            self.server.pods().release("").ok();
        }
        self.server.set_controllers(Controllers::AtOnce);
    }
}
