//! What a node has written last, and what came of it. Pure.
//!
//! ```text
//! write ──▶ answer ── as desired? ── no ──▶ remembered: the desired state, and the content that came of it
//!                                                  │
//! differs ── the same desired state, and the same content? ── yes ──▶ as good as it gets: nothing to do
//!    │ no
//!    ▼
//! another desired state for the same primary? ── yes ──▶ the third in a row is reported, and further ones wait
//! ```
//!
//! It is kept with the primary, in memory: after a restart, each of these costs one more write.
//!
//! # Guarantees
//! - A write whose outcome isn't what was written isn't repeated while the desired state and the object stay the same.
//! - An object isn't deleted because of a difference that it had when it was created with the same desired state.
//! - If a node wants another state each time, or its object has to be created again each time, the writes become rare.

use std::{collections::BTreeMap, num::NonZeroU64, sync::Arc, time::Duration};

use crate::{environment::Now, resource::ObjectKey};

/// So many writes in a row without a reason are made at once; the last of them is reported.
pub(super) const AT_ONCE: u32 = 2;

/// The pause before the next one, which is doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

const LONGEST_PAUSE: Duration = Duration::from_secs(270);

/// Writes that are further apart aren't in a row.
const APART: Duration = Duration::from_secs(600);

/// The last writes for one primary, by node and object.
pub(super) type Written = BTreeMap<(Arc<str>, ObjectKey), LastWrite>;

/// What a node wants now.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DesiredState {
    pub(super) state: Option<NonZeroU64>,
    /// The generation of the primary.
    pub(super) of: Option<String>,
}

/// The difference between what was written and what came of it.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) paths: Vec<String>,
    /// The content of the object.
    pub(super) content: Option<NonZeroU64>,
}

/// The last write of one object.
#[derive(Debug, Default)]
pub(super) struct LastWrite {
    desired: Option<DesiredState>,
    uid: Option<String>,
    at: Now,
    /// The number of writes in a row for which nothing outside was the reason.
    row: u32,
    /// What differed when the object was created, if that was with this desired state.
    created_with: Option<Vec<String>>,
    /// What differed after the last update.
    updated_to: Option<Difference>,
}

impl LastWrite {
    /// The number of writes in a row with this one, and how long it has to wait.
    pub(super) fn due(&self, desired: &DesiredState, now: Now) -> (u32, Duration) {
        let row = match &self.desired {
            Some(last) if last.of != desired.of => 0,
            Some(last) if last.state != desired.state => self.row_with_another(now),
            _ => return (0, Duration::ZERO),
        };
        (row, pause(row).saturating_sub(now - self.at))
    }

    /// Records a write, and what came of it. Returns whether it is new that the outcome differs.
    pub(super) fn note(
        &mut self,
        desired: DesiredState,
        (uid, is_new): (Option<&str>, bool),
        difference: Option<Difference>,
        now: Now,
    ) -> bool {
        let is_same = self.has(&desired);
        if self.desired.as_ref() != Some(&desired) {
            self.row = self.due(&desired, now).0;
        }
        (self.desired, self.uid, self.at) = (Some(desired), uid.map(str::to_owned), now);
        if is_new {
            self.created_with = difference.map(|difference| difference.paths);
            self.updated_to = None;
            return false;
        }
        if !is_same {
            self.created_with = None;
        }
        let paths = |of: &Option<Difference>| of.as_ref().map(|of| of.paths.clone());
        let is_news = difference.is_some() && (!is_same || paths(&self.updated_to) != paths(&difference));
        self.updated_to = difference;
        is_news
    }

    /// The content to which an update to this state has led, if that isn't what was written: another one would do the same.
    pub(super) fn outcome(&self, desired: &DesiredState) -> Option<NonZeroU64> {
        self.updated_to.as_ref().filter(|_| self.has(desired))?.content
    }

    /// Whether the object may be deleted, to be created again, because it differs at these paths. A permission is recorded.
    pub(super) fn may_recreate(
        &mut self,
        desired: &DesiredState,
        uid: Option<&str>,
        paths: &[String],
        now: Now,
    ) -> bool {
        // It is another object, or was made in another state.
        if !self.has(desired) || self.uid.as_deref() != uid {
            return true;
        }
        let had = |differed: &Vec<String>| paths.iter().all(|path| differed.contains(path));
        let row = self.row_with_another(now);
        let may = !self.created_with.as_ref().is_some_and(had) && pause(row) <= now - self.at;
        if may {
            (self.row, self.at) = (row, now);
        }
        may
    }

    /// Whether this state was written last.
    fn has(&self, desired: &DesiredState) -> bool {
        self.desired.as_ref().is_some_and(|last| last.state == desired.state)
    }

    fn row_with_another(&self, now: Now) -> u32 {
        if now - self.at < APART { self.row.saturating_add(1) } else { 0 }
    }
}

