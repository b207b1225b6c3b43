//! The schedules of the sweeps of a simulation.

use super::{
    Point, SOMEBODY_ACTS,
    fault::{FAULTS, PAIRED, WINDOW, paired},
};
use crate::testing::simulation::{
    CalmRun, Tape, check::CRASH_POINT, choice::fnv, outside::CRASH_AT_CALL, storm,
};

/// The tapes of all sweeps that are wanted: of each, except for the crashes, at most `most`, chosen by the `day`.
pub(in crate::testing::simulation) fn jobs(calm: &CalmRun, most: u64, day: u64) -> Vec<Tape> {
    let mut jobs = crashes(calm);
    jobs.extend(todays(acts(&calm.points), most, day));
    if calm.pairs {
        jobs.extend(todays(singles(&calm.points), most, day));
        jobs.extend(todays(pairs(&calm.points), most, day));
    }
    jobs
}

fn tape(lane: &str, values: Vec<u32>) -> Tape {
    Tape([(lane.to_owned(), values)].into())
}

fn crashes(calm: &CalmRun) -> Vec<Tape> {
    if !calm.sweep {
        return Vec::new();
    }
    let all = |number: u64| 1..=u32::try_from(number).unwrap_or(u32::MAX);
    let points = all(calm.writes).flat_map(|write| [2 * write, 2 * write + 1]);
    let at_writes = points.map(|point| tape(CRASH_POINT, vec![point]));
    at_writes.chain(all(calm.moments).map(|moment| tape(CRASH_AT_CALL, vec![moment]))).collect()
}

fn acts(points: &[Point]) -> Vec<Tape> {
    each(points, SOMEBODY_ACTS, |point| point.acts.len())
}

/// Each fault of each request.
fn singles(points: &[Point]) -> Vec<Tape> {
    each(points, FAULTS, |point| storm::kinds_of(point.verb).len())
}

/// All that can happen to each request, counted from 1.
fn each(points: &[Point], lane: &str, count: impl Fn(&Point) -> usize) -> Vec<Tape> {
    let of = |point: &Point| {
        let (number, count) = (point.number, u32::try_from(count(point)).unwrap_or(0));
        (1..=count).map(move |place| tape(lane, vec![number, place]))
    };
    points.iter().flat_map(of).collect()
}

/// At least this number of requests more than in the calm run follow a fault: it is sent again, and its outcome is
/// read.
const REPEATED: u32 = 4;

/// Each request about an object with each that follows it, both with each of the faults that are paired.
fn pairs(points: &[Point]) -> Vec<Tape> {
    let mut pairs = Vec::new();
    let mut following =
        u32::try_from(points.iter().filter(|point| point.is_named).count()).unwrap_or(u32::MAX);
    for point in points.iter().filter(|point| point.is_named) {
        following -= 1;
        let window = WINDOW.min(following + REPEATED);
        for kind in (0..PAIRED).filter_map(|place| paired(point.verb, place)) {
            let kind = u32::try_from(kind).unwrap_or(0) + 1;
            let next = (1..=window).flat_map(|later| (1..=PAIRED).map(move |next| (later, next)));
            pairs.extend(next.map(|(later, next)| tape(FAULTS, vec![point.number, kind, later, next])));
        }
    }
    pairs
}

/// At most this number, chosen by the day: after some days all have had their turn.
fn todays(mut all: Vec<Tape>, most: u64, day: u64) -> Vec<Tape> {
    let count = u64::try_from(all.len()).unwrap_or(u64::MAX);
    if count <= most {
        return all;
    }
    // Neighbours are much alike, so a day's are picked from everywhere.
    all.sort_by_cached_key(|tape| fnv(&tape.to_string()));
    let first = usize::try_from(day.wrapping_mul(most) % count).unwrap_or(0);
    all.rotate_left(first);
    all.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn after_some_days_all_schedules_have_had_their_turn() {
        let all: Vec<Tape> = (1..=100).map(|number| tape(FAULTS, vec![number, 1])).collect();
        let of = |day| todays(all.clone(), 30, day).iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(of(20_260_131).len(), 30);
        assert_eq!(of(20_260_131), of(20_260_131), "the same all day");
        let four: BTreeSet<String> = (20_260_127..20_260_131).flat_map(of).collect();
        assert_eq!(four.len(), 100);
        assert_eq!(todays(all.clone(), 100, 7), all, "all in their order, where there are no more than that");
    }
}
