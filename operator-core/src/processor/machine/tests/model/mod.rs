//! An oracle for random schedules: what the specification says, written without timers, queues or places. It follows
//! the inputs, predicts causes, retries and deadlines, and checks each effect of the machine against them.

mod ends;
mod failures;

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::processor::RetryInfo;

/// The settings that the oracle knows.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) max_concurrent: usize,
    /// The delays of the retry, in milliseconds.
    pub(super) delays: &'static [u64],
    pub(super) max_interval: Option<u64>,
    pub(super) rate_limited: bool,
    /// Whether runs see the ends of objects.
    pub(super) all_events: bool,
}

/// The state of one name as the world sees it.
#[derive(Debug, Default)]
pub(super) struct Name {
    /// The number of the object that exists, if one does.
    pub(super) object: Option<u32>,
    /// The number of the object made last.
    pub(super) last_object: u32,
    pub(super) deleting: bool,
    /// A run has removed the finalizer, or found the object gone: only its own changes count.
    released: bool,
    /// It was found gone: its mark for deletion counts, too.
    found_gone: bool,
    /// It is gone, and a run has to see that before anything else of this name is seen.
    pub(super) ended: bool,
    /// The number of the object that exists since then, and what is owed to it.
    successor: Option<(u32, Causes)>,
    /// The events that no run has seen yet.
    owed: Causes,
    pub(super) flight: Option<Flight>,
    retry: Option<Retries>,
    /// Failures of the server.
    trouble: Option<Retries>,
    /// The last failure was followed by a run at once.
    hurried: bool,
    brake: Brake,
    reschedule: Option<Duration>,
    failed: bool,
    exhausted: bool,
    timer: Option<(Now, Cause)>,
    not_before: Option<Now>,
    // The reports of the effects.
    known: bool,
    submitted: bool,
    /// Steps of the last change and of the last start of a run: the machine's purpose is that the second is greater.
    last_change: u64,
    last_run: u64,
}

#[derive(Debug)]
pub(super) struct Flight {
    pub(super) run: Run,
}

#[derive(Clone, Copy, Debug, Default)]
struct Retries {
    taken: usize,
    deadline: Option<Now>,
}

/// A pending run waits although nothing else holds it back, because runs of the primary fail and cause the pending ones themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Brake {
    #[default]
    Off,
    /// For the retry's delay, or a further event.
    Retry,
    /// For this long.
    Until(Now),
}

#[derive(Debug)]
pub(super) struct Oracle {
    pub(super) settings: Settings,
    pub(super) names: BTreeMap<ObjectKey, Name>,
    started: bool,
    /// The number of the opening that counts; `None` after a stop.
    pub(super) opening: Option<u64>,
    /// The namespaces that were started; `None` for all.
    open: Option<BTreeSet<String>>,
    /// The namespaces that are followed.
    pub(super) followed: Option<BTreeSet<String>>,
    step: u64,
    now: Now,
    last_run_id: Option<RunId>,
    /// Retries that the effects of this step must announce.
    expected_retries: Vec<Effect>,
}

impl Oracle {
    pub(super) fn new(settings: Settings, names: impl Iterator<Item = ObjectKey>) -> Self {
        let names = names.map(|key| (key, Name::default())).collect();
        Self {
            settings,
            names,
            started: false,
            opening: Some(0),
            open: Some(BTreeSet::new()),
            followed: None,
            step: 0,
            now: Now::START,
            last_run_id: None,
            expected_retries: Vec::new(),
        }
    }

