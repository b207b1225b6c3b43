//! What the controllers still have to look at, and when.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use super::ClusterController;
use crate::in_process::store::{Path, Resource};

/// One controller's look at one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Look {
    pub(super) controller: ClusterController,
    pub(super) resource: Resource,
    pub(super) path: Path,
}

/// How long a step waits before it is done.
#[derive(Clone, Default)]
pub(super) enum Pace {
    /// Not at all.
    #[default]
    AtOnce,
    /// Up to this, always the same for the same step of a run.
    Within(Duration),
    /// As somebody decides for each.
    Chosen(Arc<dyn Fn(ClusterController) -> Duration + Send + Sync>),
}

impl fmt::Debug for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtOnce => f.write_str("AtOnce"),
            Self::Within(most) => write!(f, "Within({most:?})"),
            Self::Chosen(_) => f.write_str("Chosen"),
        }
    }
}

/// The looks that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    /// The present, since the server has started.
    pub(super) moment: Duration,
    pub(super) pace: Pace,
    /// The controllers that do nothing.
    pub(super) held: BTreeSet<ClusterController>,
    due: BTreeMap<(Duration, u64), Look>,
    places: BTreeMap<Look, Place>,
    count: u64,
}

/// Where a look is in the queue.
#[derive(Clone, Copy, Debug)]
struct Place {
    due: Duration,
    count: u64,
    /// Whether nothing but time has to pass for it.
    is_timer: bool,
}

impl Queue {
    /// Something that an object is about has changed. A look that is about to happen comes no sooner and no later because
    /// there is one more reason for it.
    pub(super) fn look_at(&mut self, look: Look) {
        let known = self.places.get(&look).copied();
        if known.is_some_and(|place| !place.is_timer) {
            return;
        }
        let delay = match &self.pace {
            Pace::AtOnce => Duration::ZERO,
            Pace::Within(most) => part_of(*most, self.count),
            Pace::Chosen(choose) => choose(look.controller),
        };
        let due = self.moment.saturating_add(delay);
        let due = known.map_or(due, |timer| timer.due.min(due));
        self.put(look, due, false);
    }

    /// Looks again after some time, unless something changes before.
    pub(super) fn look_again(&mut self, look: Look, after: Duration) {
        let due = self.moment.saturating_add(after);
        if self.places.get(&look).is_none_or(|place| place.is_timer && place.due > due) {
            self.put(look, due, true);
        }
    }

    fn put(&mut self, look: Look, due: Duration, is_timer: bool) {
        if let Some(place) = self.places.remove(&look) {
            self.due.remove(&(place.due, place.count));
        }
        self.count += 1;
        self.places.insert(look.clone(), Place { due, count: self.count, is_timer });
        self.due.insert((due, self.count), look);
    }

    /// The next look that is due until then, with the moment when it is due.
    pub(super) fn pop(&mut self, until: Duration) -> Option<(Duration, Look)> {
        let due = self.due.range(..=(until, u64::MAX));
        let mut free = due.filter(|(_, look)| !self.held.contains(&look.controller));
        let (place, _) = free.next()?;
        let place = *place;
        let look = self.due.remove(&place)?;
        self.places.remove(&look);
        Some((place.0, look))
    }

    /// How many looks wait for more than time.
    pub(super) fn left(&self) -> usize {
        self.places.values().filter(|place| !place.is_timer).count()
    }

    /// All steps that wait are due now.
    pub(super) fn hurry(&mut self) {
        let waiting: Vec<_> = self.due.values().cloned().collect();
        for look in waiting {
            if self.places.get(&look).is_some_and(|place| !place.is_timer && place.due > self.moment) {
                self.put(look, self.moment, false);
            }
        }
    }

    /// When the next step is due.
    pub(super) fn next_due(&self) -> Option<Duration> {
        let mut free = self.due.iter().filter(|(_, look)| !self.held.contains(&look.controller));
        free.next().map(|((due, _), _)| *due)
    }
}

/// A part of a time that looks drawn at random, and is the same for the same number.
fn part_of(most: Duration, number: u64) -> Duration {
    let mixed = (number ^ (number >> 7)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    let mixed = u32::try_from(mixed).unwrap_or_default();
    most * mixed / 1023
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(name: &str) -> Look {
        let resource = Resource::new("", "pods");
        Look { controller: ClusterController::Node, resource, path: Path::new(Some("a"), name) }
    }

    fn popped(queue: &mut Queue, until: u64) -> Vec<(u128, String)> {
        let next = |queue: &mut Queue| queue.pop(Duration::from_secs(until));
        std::iter::from_fn(|| next(queue))
            .map(|(due, look)| (due.as_secs().into(), look.path.name().to_owned()))
            .collect()
    }

    #[test]
    fn what_is_due_comes_in_its_order_and_once() {
        let mut queue = Queue::default();
        queue.look_again(look("timer"), Duration::from_secs(5));
        queue.look_again(look("timer"), Duration::from_secs(7));
        queue.look_at(look("b"));
        queue.look_at(look("a"));
        queue.look_at(look("b"));
        assert_eq!(queue.next_due(), Some(Duration::ZERO));
        assert_eq!(popped(&mut queue, 4), [(0, "b".to_owned()), (0, "a".to_owned())]);
        assert_eq!(queue.next_due(), Some(Duration::from_secs(5)));
        assert_eq!(popped(&mut queue, 9), [(5, "timer".to_owned())]);
        assert_eq!(queue.next_due(), None);
    }

    #[test]
    fn a_change_is_not_later_than_a_timer_and_not_sooner_than_drawn() {
        let slow = Pace::Chosen(Arc::new(|_| Duration::from_secs(9)));
        let mut queue = Queue { pace: slow, ..Queue::default() };
        queue.look_at(look("late"));
        queue.moment = Duration::from_secs(3);
        queue.look_at(look("late"));
        queue.look_again(look("late"), Duration::ZERO);
        queue.look_again(look("soon"), Duration::from_secs(1));
        queue.look_at(look("soon"));
        assert_eq!(popped(&mut queue, 99), [(4, "soon".to_owned()), (9, "late".to_owned())]);
    }

    #[test]
    fn a_controller_that_is_held_does_nothing() {
        let mut queue = Queue::default();
        queue.held.insert(ClusterController::Node);
        queue.look_at(look("a"));
        assert_eq!((queue.next_due(), popped(&mut queue, 1)), (None, vec![]));
        queue.held.clear();
        assert_eq!(popped(&mut queue, 1).len(), 1);
    }

    #[test]
    fn drawn_delays_are_spread_over_the_whole_time() {
        let delays: Vec<_> = (0..200).map(|number| part_of(Duration::from_millis(200), number)).collect();
        assert!(delays.iter().all(|delay| *delay <= Duration::from_millis(200)));
        let quarter = |part: u32| {
            let of = |delay: &&Duration| delay.as_millis() / 51 == u128::from(part);
            delays.iter().filter(of).count()
        };
        assert!((0..4).all(|part| quarter(part) > 20), "{delays:?}");
    }
}
