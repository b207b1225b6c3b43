//! Which Events are written: as the recorders of real controllers decide it. Pure.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Said;
use crate::in_process::store::Path;

/// So many Events with the same reason about an object are told one by one; the others are combined.
const SINGLE: usize = 10;
/// Until nothing of that sort has happened for so long.
const SIMILAR_FOR: SignedDuration = SignedDuration::from_mins(10);
/// So many Events of one type about an object may come at once,
const BURST: i64 = 25;
/// and one more after so many seconds each.
const REFILL: i64 = 300;

/// What is known about former Events.
#[derive(Clone, Debug, Default)]
pub(in crate::in_process::steps) struct Recorder {
    /// Whether Events are written at all.
    pub(in crate::in_process::steps) is_on: bool,
    number: u64,
    known: BTreeMap<String, (Path, u64)>,
    similar: BTreeMap<String, (BTreeSet<String>, Timestamp)>,
    /// How many seconds' worth of Events are left, and when that was so.
    left: BTreeMap<String, (i64, Timestamp)>,
    written: VecDeque<(Timestamp, Path)>,
}

/// What to do about something that is said.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Too much is said about this object.
    Silence,
    /// It was said before: only the count changes.
    Again { path: Path, count: u64 },
    /// It is written with this message.
    New { key: String, message: String },
}

impl Recorder {
    /// A number that no other Event has.
    pub(super) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    pub(super) fn judge(
        &mut self,
        component: &str,
        regarding: &Value,
        said: &Said,
        now: Timestamp,
    ) -> Verdict {
        let uid = regarding["uid"].as_str().unwrap_or_default();
        let about = format!("{component} {uid} {} {}", regarding["name"], said.is_warning);
        if !self.is_affordable(&about, now) {
            return Verdict::Silence;
        }
        let of_reason = format!("{about} {}", said.reason);
        let part = said.part.as_deref().unwrap_or_default();
        let (similar, last) = self.similar.entry(of_reason.clone()).or_insert((BTreeSet::new(), now));
        if now.duration_since(*last) > SIMILAR_FOR {
            similar.clear();
        }
        similar.insert(said.message.clone());
        *last = now;
        let (key, message) = if similar.len() < SINGLE {
            (format!("{of_reason} {part} {}", said.message), said.message.clone())
        } else {
            similar.pop_first();
            (of_reason, format!("(combined from similar events): {}", said.message))
        };
        match self.known.get_mut(&key) {
            Some((path, count)) => {
                *count += 1;
                if let Some(written) = self.written.iter_mut().find(|(_, other)| other == path) {
                    written.0 = now;
                }
                Verdict::Again { path: path.clone(), count: *count }
            }
            None => Verdict::New { key, message },
        }
    }

    /// An Event has been written.
    pub(super) fn written(&mut self, key: String, path: Path, now: Timestamp) {
        self.known.insert(key, (path.clone(), 1));
        self.written.push_back((now, path));
    }

    /// Forgets the Events that have not happened again since a time, and returns them.
    pub(super) fn outdated(&mut self, since: Timestamp) -> Vec<Path> {
        if self.written.front().is_none_or(|(at, _)| *at >= since) {
            return Vec::new();
        }
        let (old, kept): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.written).into_iter().partition(|(at, _)| *at < since);
        self.written = kept;
        let old: BTreeSet<Path> = old.into_iter().map(|(_, path)| path).collect();
        self.known.retain(|_, (path, _)| !old.contains(path));
        self.similar.retain(|_, (_, last)| *last >= since);
        self.left.retain(|_, (left, at)| *left < BURST * REFILL && *at >= since);
        old.into_iter().collect()
    }

    fn is_affordable(&mut self, about: &str, now: Timestamp) -> bool {
        let (left, at) = self.left.entry(about.to_owned()).or_insert((BURST * REFILL, now));
        *left = left.saturating_add(now.duration_since(*at).as_secs()).min(BURST * REFILL);
        *at = now;
        let affordable = *left >= REFILL;
        if affordable {
            *left -= REFILL;
        }
        affordable
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Says something, and returns how it is written.
    fn say(recorder: &mut Recorder, message: &str, second: i64) -> String {
        let now = Timestamp::from_second(second).expect("a time");
        let said = Said::normal("Told", message.to_owned());
        match recorder.judge("me", &json!({ "uid": "u", "name": "n" }), &said, now) {
            Verdict::Silence => "-".to_owned(),
            Verdict::Again { path, count } => format!("{} {count}", path.name()),
            Verdict::New { key, message } => {
                let name = format!("e{}", recorder.next_number());
                recorder.written(key, Path::new(Some("a"), &name), now);
                format!("{name} {message}")
            }
        }
    }

    #[test]
    fn the_same_is_counted_and_what_is_similar_combined() {
        let mut recorder = Recorder::default();
        assert_eq!([say(&mut recorder, "a", 0), say(&mut recorder, "a", 1)], ["e1 a", "e1 2"]);
        for number in 2..10 {
            say(&mut recorder, &number.to_string(), 2);
        }
        assert_eq!(say(&mut recorder, "x", 3), "e10 (combined from similar events): x");
        assert_eq!(say(&mut recorder, "y", 3), "e10 2");
        assert_eq!(say(&mut recorder, "z", 700), "e11 z", "nothing was said for a while");
    }

    #[test]
    fn who_says_too_much_is_not_heard() {
        let mut recorder = Recorder::default();
        let heard =
            |recorder: &mut Recorder, second| (0..30).filter(|_| say(recorder, "a", second) != "-").count();
        assert_eq!(
            (heard(&mut recorder, 0), heard(&mut recorder, 299), heard(&mut recorder, 600)),
            (25, 0, 2)
        );
    }

    #[test]
    fn what_is_old_is_forgotten() {
        let mut recorder = Recorder::default();
        say(&mut recorder, "a", 0);
        say(&mut recorder, "b", 0);
        say(&mut recorder, "b", 50);
        let at = |second| Timestamp::from_second(second).expect("a time");
        assert_eq!(recorder.outdated(at(0)), []);
        assert_eq!(recorder.outdated(at(10)), [Path::new(Some("a"), "e1")]);
        assert_eq!([say(&mut recorder, "a", 60), say(&mut recorder, "b", 60)], ["e3 a", "e2 3"]);
    }
}
