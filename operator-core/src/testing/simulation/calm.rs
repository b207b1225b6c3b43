//! Checks whether the calm run itself is right: the other schedules are compared with it, so a defect that appears
//! without any bad luck would look right in all of them.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;

use super::{
    Oracle, Violation,
    record::{Actor, Call},
};
use crate::testing::faults::Verb;

/// What is wrong in the calm run. Clones are the same. Other schedules record nothing here.
#[derive(Clone, Debug, Default)]
pub(super) struct Complaints(Option<Arc<Mutex<ComplaintList>>>);

#[derive(Debug, Default)]
struct ComplaintList {
    made: Vec<String>,
    /// The texts of complaints that the test expects in the calm run, and whether they have occurred.
    expected: Vec<(String, bool)>,
}

/// The maximum number of complaints in the report.
const MOST_TOLD: usize = 8;

impl Complaints {
    /// Those of a calm run.
    pub(super) fn listening() -> Self {
        Self(Some(Arc::default()))
    }

    /// Whether complaints are recorded.
    pub(super) fn wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Something is wrong.
    pub(super) fn complain(&self, what: impl fmt::Display) {
        if let Some(state) = &self.0 {
            state.lock().made.push(what.to_string());
        }
    }

    /// Complaints with this text belong to the calm run.
    pub(super) fn expect(&self, text: &str) {
        if let Some(state) = &self.0 {
            state.lock().expected.push((text.to_owned(), false));
        }
    }

    /// The server has refused a request of the operator. A read that finds nothing isn't a refusal; everything else is:
    /// users wait until the operator is done, so even a conflict is one of the operator with itself.
    pub(super) fn answered(&self, call: &Call) {
        let refused = call.code.filter(|code| (400..500).contains(code));
        let Some(code) = refused.filter(|_| self.wanted() && matches!(call.by, Actor::Operator(_))) else {
            return;
        };
        if code == 404 && call.target.verb == Verb::Get {
            return;
        }
        self.complain(call);
    }

    /// The complaints that were not expected, and the expected ones that never occurred.
    pub(super) fn judge(&self) -> Vec<Violation> {
        let Some(state) = &self.0 else { return Vec::new() };
        let state = &mut *state.lock();
        let mut left = Vec::new();
        for complaint in state.made.drain(..) {
            let mut expected = false;
            for (text, happened) in &mut state.expected {
                if complaint.contains(text.as_str()) {
                    (*happened, expected) = (true, true);
                }
            }
            if !expected && !left.contains(&complaint) {
                left.push(complaint);
            }
        }
        let never = state.expected.drain(..).filter(|(_, happened)| !happened);
        left.extend(never.map(|(text, _)| format!("{text:?} is expected, and never happens")));
        first(MOST_TOLD, left)
            .into_iter()
            .map(|message| Violation { oracle: Oracle::CalmRun, message })
            .collect()
    }
}

/// The first of these texts, and how many more there are.
pub(super) fn first(most: usize, mut texts: Vec<String>) -> Vec<String> {
    if texts.len() > most {
        let more = texts.len() - most;
        texts.truncate(most);
        texts.push(format!("and {more} more"));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_no_complaint_and_has_to_happen() {
        let complaints = Complaints::listening();
        complaints.complain("a run of shop/a fails: no html");
        complaints.complain("a run of shop/b fails: no bread");
        complaints.complain("a run of shop/b fails: no bread");
        complaints.expect("no html");
        complaints.expect("no milk");
        let told: Vec<String> = complaints.judge().into_iter().map(|violation| violation.message).collect();
        assert_eq!(told, ["a run of shop/b fails: no bread", "\"no milk\" is expected, and never happens"]);
    }
}
