//! Several candidates, one lease, and all that can go wrong between them: requests that are late, refused, lost, or answered
//! to nobody; processes that pause, crash and start anew; wall clocks that differ; hands that edit.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::LeaseSpec;
use proptest::prelude::*;

use super::{
    super::{
        configuration::Timing,
        machine::{Decision, Machine, Reply, Request},
    },
    TIMING, wall,
};
use crate::environment::Now;

const CANDIDATES: usize = 3;

/// The next event. Numbers choose among the possible ones.
#[derive(Clone, Debug)]
enum Event {
    /// A candidate does what it wants, and all goes well.
    Turn(usize),
    /// A candidate does what it wants; its request is on its way.
    Poll(usize),
    /// A request takes effect, and its answer is on its way.
    Arrive(usize),
    /// A request is refused.
    Refuse(usize),
    /// An answer arrives at the machine that still waits for it.
    Deliver(usize),
    /// A request or an answer is lost.
    Lose(usize),
    /// This number of milliseconds passes; a process that isn't polled then doesn't run meanwhile.
    Pass(u64),
    /// A process dies, and another one takes its place.
    Crash(usize),
    /// A leader ends its term, gives the lease back, and starts anew.
    Release(usize),
    /// Somebody changes the metadata.
    Annotate,
    /// Somebody writes another name into the lease, or none.
    Edit(bool),
    /// Somebody deletes the lease.
    Delete,
}

fn event(with_deletions: bool) -> impl Strategy<Value = Event> {
    let one = any::<prop::sample::Index>().prop_map(|index| index.index(1 << 16)).boxed();
    // A machine that has never seen the lease may take a deleted one for new: that is an assumption.
    let restart = prop_oneof![one.clone().prop_map(Event::Crash), one.clone().prop_map(Event::Release)];
    let either = if with_deletions { Just(Event::Delete).boxed() } else { restart.boxed() };
    prop_oneof![
        8 => one.clone().prop_map(Event::Turn),
        8 => one.clone().prop_map(Event::Poll),
        6 => one.clone().prop_map(Event::Arrive),
        2 => one.clone().prop_map(Event::Refuse),
        6 => one.clone().prop_map(Event::Deliver),
        2 => one.prop_map(Event::Lose),
        8 => (0_u64..4_000).prop_map(Event::Pass),
        1 => (4_000_u64..20_000).prop_map(Event::Pass),
        2 => either,
        1 => Just(Event::Annotate),
        1 => any::<bool>().prop_map(Event::Edit),
    ]
}

struct Candidate {
    machine: Machine,
    /// How its wall clock goes: hours off, and whether it stands still.
    wall: (i64, bool),
    /// The version that it has seen last.
    version: u64,
    /// What it waits for, since when, and until when.
    waits: Option<(u64, Request, Now, Now)>,
    is_gone: bool,
}

struct Message {
    id: u64,
    from: usize,
    request: Request,
    record: LeaseSpec,
    version: u64,
    answer: Option<(Reply, u64)>,
}

struct World {
    timing: Timing,
    now: Now,
    /// The lease and its version.
    lease: Option<(LeaseSpec, u64)>,
    versions: u64,
    created: Now,
    candidates: Vec<Candidate>,
    network: Vec<Message>,
    ids: u64,
    names: usize,
    restarts: bool,
}

impl World {
    /// With `names` different names among the candidates.
    fn new(timing: Timing, names: usize, walls: [(i64, bool); CANDIDATES], restarts: bool) -> Self {
        let mut world = Self {
            timing,
            now: Now::START,
            lease: None,
            versions: 0,
            created: Now::START,
            candidates: Vec::new(),
            network: Vec::new(),
            ids: 0,
            names,
            restarts,
        };
        for (number, wall) in walls.into_iter().enumerate() {
            let machine = world.machine(number);
            world.candidates.push(Candidate { machine, wall, version: 0, waits: None, is_gone: false });
        }
        world
    }

    fn machine(&self, number: usize) -> Machine {
        Machine::new(format!("candidate-{}", number % self.names), self.timing)
    }

