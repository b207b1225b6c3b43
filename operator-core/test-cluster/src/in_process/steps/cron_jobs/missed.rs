//! Which time of a schedule is to be served now. Pure.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{super::times::parse, times::Timetable};

/// Clocks differ: the controller comes a little late, but not too early.
const AFTER: Duration = Duration::from_millis(100);

/// More missed times than this are worth a warning.
const MANY: i64 = 100;

/// What a schedule says at one time.
struct Recent {
    /// From when on it was looked.
    since: Timestamp,
    /// The last time that has come.
    last: Option<Timestamp>,
    /// How many times have been missed, roughly.
    missed: i64,
}

/// A schedule whose times can't be told apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Senseless;

/// The last time that has come and was not served; and whether there are too many of them.
pub(super) fn due(
    job: &Value,
    table: &Timetable,
    now: Timestamp,
) -> Result<Option<(Timestamp, bool)>, Senseless> {
    let recent = recent(job, table, now, job["spec"]["startingDeadlineSeconds"].as_i64())?;
    let last = recent.last.filter(|last| *last <= now);
    Ok(last.map(|last| (last, recent.missed > MANY)))
}

/// How long it takes until the next time.
pub(super) fn wait(job: &Value, table: &Timetable, now: Timestamp) -> Option<Duration> {
    let from = match recent(job, table, now, None) {
        Ok(Recent { last: Some(last), .. }) => last,
        Ok(Recent { since, missed: 0, .. }) => since,
        Ok(_) | Err(Senseless) => now,
    };
    let wait = table.next(from)?.duration_since(now);
    Some(Duration::try_from(wait).unwrap_or_default() + AFTER)
}

fn recent(
    job: &Value,
    table: &Timetable,
    now: Timestamp,
    deadline: Option<i64>,
) -> Result<Recent, Senseless> {
    let served = parse(&job["status"]["lastScheduleTime"]);
    let mut since = served.or_else(|| parse(&job["metadata"]["creationTimestamp"])).unwrap_or(now);
    let deadline = deadline.and_then(|seconds| now.checked_sub(SignedDuration::from_secs(seconds)).ok());
    since = deadline.map_or(since, |deadline| deadline.max(since));
    let first = table.next(since).ok_or(Senseless)?;
    if now < first {
        return Ok(Recent { since, last: None, missed: 0 });
    }
    let second = table.next(first).ok_or(Senseless)?;
    if now < second {
        return Ok(Recent { since, last: Some(first), missed: 0 });
    }
    let between = second.duration_since(first).as_secs();
    if between < 1 {
        return Err(Senseless);
    }
    let missed = now.duration_since(first).as_secs() / between + 1;
    // Not each of them is counted: it begins shortly before the last one.
    let back = SignedDuration::from_secs((missed - 2).saturating_mul(between));
    let mut time = first.checked_add(back).map_err(|_| Senseless)?;
    let mut last = None;
    while let Some(next) = table.next(time).filter(|next| *next <= now) {
        (time, last) = (next, Some(next));
    }
    Ok(Recent { since, last, missed })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::in_process::values::workloads::schedule;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn the_last_time_counts_and_a_deadline_forgets() {
        let table = Timetable::new(schedule::parse("0 * * * *").expect("a schedule"), None).expect("a zone");
        let mut job = json!({
            "metadata": { "creationTimestamp": "2024-01-01T00:30:00Z" }, "spec": {}, "status": {},
        });
        let due_at = |job: &Value, now: &str| due(job, &table, at(now)).expect("times");
        assert_eq!(due_at(&job, "2024-01-01T00:59:59Z"), None);
        assert_eq!(due_at(&job, "2024-01-01T01:00:00Z"), Some((at("2024-01-01T01:00:00Z"), false)));
        assert_eq!(due_at(&job, "2024-01-01T04:10:00Z"), Some((at("2024-01-01T04:00:00Z"), false)));
        assert_eq!(due_at(&job, "2024-01-09T04:10:00Z"), Some((at("2024-01-09T04:00:00Z"), true)));
        assert_eq!(wait(&job, &table, at("2024-01-01T00:59:59Z")), Some(Duration::from_millis(1100)));
        job["status"]["lastScheduleTime"] = "2024-01-01T04:00:00Z".into();
        assert_eq!(due_at(&job, "2024-01-01T04:10:00Z"), None);
        job["spec"]["startingDeadlineSeconds"] = 60.into();
        assert_eq!(due_at(&job, "2024-01-01T05:02:00Z"), None);
        assert_eq!(due_at(&job, "2024-01-01T05:00:30Z"), Some((at("2024-01-01T05:00:00Z"), false)));
    }
}
