//! Sweeps: schedules that are not drawn, but made of the calm run's requests, one after the other.
//!
//! ```text
//!  calm run ──▶ points: each request of the operator, and what could happen to it
//!                 │
//!                 ├─ acts ──▶ one schedule each:  somebody acts ─▶ request k        held against ─┐
//!                 │           and a calm run:     … all is quiet, then somebody acts ◀────────────┘
//!                 │
//!                 └─ faults ▶ one schedule for each fault of each request, and for each pair of them
//! ```
//!
//! # Guarantees
//! - A schedule of a sweep is the calm run up to its request.
//! - The checks of every schedule apply to these, too. An act changes the cluster, so a schedule with an act is
//!   compared with a calm run in which the same is done when the operator has nothing to do.

mod act;
mod fault;
mod fields;
mod jobs;
mod reference;
mod requests;
mod somebody;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;

use super::{
    CalmRun, Choices, FaultPlan,
    observer::Exclusive,
    record::{Actor, ScheduleRecord},
    state::ClusterState,
};
use crate::testing::{
    InProcessServer,
    faults::{Fault, RequestTarget, Verb},
};

use act::{Act, Deed};
use fault::Faulted;

pub(super) use jobs::jobs;
pub(super) use reference::References;
pub(super) use somebody::{GaveUp, Somebody};

/// The lane of a tape that selects the request before which someone acts, and which of the possible acts.
pub(super) const SOMEBODY_ACTS: &str = "somebody acts";

/// Types whose objects record what has happened; there are no acts on those.
const NOT_ACTED_UPON: [&str; 2] = ["events", "leases"];

/// A request of the operator in the calm run.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Counted from 1.
    number: u32,
    verb: Verb,
    /// Whether it is about one object: those that runs make are.
    is_named: bool,
    /// How much users had written by then.
    written: usize,
    /// Whether everything that users had made was being deleted, at the end.
    is_farewell: bool,
    /// The possible acts just before it.
    acts: Vec<Act>,
}

/// How long a watch takes to show something, at most.
const SHOWN_WITHIN: Duration = Duration::from_secs(2);

/// An act and its moment.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    number: u32,
    act: Act,
    /// Not at once, but when the operator has nothing more to do.
    calmly: bool,
}

/// The part of a sweep in one schedule; in the calm run it records what could be done.
pub(super) struct Sweep {
    record: Arc<ScheduleRecord>,
    server: InProcessServer,
    exclusive: Arc<Exclusive>,
    pub(super) somebody: Arc<Somebody>,
    is_calm: bool,
    requests: AtomicU32,
    /// The simulation checks through its own client whether the operator is quiet.
    is_looking: AtomicBool,
    is_farewell: AtomicBool,
    points: Mutex<Vec<Point>>,
    moment: Option<Moment>,
    due: Mutex<Option<Act>>,
    faulted: Faulted,
}

/// What happens to a request: the fault, and how it is counted and reported when it takes effect.
pub(super) struct Happens {
    pub(super) kind: &'static str,
    pub(super) told: String,
    pub(super) fault: Fault,
}

impl Sweep {
    pub(super) fn new(
        (choices, calm): (&Choices, Option<&CalmRun>),
        calmly: Option<Moment>,
        record: &Arc<ScheduleRecord>,
        server: &InProcessServer,
        exclusive: &Arc<Exclusive>,
        somebody: Arc<Somebody>,
    ) -> Self {
        let (number, act) = (choices.given(SOMEBODY_ACTS), choices.given(SOMEBODY_ACTS));
        let given = calm.and_then(|calm| moment(&calm.points, number, act)).map(|(_, moment)| moment);
        Self {
            record: Arc::clone(record),
            server: server.clone(),
            exclusive: Arc::clone(exclusive),
            somebody,
            is_calm: calm.is_none(),
            requests: AtomicU32::new(0),
            is_looking: AtomicBool::new(false),
            is_farewell: AtomicBool::new(false),
            points: Mutex::default(),
            moment: calmly.or(given),
            due: Mutex::default(),
            faulted: Faulted::new(choices),
        }
    }

    /// From here on until `false`, lists are those of the simulation.
    pub(super) fn looks(&self, is_looking: bool) {
        self.is_looking.store(is_looking, Ordering::Relaxed);
    }

    /// Everything is about to be deleted.
    pub(super) fn farewell(&self) {
        self.is_farewell.store(true, Ordering::Relaxed);
    }

    /// The managers of the fields of an object that was acted on depend on whether the act came before the operator or
    /// after it, and are not compared. If the marks of an object were changed before it was unwanted, it may be left
    /// over as long as they are not restored: it can't be distinguished from a copy.
    pub(super) fn allow_for_the_act(&self, state: &mut ClusterState) {
        let Some(moment) = self.moment.as_ref().filter(|_| self.somebody.has_acted()) else { return };
        state.forget_managers_of(&moment.act.object());
        state.may_be_left(&moment.act.object(), |object| moment.act.is_unmended(object));
    }

    /// The possible acts and faults, from the calm run.
    pub(super) fn points(&self) -> Vec<Point> {
        std::mem::take(&mut self.points.lock())
    }