    fn start_anew(&mut self, number: usize) {
        let machine = self.machine(number);
        let candidate = &mut self.candidates[number];
        (candidate.machine, candidate.waits) = (machine, None);
    }

    fn write(&mut self, spec: LeaseSpec) {
        // A write that changes nothing is none, at the real server as well.
        if self.lease.is_none() {
            self.created = self.now;
        }
        if self.lease.as_ref().is_none_or(|(now, _)| *now != spec) {
            self.versions += 1;
            self.lease = Some((spec, self.versions));
        }
    }

    fn send(&mut self, from: usize, request: Request, record: LeaseSpec) -> u64 {
        self.ids += 1;
        let version = self.candidates[from].version;
        self.network.push(Message { id: self.ids, from, request, record, version, answer: None });
        self.ids
    }

    /// The id of the request that it makes, if it does.
    fn poll(&mut self, number: usize) -> Option<u64> {
        let now = self.now;
        let candidate = &mut self.candidates[number];
        if candidate.is_gone {
            return None;
        }
        if let Some((_, request, sent, deadline)) = candidate.waits {
            if now < deadline {
                return None;
            }
            candidate.waits = None;
            candidate.machine.answered(request, sent, Reply::Failed, now);
        }
        match candidate.machine.next(now) {
            Decision::Wait(_) => None,
            Decision::Ask(request, deadline) => {
                let (hours, stands_still) = candidate.wall;
                let seconds = if stands_still { 0 } else { now.since_start().as_secs() };
                let record = candidate.machine.record(wall(hours * 3600 + seconds as i64));
                let id = self.send(number, request, record);
                self.candidates[number].waits = Some((id, request, now, deadline));
                Some(id)
            }
            Decision::Lost(_) if self.restarts => {
                self.start_anew(number);
                None
            }
            Decision::Lost(_) => {
                candidate.is_gone = true;
                None
            }
        }
    }

    fn arrive(&mut self, at: usize) {
        let message = &self.network[at];
        if message.answer.is_some() {
            return;
        }
        let (record, version) = (message.record.clone(), message.version);
        let answer = match (message.request, &self.lease) {
            (Request::Read, _) => None,
            (Request::Create, Some(_)) => Some(Reply::Conflict),
            (Request::Replace, None) => Some(Reply::Absent),
            (Request::Replace, Some((_, now))) if *now != version => Some(Reply::Conflict),
            (Request::Create, None) | (Request::Replace, Some(_)) => {
                self.write(record);
                None
            }
        };
        let (lease, version) = match &self.lease {
            Some((lease, version)) => (Reply::Lease(lease.clone()), *version),
            None => (Reply::Absent, 0),
        };
        self.network[at].answer = Some((answer.unwrap_or(lease), version));
    }

    fn deliver(&mut self, at: usize) {
        if self.network[at].answer.is_none() {
            return;
        }
        let Message { id, from, answer, .. } = self.network.swap_remove(at);
        let candidate = &mut self.candidates[from];
        let Some((_, request, sent, _)) = candidate.waits.filter(|(waits, ..)| *waits == id) else { return };
        let Some((answer, version)) = answer else { return };
        candidate.waits = None;
        if matches!(answer, Reply::Lease(_)) {
            candidate.version = version;
        }
        candidate.machine.answered(request, sent, answer, self.now);
    }

    /// Polls, and lets all that comes of it happen at once.
    fn turn(&mut self, number: usize) {
        for _ in 0..4 {
            let Some(id) = self.poll(number) else { return };
            let find = |world: &Self| world.network.iter().position(|message| message.id == id);
            if let Some(at) = find(self) {
                self.arrive(at);
                self.deliver(at);
            }
        }
    }

