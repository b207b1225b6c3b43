//! Why a run happens, as a small set that can be copied.

use std::fmt;

/// The position of an event source within its controller; the primary's own source is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceIndex(pub u8);

impl SourceIndex {
    /// The maximum number of event sources of a controller.
    pub(crate) const COUNT: usize = u8::MAX as usize + 1;

    /// All positions, in order.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(Self)
    }
}

/// One reason for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The primary appeared in the initial list.
    InitialList,
    /// The primary was created.
    Created,
    /// The primary's spec changed (its generation grew), or the primary has no generation and changed.
    Changed,
    /// The primary was marked for deletion.
    MarkedForDeletion,
    /// A secondary, or something outside the cluster, changed.
    Source(SourceIndex),
    /// A secondary that names the primary as its owner is gone; counts as [`Cause::Source`] as well. The primary may be
    /// gone, too, so such a run starts by reading the live primary.
    OwnedGone(SourceIndex),
    /// The delay after a failure is over.
    Retry,
    /// The delay that the last run requested is over.
    Reschedule,
    /// The maximum time between two runs is over.
    MaxInterval,
    /// The primary is gone; only with [`trigger_on_all_events`](crate::ControllerBuilder::trigger_on_all_events).
    Deleted,
}

const INITIAL_LIST: u16 = 1;
const CREATED: u16 = 1 << 1;
const CHANGED: u16 = 1 << 2;
const MARKED_FOR_DELETION: u16 = 1 << 3;
const RETRY: u16 = 1 << 4;
const RESCHEDULE: u16 = 1 << 5;
const MAX_INTERVAL: u16 = 1 << 6;
const OWNED_GONE: u16 = 1 << 7;
const DELETED: u16 = 1 << 8;

/// All reasons for one run. The reasons of events that are covered by one run are combined.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Causes {
    flags: u16,
    /// One bit for each event source; sources beyond the last bit share it.
    sources: u32,
}

impl Causes {
    /// No reason.
    pub const NONE: Self = Self { flags: 0, sources: 0 };

    /// Adds a reason.
    pub fn insert(&mut self, cause: Cause) {
        match cause {
            Cause::InitialList => self.flags |= INITIAL_LIST,
            Cause::Created => self.flags |= CREATED,
            Cause::Changed => self.flags |= CHANGED,
            Cause::MarkedForDeletion => self.flags |= MARKED_FOR_DELETION,
            Cause::Retry => self.flags |= RETRY,
            Cause::Reschedule => self.flags |= RESCHEDULE,
            Cause::MaxInterval => self.flags |= MAX_INTERVAL,
            Cause::Deleted => self.flags |= DELETED,
            Cause::Source(SourceIndex(index)) => self.sources |= 1 << u32::from(index).min(u32::BITS - 1),
            Cause::OwnedGone(source) => {
                self.flags |= OWNED_GONE;
                self.insert(Cause::Source(source));
            }
        }
    }

    /// Adds all reasons of `other`.
    pub fn extend(&mut self, other: Self) {
        self.flags |= other.flags;
        self.sources |= other.sources;
    }

    /// Whether there is no reason.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether `cause` is among them.
    #[must_use]
    pub fn contains(self, cause: Cause) -> bool {
        let mut with = self;
        with.insert(cause);
        with == self
    }

    /// Whether anything that the primary owned is gone.
    #[must_use]
    pub fn include_owned_gone(self) -> bool {
        self.flags & OWNED_GONE != 0
    }

    /// Whether an event of another source than this one is among them.
    pub(crate) fn include_others_than(self, source: SourceIndex) -> bool {
        self.sources & !Self::from(Cause::Source(source)).sources != 0
    }

    /// Describes the reasons; `source_name` names an event source by its index.
    pub fn describe<N: fmt::Display>(self, source_name: impl Fn(SourceIndex) -> N) -> String {
        const WORDS: [(u16, &str); 8] = [
            (CREATED, "created"),
            (INITIAL_LIST, "found at start"),
            (CHANGED, "changed"),
            (MARKED_FOR_DELETION, "marked for deletion"),
            (DELETED, "deleted"),
            (RETRY, "retry"),
            (RESCHEDULE, "timer"),
            (MAX_INTERVAL, "maximum interval"),
        ];
        let mut words: Vec<&str> =
            WORDS.iter().filter(|(flag, _)| self.flags & flag != 0).map(|(_, word)| *word).collect();
        let changed: Vec<String> = (0..32u8)
            .filter(|index| self.sources & (1 << index) != 0)
            .map(|index| format!("{} changed", source_name(SourceIndex(index))))
            .collect();
        words.extend(changed.iter().map(String::as_str));
        if words.is_empty() { "unknown".to_owned() } else { words.join(", ") }
    }
}

impl From<Cause> for Causes {
    fn from(cause: Cause) -> Self {
        let mut causes = Self::NONE;
        causes.insert(cause);
        causes
    }
}

impl fmt::Debug for Causes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|_| "source"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_add_up_and_are_said_in_words() {
        let mut causes = Causes::from(Cause::Created);
        causes.insert(Cause::Source(SourceIndex(1)));
        assert!(causes.contains(Cause::Created));
        assert!(!causes.contains(Cause::Source(SourceIndex(0))));
        assert_eq!(
            causes.describe(|index| ["Deployment", "Service"][usize::from(index.0)]),
            "created, Service changed"
        );
    }

    #[test]
    fn the_end_of_something_owned_is_a_change_of_its_source() {
        let causes = Causes::from(Cause::OwnedGone(SourceIndex(1)));
        assert!(causes.contains(Cause::Source(SourceIndex(1))));
        assert!(
            causes.include_owned_gone() && !Causes::from(Cause::Source(SourceIndex(1))).include_owned_gone()
        );
        assert_eq!(causes.describe(|_| "Service"), "Service changed");
    }

    #[test]
    fn sources_beyond_the_last_bit_share_it() {
        let causes = Causes::from(Cause::Source(SourceIndex(200)));
        assert!(causes.contains(Cause::Source(SourceIndex(31))));
    }
}