    /// What happens to a request of the operator.
    pub(super) fn request(&self, target: &RequestTarget, plan: &FaultPlan) -> Option<Happens> {
        if target.verb == Verb::List && self.is_looking.load(Ordering::Relaxed) {
            return None;
        }
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_calm && (plan.acts || plan.pairs) {
            let point = self.point(number, target, plan);
            self.points.lock().push(point);
        }
        if let Some(Moment { act, calmly, .. }) =
            self.moment.as_ref().filter(|moment| moment.number == number)
        {
            if *calmly {
                *self.due.lock() = Some(act.clone());
                return None;
            }
            let (kind, told) = (act.kind, format!("somebody: {act}, just before {target}"));
            let (somebody, act) = (Arc::clone(&self.somebody), act.clone());
            // Half of the requests arrive when the operator has been shown the act, and half before.
            let shown = if number.is_multiple_of(2) { SHOWN_WITHIN } else { Duration::ZERO };
            let fault = Fault::Meanwhile(Arc::new(move |_| {
                let (somebody, act) = (Arc::clone(&somebody), act.clone());
                Box::pin(async move {
                    somebody.acts(act).await;
                    tokio::time::sleep(shown).await;
                })
            }));
            return Some(Happens { kind, told, fault });
        }
        let (kind, fault) = self.faulted.request(number, target)?;
        let told = format!("{target}: {fault}");
        Some(Happens { kind, told, fault })
    }

    /// Performs an act that has waited for a calm time; returns whether there was one.
    pub(super) async fn acts_calmly(&self) -> bool {
        let Some(act) = self.due.lock().take() else { return false };
        self.record.tell(format_args!("somebody: {act}, at a calm time"));
        self.somebody.acts(act).await;
        true
    }

    fn point(&self, number: u32, target: &RequestTarget, plan: &FaultPlan) -> Point {
        let by_user = |by: Actor| by == Actor::User;
        let written = self.record.with_calls(|calls| {
            calls.iter().filter(|call| by_user(call.by) && call.target.verb.is_write()).count()
        });
        Point {
            number,
            verb: target.verb,
            is_named: target.name.is_some(),
            written,
            is_farewell: self.is_farewell.load(Ordering::Relaxed),
            acts: if plan.acts { self.acts(number, target) } else { Vec::new() },
        }
    }

    /// The possible acts on the object of a request, and on the primaries whose runs are in progress.
    fn acts(&self, number: u32, target: &RequestTarget) -> Vec<Act> {
        if target.name.is_none() {
            return self.acts_before_a_list(number, target);
        }
        let runs = self.exclusive.running();
        let is_primary = |target: &RequestTarget| {
            runs.iter().any(|key| {
                target.name.as_deref() == Some(key.name()) && target.namespace.as_deref() == key.namespace()
            })
        };
        // Primaries are what users have made.
        let mut targets = self.record.with_calls(|calls| {
            let by_users = calls.iter().filter(|call| call.by == Actor::User && call.target.verb.is_write());
            by_users.map(|call| &call.target).filter(|made| is_primary(made)).cloned().collect::<Vec<_>>()
        });
        targets.insert(0, target.clone());
        let mut acts: Vec<Act> = Vec::new();
        for target in targets.iter().filter(|target| !NOT_ACTED_UPON.contains(&target.resource.as_str())) {
            let (namespace, name) = (target.namespace.as_deref(), target.name.as_deref().unwrap_or_default());
            let object = self.server.stored(&target.group, &target.resource, namespace, name);
            for act in object.iter().flat_map(|object| Act::all(target, object, number)) {
                if !acts.contains(&act) {
                    acts.push(act);
                }
            }
        }
        acts
    }
}

impl Sweep {
    /// Before a read of many objects, each of them that was written may be another one under its name.
    fn acts_before_a_list(&self, number: u32, list: &RequestTarget) -> Vec<Act> {
        if list.verb.is_write() || NOT_ACTED_UPON.contains(&list.resource.as_str()) {
            return Vec::new();
        }
        let is_listed = |target: &RequestTarget| {
            (&target.group, &target.resource) == (&list.group, &list.resource) && target.name.is_some()
        };
        let written = self.record.with_calls(|calls| {
            let writes = calls.iter().map(|call| &call.target).filter(|target| target.verb.is_write());
            writes.filter(|target| is_listed(target)).cloned().collect::<Vec<_>>()
        });
        let mut acts: Vec<Act> = Vec::new();
        for target in &written {
            let (namespace, name) = (target.namespace.as_deref(), target.name.as_deref().unwrap_or_default());
            let object = self.server.stored(&target.group, &target.resource, namespace, name);
            let all = object.iter().flat_map(|object| Act::all(target, object, number));
            for act in all.filter(|act| act.deed == Deed::Replace) {
                if !acts.contains(&act) {
                    acts.push(act);
                }
            }
        }
        acts
    }
}

/// The act that a tape selects: for the request with this number, the one at this place, counted from 1.
fn moment(points: &[Point], number: u32, act: u32) -> Option<(&Point, Moment)> {
    let point = points.iter().find(|point| point.number == number)?;
    let act = point.acts.get(usize::try_from(act).ok()?.checked_sub(1)?)?;
    Some((point, Moment { number, act: act.clone(), calmly: false }))
}