    fn happens(&mut self, event: &Event) {
        let among = |number: usize, of: usize| (of > 0).then(|| number % of);
        let messages = self.network.len();
        match *event {
            Event::Turn(number) => self.turn(number % CANDIDATES),
            Event::Poll(number) => drop(self.poll(number % CANDIDATES)),
            Event::Pass(millis) => self.now = self.now + Duration::from_millis(millis),
            Event::Crash(number) => self.start_anew(number % CANDIDATES),
            Event::Arrive(number) => among(number, messages).into_iter().for_each(|at| self.arrive(at)),
            Event::Deliver(number) => among(number, messages).into_iter().for_each(|at| self.deliver(at)),
            Event::Refuse(number) => {
                if let Some(at) = among(number, messages)
                    && self.network[at].answer.is_none()
                {
                    self.network[at].answer = Some((Reply::Failed, 0));
                }
            }
            Event::Lose(number) => {
                among(number, messages).into_iter().for_each(|at| drop(self.network.swap_remove(at)));
            }
            Event::Release(number) => {
                let number = number % CANDIDATES;
                let held =
                    self.lease.clone().filter(|(_, version)| *version == self.candidates[number].version);
                if let (true, Some((lease, _))) = (self.leads(number), held) {
                    self.send(number, Request::Replace, Machine::release(lease, wall(0)));
                    self.start_anew(number);
                }
            }
            Event::Annotate => {
                if let Some((_, version)) = &mut self.lease {
                    self.versions += 1;
                    *version = self.versions;
                }
            }
            Event::Edit(to_nobody) => {
                if let Some((mut lease, _)) = self.lease.clone() {
                    lease.holder_identity = (!to_nobody).then(|| "a person".to_owned());
                    self.write(lease);
                }
            }
            // Again in the moment of its creation: that is an assumption, too.
            Event::Delete if self.now.since(self.created) > 2 * TIMING.retry_period => self.lease = None,
            Event::Delete => {}
        }
    }

    fn leads(&self, number: usize) -> bool {
        self.candidates[number].machine.term().is_some_and(|until| self.now < until)
    }

    fn leaders(&self) -> Vec<usize> {
        (0..CANDIDATES).filter(|number| self.leads(*number)).collect()
    }

    /// From now on everything succeeds. A machine that has lost is started anew.
    fn calm_down(&mut self, seconds: u64) {
        self.network.clear();
        self.restarts = true;
        for number in 0..CANDIDATES {
            self.candidates[number].is_gone = false;
        }
        for _ in 0..seconds * 2 {
            (0..CANDIDATES).for_each(|number| self.turn(number));
            self.now = self.now + Duration::from_millis(500);
        }
    }
}

/// The first moment at which two lead; then, in peace, one does.
fn play(world: &mut World, events: &[Event]) -> Result<(), TestCaseError> {
    for (number, event) in events.iter().enumerate() {
        world.happens(event);
        let leaders = world.leaders();
        prop_assert!(leaders.len() <= 1, "after event {number}: {leaders:?} lead at {:?}", world.now);
    }
    world.calm_down(45);
    prop_assert_eq!(world.leaders().len(), 1, "somebody leads in the end");
    Ok(())
}

fn walls() -> impl Strategy<Value = [(i64, bool); CANDIDATES]> {
    let wall = || (-3_i64..=3, any::<bool>());
    (wall(), wall(), wall()).prop_map(|(a, b, c)| [a, b, c])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..crate::properties::daily() })]

    #[test]
    fn at_most_one_leads_at_any_moment_and_one_leads_in_the_end(
        walls in walls(),
        names in 1..=CANDIDATES,
        events in prop::collection::vec(event(false), 0..150),
    ) {
        play(&mut World::new(TIMING, names, walls, true), &events)?;
    }

    #[test]
    fn nor_does_a_lease_that_is_deleted_make_two_leaders(
        walls in walls(),
        events in prop::collection::vec(event(true), 0..150),
    ) {
        let mut world = World::new(TIMING, CANDIDATES, walls, false);
        // All of them know the lease before it is deleted for the first time.
        (0..CANDIDATES).for_each(|number| world.turn(number));
        play(&mut world, &events)?;
    }
}

/// The model finds the bug that it is for: a leader that continues for longer than others wait.
#[test]
fn times_that_do_not_descend_lead_to_two_leaders() {
    let timing = Timing { lease_duration: Duration::from_secs(5), ..TIMING };
    let mut world = World::new(timing, CANDIDATES, [(0, false); CANDIDATES], true);
    let events = [Event::Turn(0), Event::Turn(1), Event::Pass(6_000), Event::Turn(1)];
    assert!(play(&mut world, &events).is_err());
}