    /// Follows an input; called before the machine's effects are checked.
    pub(super) fn follow(&mut self, input: &Input, now: Now) {
        (self.step, self.now) = (self.step + 1, now);
        self.expected_retries.clear();
        match input {
            Input::PrimaryChanged { key, uid, cause, deleting } => {
                let name = self.names.get_mut(key).unwrap();
                if name.ended {
                    name.follow_successor(key, uid, *cause);
                    return;
                }
                if name.object.is_none_or(|object| uid_of(key.name(), object) != *uid) {
                    let Name { last_object, flight, known, submitted, .. } = std::mem::take(name);
                    let object = Some(last_object + 1);
                    *name = Name {
                        object,
                        last_object: last_object + 1,
                        flight,
                        known,
                        submitted,
                        ..Name::default()
                    };
                }
                name.deleting = *deleting;
                name.released &= *deleting && !name.found_gone;
                if !name.released {
                    name.event(*cause, self.step);
                }
            }
            Input::PrimaryDeleted { key, uid, last } => {
                let seen = last.is_some() && self.runs(key);
                let name = self.names.get_mut(key).unwrap();
                if name.follow_deletion(key, uid, seen, self.step) {
                    return;
                }
                let Name { last_object, flight, known, submitted, .. } = std::mem::take(name);
                *name = Name { last_object, flight, known, submitted, ..Name::default() };
            }
            Input::Related { key, cause } => {
                let name = self.names.get_mut(key).unwrap();
                if name.object.is_some() && !name.released {
                    name.event(*cause, self.step);
                }
            }
            Input::Finished { run, key, outcome } => self.follow_end(*run, key, *outcome, now),
            Input::Start { opening, namespace } => self.follow_start(*opening, namespace.as_ref()),
            Input::Stop => (self.started, self.opening) = (false, None),
            Input::Rescoped { opening, before, now } => self.follow_rescoping(*opening, before, now),
            Input::Redefined { cause } => {
                let fails = |name: &&mut Name| name.failed || name.exhausted;
                for name in self.names.values_mut().filter(fails) {
                    if name.object.is_some() && !name.released {
                        name.event(*cause, self.step);
                    }
                }
            }
        }
    }

    /// Whether runs of it may be handed out.
    fn runs(&self, key: &ObjectKey) -> bool {
        self.started && self.is_among(&self.open, key) && self.is_among(&self.followed, key)
    }

    fn is_among(&self, namespaces: &Option<BTreeSet<String>>, key: &ObjectKey) -> bool {
        namespaces.as_ref().is_none_or(|names| key.namespace().is_some_and(|name| names.contains(name)))
    }

    fn follow_rescoping(
        &mut self,
        opening: u64,
        before: &Option<BTreeSet<String>>,
        now: &Option<BTreeSet<String>>,
    ) {
        if self.opening.is_none() {
            return;
        }
        self.opening = Some(opening);
        if self.open.is_some() || before.is_some() || now.is_some() {
            let keys: Vec<ObjectKey> = self.names.keys().cloned().collect();
            let stays = |key: &&ObjectKey| {
                self.is_among(&self.open, key) && self.is_among(before, key) && self.is_among(now, key)
            };
            let open = keys.iter().filter(stays).filter_map(|key| key.namespace().map(str::to_owned));
            self.open = Some(open.collect());
        }
        self.followed.clone_from(now);
        let left = |key: &ObjectKey| !self.is_among(now, key);
        let left: Vec<ObjectKey> = self.names.keys().filter(|key| left(key)).cloned().collect();
        for key in left {
            let name = self.names.get_mut(&key).unwrap();
            let Name { last_object, flight, known, submitted, .. } = std::mem::take(name);
            *name = Name { last_object, flight, known, submitted, ..Name::default() };
        }
    }

    fn follow_start(&mut self, opening: u64, namespace: Option<&Arc<str>>) {
        if self.opening != Some(opening) {
            return;
        }
        self.started = true;
        match (&mut self.open, namespace) {
            (Some(open), Some(namespace)) => drop(open.insert(namespace.to_string())),
            (open, None) => *open = None,
            (None, Some(_)) => {}
        }
    }

