//! What goes wrong, and when.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

use super::OtherSystemError;

/// The calls that there are.
const CALLS: [&str; 6] = ["create", "get", "update", "delete", "find", "list"];

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Happens {
    /// Nothing is done, and that is answered.
    Refused(String),
    /// Nothing is done, and nothing answered: the connection breaks.
    RequestLost,
    /// It is done, and the connection breaks.
    AnswerLost,
    /// It is done, and nothing comes.
    NeverAnswered,
    /// It is done twice.
    Doubled,
}

/// The script, and how far it has come.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) latency: Duration,
    pub(super) shows_after: Duration,
    pub(super) deletes_in: Duration,
    /// The end of the outage, if there is one.
    pub(super) down_until: Option<Instant>,
    rate: Option<(usize, Duration)>,
    lately: VecDeque<Instant>,
    /// What happens to the next calls, by their name, and to how many.
    next: BTreeMap<&'static str, VecDeque<(usize, Happens)>>,
}

impl Script {
    /// What happens to the next `times` calls, after what was said before.
    pub(super) fn say(&mut self, times: usize, call: &str, happens: Happens) {
        let name = CALLS.into_iter().find(|name| *name == call);
        let name = name.unwrap_or_else(|| panic!("there is no call `{call}`, only {CALLS:?}"));
        if times > 0 {
            self.next.entry(name).or_default().push_back((times, happens));
        }
    }

    pub(super) fn rate(&mut self, calls: usize, period: Duration) {
        self.rate = Some((calls, period));
        self.lately.clear();
    }

    /// Removes everything about next calls, and ends an outage.
    pub(super) fn forget(&mut self) {
        self.next.clear();
        self.down_until = None;
    }

    /// A call arrives. What happens to it beside that it is done, or why it isn't.
    pub(super) fn arrives(&mut self, call: &str, now: Instant) -> Result<Option<Happens>, OtherSystemError> {
        if self.down_until.is_some_and(|end| now < end) {
            return Err(OtherSystemError::Down);
        }
        if let Some((calls, period)) = self.rate {
            self.lately.retain(|then| now.duration_since(*then) < period);
            if self.lately.len() >= calls {
                let oldest = self.lately.front().map_or(Duration::ZERO, |then| now.duration_since(*then));
                return Err(OtherSystemError::TooManyCalls { again_in: period - oldest });
            }
            self.lately.push_back(now);
        }
        match self.next_of(call) {
            Some(Happens::Refused(why)) => Err(OtherSystemError::Refused(why)),
            Some(Happens::RequestLost) => Err(OtherSystemError::NoAnswer),
            happens => Ok(happens),
        }
    }

    fn next_of(&mut self, call: &str) -> Option<Happens> {
        let next = self.next.get_mut(call)?;
        let (times, happens) = next.front_mut()?;
        *times -= 1;
        match times {
            0 => next.pop_front().map(|(_, happens)| happens),
            _ => Some(happens.clone()),
        }
    }

    /// What was said and has not happened, and how often.
    pub(super) fn unfired(&self) -> Vec<String> {
        let line =
            |call: &str, times: usize, happens: &Happens| format!("{call}: {happens:?}, {times} times");
        let left = self
            .next
            .iter()
            .flat_map(|(call, next)| next.iter().map(move |(times, happens)| line(call, *times, happens)));
        left.collect()
    }
}
