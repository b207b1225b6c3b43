//! What a node has written last, and what came of it. Pure.
//!
//! ```text
//! write ──▶ answer ── as desired? ── no ──▶ remembered: the desired state, and the content that came of it
//!                                                  │
//! differs ── the same desired state, and the same content? ── yes ──▶ as good as it gets: nothing to do
//!    │ no
//!    ▼
//! another desired state for the same primary? ── yes ──▶ the third in a row is reported, and further ones wait;
//!                                                        a few seconds at most if an event of another source is a reason
//! ```
//!
//! # Guarantees
//! - It is kept with the primary, in memory: a restart costs one more write.
//! - A write whose outcome isn't what was written isn't repeated while the desired state and the object stay the same.
//! - An object isn't deleted because of a difference that it had when it was created with the same desired state.
//! - If a node wants another state each time, or its object has to be created again each time, the writes become rare.

use std::{collections::BTreeMap, num::NonZeroU64, sync::Arc, time::Duration};

use crate::{
    environment::Now,
    resource::{ObjectKey, ResourceType},
};

/// So many writes in a row without a reason are made at once; the last of them is reported.
const AT_ONCE: u32 = 2;

/// So many writes for which an event of another source may be the reason count as one without a reason.
const GIVEN: u32 = 10;

/// The longest pause before such a write: the events may be about what the node's own workflow has written, too.
const LONGEST_IF_GIVEN: Duration = Duration::from_secs(5);

/// The pause before the next one, which is doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

const LONGEST_PAUSE: Duration = Duration::from_secs(270);

/// Writes that are further apart aren't in a row.
const APART: Duration = Duration::from_secs(600);

/// The last writes for one primary, by node and object. A node may have objects of several kinds with the same name.
pub(super) type Written = BTreeMap<(Arc<str>, ResourceType, ObjectKey), LastWrite>;

/// What a node wants to write.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteWish {
    pub(super) state: Option<NonZeroU64>,
    /// The generation of the primary.
    pub(super) of: Option<String>,
    /// Whether a source other than that of the node's own objects has caused the run.
    pub(super) is_given: bool,
    pub(super) at: Now,
}

/// The last write of one object.
#[derive(Debug, Default)]
pub(super) struct LastWrite {
    wish: WriteWish,
    uid: Option<String>,
    /// The number of writes in a row for which nothing outside was the reason, multiplied by [`GIVEN`].
    row: u32,
    /// Whether such a row was reported.
    told: bool,
    /// Whether anything outside may be the reason for the next write.
    is_given: bool,
    /// What differed when the object was created, if that was in this state.
    created_with: Option<Vec<String>>,
    /// What differed after the last update.
    updated_to: Option<Vec<String>>,
    content: Option<NonZeroU64>,
}

impl LastWrite {
    /// How long this write has to wait, and whether its row is to be reported.
    pub(super) fn due(&mut self, wish: &WriteWish) -> (Duration, bool) {
        self.is_given |= wish.is_given;
        let row = self.row_with(wish);
        let is_news = row / GIVEN >= AT_ONCE && !self.is_given && !self.told;
        self.told |= is_news;
        let longest = if self.is_given { LONGEST_IF_GIVEN } else { LONGEST_PAUSE };
        (pause(row).min(longest).saturating_sub(wish.at - self.wish.at), is_news)
    }

    /// Records a write, at which paths its outcome differs, and the object's content then. Returns whether that is news.
    pub(super) fn note(
        &mut self,
        wish: WriteWish,
        uid: Option<&str>,
        is_new: bool,
        paths: Option<Vec<String>>,
        content: Option<NonZeroU64>,
    ) -> bool {
        let is_same = self.wish.state == wish.state;
        if !is_same || self.wish.of != wish.of {
            self.row = self.row_with(&wish);
            self.told &= self.row > 0;
        }
        (self.wish, self.uid, self.content) = (wish, uid.map(str::to_owned), content);
        self.is_given = false;
        if is_new {
            (self.created_with, self.updated_to) = (paths, None);
            return false;
        }
        self.created_with.take_if(|_| !is_same);
        let is_news = paths.is_some() && (!is_same || self.updated_to != paths);
        self.updated_to = paths;
        is_news
    }

