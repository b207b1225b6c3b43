//! The indexes of a Job's Pods: which have succeeded, which have failed. Pure.

use std::{collections::BTreeSet, fmt::Write};

use serde_json::Value;

use super::{super::view::text, INDEX};

/// Numbers of Pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexes(pub(super) BTreeSet<i64>);

impl Indexes {
    /// Reads what a status or a policy says, as `1,3-5`. What is not below `completions` is left out.
    pub(super) fn read(text: &str, completions: i64) -> Self {
        let mut all = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
                all.extend(first..=last.min(completions - 1));
            }
        }
        Self(all)
    }

    pub(super) fn len(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or_default()
    }

    /// As in a status: ranges of three and more are written as such.
    pub(super) fn show(&self) -> String {
        let mut shown = String::new();
        let mut rest = self.0.iter().copied().peekable();
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if_eq(&(last + 1)) {
                last = next;
            }
            if !shown.is_empty() {
                shown.push(',');
            }
            let _ = match last - first {
                0 => write!(shown, "{first}"),
                1 => write!(shown, "{first},{last}"),
                _ => write!(shown, "{first}-{last}"),
            };
        }
        shown
    }
}

/// The index of a Pod.
pub(super) fn of(pod: &Value) -> Option<i64> {
    text(&pod["metadata"]["annotations"][INDEX]).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_read_and_shown() {
        for text in ["", "3", "1,2", "1-3", "0,2,3,5-8"] {
            assert_eq!(Indexes::read(text, 9).show(), text);
        }
        assert_eq!(Indexes::read("1-7,9", 4).show(), "1-3");
    }
}
