//! The code is compared with the table of reasons.

use std::sync::LazyLock;

use operator_core::status::conditions::ConditionStatus;

use super::*;

/// A line of `priorities.tsv`.
pub(crate) struct Line {
    pub(crate) priority: u8,
    pub(crate) reason: Reason,
    pub(crate) is_true: bool,
    pub(crate) class: Option<u8>,
    pub(crate) kind: &'static str,
}

static LINES: LazyLock<Vec<Line>> = LazyLock::new(read);

pub(crate) fn lines() -> &'static [Line] {
    &LINES
}

fn read() -> Vec<Line> {
    let lines = include_str!("../priorities.tsv").lines().filter(|line| !line.starts_with('#')).skip(1);
    let line = |line: &'static str| {
        let [priority, reason, status, class, kind] =
            line.split('\t').collect::<Vec<_>>().try_into().expect("five cells");
        Line {
            priority: priority.parse().expect("a priority"),
            reason: Reason::parse(reason).unwrap_or_else(|| panic!("there is no {reason}")),
            is_true: status == "True",
            class: class.parse().ok(),
            kind,
        }
    };
    lines.map(line).collect()
}

#[test]
fn each_reason_is_what_the_table_says() {
    let lines = lines();
    assert_eq!(lines.len(), 23);
    for (at, line) in lines.iter().enumerate() {
        let reason = line.reason;
        assert_eq!(reason as usize, at, "{reason} is at its place");
        assert_eq!(reason.priority(), line.priority, "{reason}");
        assert_eq!(reason.status() == ConditionStatus::True, line.is_true, "{reason}");
        assert_eq!(reason.is_healthy(), line.kind == "healthy", "{reason}");
        assert_eq!(reason.is_progress(), line.kind == "progress", "{reason}");
        assert_eq!(Reason::parse(reason.as_str()), Some(reason));
        assert_eq!(format!("{reason:?}"), reason.to_string());
        for other in lines {
            let together = reason == other.reason || (line.class.is_some() && line.class == other.class);
            assert_eq!(reason.is_told_with(other.reason), together, "{reason} with {}", other.reason);
        }
    }
    assert!(lines.is_sorted_by(|before, after| before.priority >= after.priority), "the worst comes first");
}

#[test]
fn a_foreign_reason_is_none_of_them() {
    for foreign in ["", "healthy", "AsExpected", "Healthy "] {
        assert_eq!(Reason::parse(foreign), None, "{foreign}");
    }
}
