//! The time in which an operator may write: the client's side of leader election.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::environment::Now;

/// The time in which one replica may write. It begins once, is extended while the replica leads, and ends for good.
/// Clones are the same term.
///
/// Whether it holds is a comparison with the clock, made just before each write. No task has to run, or to notice
/// anything, for the term to end: not even in a process that was stopped for a minute.
#[derive(Clone, Default)]
pub(crate) struct Term(Arc<TermState>);

#[derive(Default)]
struct TermState {
    until: Mutex<Until>,
    begun: CancellationToken,
}

#[derive(Clone, Copy, Debug, Default)]
enum Until {
    /// It has not begun.
    #[default]
    Pending,
    At(Now),
    /// It has ended, whatever the clock says.
    Over,
}

impl Term {
    /// Extends it to this moment; a term that is over stays over.
    pub(crate) fn extend(&self, until: Now) {
        let mut state = self.0.until.lock();
        *state = match *state {
            Until::Pending => Until::At(until),
            Until::At(before) => Until::At(before.max(until)),
            Until::Over => Until::Over,
        };
        drop(state);
        self.0.begun.cancel();
    }

    /// Ends it now.
    pub(crate) fn end(&self) {
        *self.0.until.lock() = Until::Over;
    }

    pub(crate) fn holds(&self, now: Now) -> bool {
        matches!(*self.0.until.lock(), Until::At(until) if now < until)
    }

    /// Resolves once it has begun, which may be never.
    pub(crate) async fn begun(&self) {
        self.0.begun.cancelled().await;
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Term").field(&*self.0.until.lock()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;

    use super::*;

    fn at(seconds: u64) -> Now {
        Now::at(Duration::from_secs(seconds))
    }

    #[test]
    fn a_term_holds_from_its_beginning_to_its_last_moment() {
        let term = Term::default();
        assert!(!term.holds(Now::START) && term.begun().now_or_never().is_none());
        term.extend(at(10));
        assert!(term.holds(at(9)) && !term.holds(at(10)) && term.begun().now_or_never().is_some());
        term.extend(at(12));
        term.extend(at(11));
        assert!(term.holds(at(11)) && !term.holds(at(12)), "an earlier moment takes nothing back");
    }

    #[test]
    fn a_term_that_has_ended_does_not_come_back() {
        let term = Term::default();
        term.extend(at(10));
        term.end();
        term.extend(at(20));
        assert!(!term.holds(at(1)));
    }
}