    fn follow_end(&mut self, run: RunId, key: &ObjectKey, outcome: Outcome, now: Now) {
        let name = self.names.get_mut(key).unwrap();
        let Some(flight) = name.flight.take_if(|flight| flight.run.id == run) else { return };
        if name.object.is_none_or(|object| uid_of(key.name(), object) != flight.run.uid) {
            return;
        }
        let seen = !matches!(outcome, Outcome::Failed { .. } | Outcome::Abandoned);
        if seen && flight.run.departed.is_some() {
            name.end(self.step);
            return;
        }
        // Without anything that its run has asked for.
        let outcome = if seen && name.ended { SUCCESS } else { outcome };
        let max_interval =
            self.settings.max_interval.map(|interval| (now + millis(interval), Cause::MaxInterval));
        let nothing_owed = name.owed.is_empty();
        name.timer = None;
        if let Outcome::Failed { not_before, .. } = outcome {
            name.not_before = not_before;
        }
        let patience = name.not_before.map_or(Duration::ZERO, |moment| moment.since(now));
        match outcome {
            Outcome::Success { reschedule } => {
                name.retry = None;
                name.trouble = None;
                name.hurried = false;
                name.failed = false;
                name.exhausted = false;
                name.timer = match reschedule {
                    // The user's own wish may be longer than the maximum interval.
                    Some(Reschedule::After(delay)) => Some((now + delay, Cause::Reschedule)),
                    Some(Reschedule::Within(delay)) => {
                        let again = (now + delay, Cause::Reschedule);
                        Some(max_interval.filter(|(at, _)| *at <= again.0).unwrap_or(again))
                    }
                    None => max_interval,
                };
                name.timer = name.timer.filter(|_| nothing_owed);
                name.reschedule = reschedule.map(|wish| match wish {
                    Reschedule::After(delay) | Reschedule::Within(delay) => delay,
                });
            }
            Outcome::FinalizerRemoved | Outcome::Gone => {
                name.released = true;
                name.found_gone = outcome == Outcome::Gone;
                name.owed = Causes::NONE;
                name.retry = None;
                name.trouble = None;
                name.hurried = false;
                name.reschedule = None;
                name.failed = false;
                name.exhausted = false;
                name.timer = max_interval;
            }
            Outcome::Abandoned if self.opening.is_none() => name.owed.extend(flight.run.causes),
            Outcome::Failed { kind, again, .. } => {
                self.follow_failure(key, (kind, again), nothing_owed, patience, now)
            }
            Outcome::Abandoned => {
                self.follow_failure(key, (FailureKind::Retryable, None), nothing_owed, patience, now)
            }
        }
        let name = self.names.get_mut(key).unwrap();
        if name.gives_up() {
            name.end(self.step);
        }
    }

    /// Follows a tick.
    pub(super) fn follow_tick(&mut self, now: Now) {
        (self.step, self.now) = (self.step + 1, now);
        self.expected_retries.clear();
        for name in self.names.values_mut() {
            if matches!(name.brake, Brake::Until(moment) if moment <= now) {
                name.brake = Brake::Off;
            }
            if let Some((_, cause)) = name.timer.take_if(|(deadline, _)| *deadline <= now) {
                name.owed.insert(cause);
                name.released = false;
                name.brake = Brake::Off;
            }
        }
    }

    /// Checks the effects of an input or a tick, and what the machine says of itself afterwards.
    pub(super) fn check(&mut self, effects: &[Effect], machine: &Machine) {
        for effect in effects {
            self.check_effect(effect);
        }
        let retries =
            |effect: &&Effect| matches!(effect, Effect::RetryScheduled { .. } | Effect::RetriesExhausted(_));
        let announced: Vec<&Effect> = effects.iter().filter(retries).collect();
        assert_eq!(announced, self.expected_retries.iter().collect::<Vec<_>>(), "announced retries");

        let may_run: Vec<bool> = self.names.keys().map(|key| self.runs(key)).collect();
        for ((key, name), may_run) in self.names.iter_mut().zip(may_run) {
            assert_eq!(name.known, name.object.is_some() || name.flight.is_some(), "{key} is known");
            let due = may_run && !name.owed.is_empty() && name.flight.is_none() && name.brake == Brake::Off;
            if due {
                name.timer = None;
            }
            let patient = name.not_before.is_some_and(|moment| moment > self.now);
            assert!(
                !(patient && name.submitted),
                "{key} is queued although the server wants to be left alone"
            );
            if due && !patient && !self.settings.rate_limited {
                assert!(name.submitted, "{key} must be queued for {:?}", name.owed);
            }
        }
        let snapshot = machine.snapshot();
        let count = |test: &dyn Fn(&Name) -> bool| self.names.values().filter(|name| test(name)).count();
        assert_eq!(snapshot.keys, count(&|name| name.known), "known keys");
        assert_eq!(snapshot.queued, count(&|name| name.submitted), "queued keys");
        assert_eq!(snapshot.running, count(&|name| name.flight.is_some()), "running keys");
        assert_eq!(snapshot.pending, count(&|name| !name.owed.is_empty()), "pending keys");
        assert_eq!(snapshot.exhausted, count(&|name| name.exhausted), "exhausted keys");
        let full = snapshot.running == self.settings.max_concurrent;
        assert!(full || snapshot.queued == 0 || !self.started, "a place is free and somebody waits");

        let earliest = |wanted| {
            let timers = self.names.values().filter_map(|name| name.timer);
            timers.filter(|(_, cause)| *cause == wanted).map(|(deadline, _)| deadline).min()
        };
        assert_eq!(snapshot.due.retry, earliest(Cause::Retry), "retry timers");
        assert_eq!(snapshot.due.reschedule, earliest(Cause::Reschedule), "reschedule timers");
        assert_eq!(snapshot.due.max_interval, earliest(Cause::MaxInterval), "maximum intervals");
        let next = [snapshot.due.next_work(), snapshot.due.max_interval].into_iter().flatten().min();
        assert_eq!(machine.next_deadline(), next, "the next deadline is that of a timer");
    }