    /// The content to which an update to this state has led, if that isn't what was written: another one would do the same.
    pub(super) fn outcome(&self, wish: &WriteWish) -> Option<NonZeroU64> {
        self.content.filter(|_| self.updated_to.is_some() && self.wish.state == wish.state)
    }

    /// Whether the object may be deleted, to be created again, because it differs at these paths. That is recorded.
    pub(super) fn may_recreate(&mut self, wish: &WriteWish, uid: Option<&str>, paths: &[String]) -> bool {
        // It is another object, or was made in another state.
        if self.wish.state != wish.state || self.uid.as_deref() != uid {
            return true;
        }
        let had = |differed: &Vec<String>| paths.iter().all(|path| differed.contains(path));
        let row = self.row_after(wish, GIVEN);
        let may = !self.created_with.as_ref().is_some_and(had) && pause(row) <= wish.at - self.wish.at;
        if may {
            (self.row, self.wish.at) = (row, wish.at);
        }
        may
    }

    /// The row with a write of another state.
    fn row_with(&self, wish: &WriteWish) -> u32 {
        if self.uid.is_none() || self.wish.of != wish.of || self.wish.state == wish.state {
            return 0;
        }
        self.row_after(wish, if self.is_given || wish.is_given { 1 } else { GIVEN })
    }

    fn row_after(&self, wish: &WriteWish, counts: u32) -> u32 {
        if wish.at - self.wish.at < APART { self.row.saturating_add(counts) } else { 0 }
    }
}