/// The pause before this write in a row.
fn pause(row: u32) -> Duration {
    match row.checked_sub(AT_ONCE + 1) {
        Some(doubled) => FIRST_PAUSE.saturating_mul(1 << doubled.min(16)).min(LONGEST_PAUSE),
        None => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(state: u64, of: u64) -> DesiredState {
        DesiredState { state: NonZeroU64::new(state), of: Some(of.to_string()) }
    }

    fn differs(path: &str, content: u64) -> Option<Difference> {
        Some(Difference { paths: vec![path.to_owned()], content: NonZeroU64::new(content) })
    }

    fn at(seconds: u64) -> Now {
        Now::at(Duration::from_secs(seconds))
    }

    #[test]
    fn another_state_each_time_is_written_ever_less_often_until_the_primary_changes() {
        let mut last = LastWrite::default();
        let (mut now, mut writes) = (0, Vec::new());
        for state in 1.. {
            let (row, wait) = last.due(&wants(state, 1), at(now));
            now += wait.as_secs();
            if now > 3600 {
                break;
            }
            assert_eq!(row, u32::try_from(state - 1).unwrap());
            last.note(wants(state, 1), (Some("u"), state == 1), None, at(now));
            writes.push(now);
        }
        assert_eq!(writes[..8], [0, 0, 0, 1, 3, 7, 15, 31]);
        let gaps: Vec<_> = writes.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(gaps.is_sorted() && gaps.last() == Some(&270), "{gaps:?}");
        assert_eq!(last.due(&wants(1, 2), at(now)), (0, Duration::ZERO), "the primary has changed");
        assert_eq!(last.due(&wants(1000, 1), at(now + 600)), (0, Duration::ZERO), "that is long ago");
    }

    #[test]
    fn the_same_state_is_written_again_at_once_whatever_others_do() {
        let mut last = LastWrite::default();
        for second in 0..100 {
            assert_eq!(last.due(&wants(1, 1), at(second)), (0, Duration::ZERO));
            assert!(!last.note(wants(1, 1), (Some("u"), second == 0), None, at(second)));
        }
    }

    #[test]
    fn an_outcome_that_differs_is_news_once_and_counts_as_long_as_the_object_is_the_same() {
        let mut last = LastWrite::default();
        assert!(!last.note(wants(1, 1), (Some("u"), true), differs("spec.a", 7), at(0)));
        assert_eq!(last.outcome(&wants(1, 1)), None, "an update may do better than the creation");
        assert!(last.note(wants(1, 1), (Some("u"), false), differs("spec.a", 7), at(0)));
        assert_eq!(last.outcome(&wants(1, 1)), NonZeroU64::new(7));
        assert_eq!(last.outcome(&wants(1, 2)), NonZeroU64::new(7), "the primary's change makes no difference");
        assert_eq!(last.outcome(&wants(2, 1)), None);
        assert!(!last.note(wants(1, 1), (Some("u"), false), differs("spec.a", 8), at(1)), "it was told");
        assert!(last.note(wants(1, 1), (Some("u"), false), differs("spec.b", 8), at(1)));
        assert!(!last.note(wants(1, 1), (Some("u"), false), None, at(1)));
        assert_eq!(last.outcome(&wants(1, 1)), None, "it is as it was written");
    }

    #[test]
    fn an_object_is_not_created_again_for_what_differed_when_it_was_created() {
        let paths = |path: &str| vec![path.to_owned()];
        let mut last = LastWrite::default();
        assert!(last.may_recreate(&wants(1, 1), Some("u"), &paths("spec.a"), at(0)), "others have made it");
        last.note(wants(1, 1), (Some("u"), true), differs("spec.a", 7), at(0));
        assert!(!last.may_recreate(&wants(1, 1), Some("u"), &paths("spec.a"), at(9999)));
        last.note(wants(1, 2), (Some("u"), false), differs("spec.a", 7), at(1));
        assert!(!last.may_recreate(&wants(1, 2), Some("u"), &paths("spec.a"), at(9999)), "the state is the same");
        assert!(last.may_recreate(&wants(2, 1), Some("u"), &paths("spec.a"), at(0)), "another state");
        assert!(last.may_recreate(&wants(1, 1), Some("v"), &paths("spec.a"), at(0)), "another object");
        assert!(last.may_recreate(&wants(1, 1), Some("u"), &paths("spec.b"), at(0)), "that is a later change");
        // It is changed right after it was created, again and again.
        let mut last = LastWrite::default();
        let mut recreated = 0;
        for second in 0..600 {
            last.note(wants(1, 1), (Some("u"), true), None, at(second));
            recreated += u32::from(last.may_recreate(&wants(1, 1), Some("u"), &paths("spec.a"), at(second)));
        }
        assert!(recreated < 5, "the pause counts from the creation: {recreated}");
    }
}