    fn check_effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Added(key) => {
                let name = self.names.get_mut(key).unwrap();
                assert!(!std::mem::replace(&mut name.known, true), "{key} was added twice");
            }
            Effect::Forgotten(key) => {
                let name = self.names.get_mut(key).unwrap();
                assert!(std::mem::replace(&mut name.known, false), "{key} was forgotten twice");
            }
            Effect::Submitted { key, attempt } => {
                assert!(self.runs(key), "{key} was submitted while stopped, or its namespace");
                let name = self.names.get_mut(key).unwrap();
                assert!(!std::mem::replace(&mut name.submitted, true), "{key} was submitted twice");
                assert_eq!(*attempt, name.retry.map_or(0, |retry| retry.taken as u32));
            }
            Effect::Withdrawn(key) => {
                let name = self.names.get_mut(key).unwrap();
                assert!(std::mem::replace(&mut name.submitted, false), "{key} was not submitted");
            }
            Effect::Run(run) => self.check_run(run),
            Effect::RetryScheduled { .. } | Effect::RetriesExhausted(_) => {}
        }
    }

    fn check_run(&mut self, run: &Run) {
        assert!(self.runs(&run.key), "{} runs while stopped, or its namespace", run.key);
        assert!(self.last_run_id.replace(run.id) < Some(run.id), "ids of runs grow");
        let name = self.names.get_mut(&run.key).unwrap();
        assert!(name.flight.is_none(), "two runs of {}", run.key);
        assert!(std::mem::replace(&mut name.submitted, false), "{} runs without being submitted", run.key);
        let object = name.object.expect("a run of a primary that is gone");
        assert_eq!(run.uid, uid_of(run.key.name(), object));
        assert_eq!(run.departed.is_some(), name.ended, "what a run of {} knows of its end", run.key);
        assert!(!run.causes.is_empty(), "a run of {} without a cause", run.key);
        assert_eq!(run.causes, std::mem::take(&mut name.owed), "causes of a run of {}", run.key);
        let attempts = self.settings.delays.len();
        let expected = name
            .retry
            .map(|retry| RetryInfo { attempt: retry.taken as u32, last_attempt: retry.taken == attempts });
        assert_eq!(run.retry, expected, "what a run of {} knows of its retry", run.key);
        name.timer = None;
        name.last_run = self.step;
        name.flight = Some(Flight { run: run.clone() });
        let running = self.names.values().filter(|name| name.flight.is_some()).count();
        assert!(running <= self.settings.max_concurrent, "too many runs");
    }

    /// The runs in flight, oldest first.
    pub(super) fn in_flight(&self) -> Vec<Run> {
        let flights = self.names.values().filter_map(|name| name.flight.as_ref());
        let mut runs: Vec<Run> = flights.map(|flight| flight.run.clone()).collect();
        runs.sort_by_key(|run| run.id);
        runs
    }

    /// Everything has been drained: each living primary has been seen since it changed.
    pub(super) fn check_drained(&self) {
        let alive = |name: &Name| name.object.is_some() && !name.released && !name.ended;
        for (key, name) in self.names.iter().filter(|(_, name)| alive(name)) {
            assert!(name.last_run >= name.last_change, "no run of {key} began after its last change");
        }
    }
}

impl Name {
    fn event(&mut self, cause: Cause, step: u64) {
        self.owed.insert(cause);
        self.last_change = step;
        if self.brake == Brake::Retry {
            self.brake = Brake::Off;
        }
    }
}