/// The pause before this write in a row.
fn pause(row: u32) -> Duration {
    match (row / GIVEN).checked_sub(AT_ONCE + 1) {
        Some(doubled) => FIRST_PAUSE.saturating_mul(1 << doubled.min(16)).min(LONGEST_PAUSE),
        None => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(state: u64, of: u64, seconds: u64) -> WriteWish {
        let at = Now::at(Duration::from_secs(seconds));
        WriteWish { state: NonZeroU64::new(state), of: Some(of.to_string()), is_given: false, at }
    }

    fn given(state: u64, of: u64, seconds: u64) -> WriteWish {
        WriteWish { is_given: true, ..wish(state, of, seconds) }
    }

    fn paths(path: &str) -> Vec<String> {
        vec![path.to_owned()]
    }

    /// An update, or a creation, with this outcome.
    fn written(last: &mut LastWrite, wish: WriteWish, is_new: bool, path: &str, content: u64) -> bool {
        let paths = Some(paths(path)).filter(|_| !path.is_empty());
        last.note(wish, Some("u"), is_new, paths, NonZeroU64::new(content))
    }

    #[test]
    fn another_state_each_time_is_written_ever_less_often_until_the_primary_changes() {
        let (mut last, mut now, mut writes, mut told) = (LastWrite::default(), 0, Vec::new(), Vec::new());
        for state in 1.. {
            let (wait, is_news) = last.due(&wish(state, 1, now));
            now += wait.as_secs();
            if now > 3600 {
                break;
            }
            told.extend(is_news.then_some(state));
            written(&mut last, wish(state, 1, now), state == 1, "", 7);
            writes.push(now);
        }
        assert_eq!(writes[..8], [0, 0, 0, 1, 3, 7, 15, 31]);
        assert_eq!(told, [3]);
        let gaps: Vec<_> = writes.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(gaps.is_sorted() && gaps.last() == Some(&270), "{gaps:?}");
        assert_eq!(last.due(&wish(1, 2, now)), (Duration::ZERO, false), "the primary has changed");
        assert_eq!(last.due(&wish(1000, 1, now + 600)), (Duration::ZERO, false), "that is long ago");
    }

    #[test]
    fn what_other_sources_cause_is_written_at_once_or_in_seconds_and_not_reported() {
        let (mut last, mut now, mut waits) = (LastWrite::default(), 0, Vec::new());
        for state in 1..=200 {
            let (wait, is_news) = last.due(&given(state, 1, now));
            assert!(!is_news);
            waits.push(wait.as_secs());
            // Its turn comes by the clock, and the reason is still that of the first run.
            assert_eq!(last.due(&wish(state, 1, now)), (wait, false));
            now += wait.as_secs();
            written(&mut last, wish(state, 1, now), state == 1, "", 7);
        }
        assert!(waits[..30].iter().all(|wait| *wait == 0), "{waits:?}");
        assert!(waits.is_sorted() && waits.last() == Some(&5), "{waits:?}");
        assert!(last.due(&wish(201, 1, now)).1, "that has no reason");
    }

    #[test]
    fn the_same_state_is_written_again_at_once_whatever_others_do() {
        let mut last = LastWrite::default();
        for second in 0..100 {
            assert_eq!(last.due(&wish(1, 1, second)), (Duration::ZERO, false));
            assert!(!written(&mut last, wish(1, 1, second), second == 0, "", 7));
        }
    }

    #[test]
    fn an_outcome_that_differs_is_news_once_and_counts_as_long_as_the_state_is_the_same() {
        let (mut last, seven) = (LastWrite::default(), NonZeroU64::new(7));
        assert!(!written(&mut last, wish(1, 1, 0), true, "spec.a", 7));
        assert_eq!(last.outcome(&wish(1, 1, 0)), None, "an update may do better than the creation");
        assert!(written(&mut last, wish(1, 1, 0), false, "spec.a", 7));
        assert_eq!(last.outcome(&wish(1, 1, 0)), seven);
        assert_eq!(last.outcome(&wish(1, 2, 0)), seven, "a change of the primary makes no difference");
        assert_eq!(last.outcome(&wish(2, 1, 0)), None);
        assert!(!written(&mut last, wish(1, 1, 1), false, "spec.a", 8), "it was told");
        assert!(written(&mut last, wish(1, 1, 1), false, "spec.b", 8));
        assert!(!written(&mut last, wish(1, 1, 1), false, "", 8));
        assert_eq!(last.outcome(&wish(1, 1, 0)), None, "it is as it was written");
    }

    #[test]
    fn an_object_is_not_created_again_for_what_differed_when_it_was_created() {
        let mut last = LastWrite::default();
        assert!(last.may_recreate(&wish(1, 1, 0), Some("u"), &paths("spec.a")), "others have made it");
        written(&mut last, wish(1, 1, 0), true, "spec.a", 7);
        assert!(!last.may_recreate(&wish(1, 1, 9999), Some("u"), &paths("spec.a")));
        written(&mut last, wish(1, 2, 1), false, "spec.a", 7);
        assert!(!last.may_recreate(&wish(1, 2, 9999), Some("u"), &paths("spec.a")), "the state is the same");
        assert!(last.may_recreate(&wish(2, 1, 0), Some("u"), &paths("spec.a")), "another state");
        assert!(last.may_recreate(&wish(1, 1, 0), Some("v"), &paths("spec.a")), "another object");
        assert!(last.may_recreate(&wish(1, 1, 9), Some("u"), &paths("spec.b")), "that is a later change");
    }

    #[test]
    fn what_is_changed_each_time_right_after_it_was_created_is_created_again_ever_less_often() {
        let (mut last, mut created) = (LastWrite::default(), vec![0]);
        written(&mut last, wish(1, 1, 0), true, "", 7);
        for second in 0..3600 {
            if last.may_recreate(&wish(1, 1, second), Some("u"), &paths("spec.a")) {
                written(&mut last, wish(1, 1, second), true, "", 7);
                created.push(second);
            }
        }
        let gaps: Vec<_> = created.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(gaps.is_sorted() && gaps.last() == Some(&270), "{gaps:?}");
    }
}
