//! What to ask of the server next. Pure.

use std::{mem, time::Duration};

use crate::{environment::Now, observe::SourceHealth};

use super::failure::{Failure, Subject};

/// What the shell does next. Exactly one thing at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Ask for a page of the list. Answered by [`Input::Page`] or [`Input::Failed`].
    List {
        /// Where the last page ended; `None` for the first page.
        continue_token: Option<String>,
        /// Whether the answer may come in pages.
        paged: bool,
    },
    /// Open a watch that starts after this version. Answered by [`Input::Opened`] or [`Input::Failed`].
    Watch {
        /// Everything up to this version is known.
        version: String,
    },
    /// Read the next line of the open watch. Answered by [`Input::Event`], [`Input::Bookmark`], [`Input::Ended`],
    /// [`Input::Broken`] or [`Input::Failed`].
    Read,
    /// Wait for this time, spread by chance. Answered by [`Input::Waited`].
    Wait(Duration),
}

/// What has happened.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// A page of the list was answered.
    Page {
        /// Where the next page starts; `None` on the last page.
        continue_token: Option<String>,
        /// The version of the list.
        version: Option<String>,
    },
    /// The watch is open.
    Opened,
    /// The watch showed an event.
    Event {
        /// The object's version, where it could be read.
        version: Option<String>,
    },
    /// The watch said that there was nothing else up to this version.
    Bookmark {
        /// The version.
        version: Option<String>,
    },
    /// The watch ended, was cut, or was silent for too long.
    Ended,
    /// A line of the watch was no event: something was lost.
    Broken(Failure),
    /// A request failed, or the watch showed an error.
    Failed(Failure),
    /// The wait is over.
    Waited,
}

/// What the shell does with what it has just received, before the next command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Publish {
    /// Nothing.
    Nothing,
    /// Take in the items of the page.
    Page {
        /// It is the first page: what was listed before is void.
        first: bool,
        /// With it the list is complete as of this version: what was not listed is gone.
        complete: Option<String>,
    },
    /// Take in the event or the bookmark.
    Line,
}

/// The answer to an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) publish: Publish,
    /// The health, where it has changed.
    pub(super) health: Option<SourceHealth>,
    pub(super) next: Command,
}

/// How far the list-watch has come.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Nothing is known, or what is known is too old. Asks for the first page → `Listing` or `Listed`.
    Empty,
    /// Some pages are in. Asks for the next page → `Listed` after the last one, `Empty` when the token has expired.
    Listing {
        continue_token: String,
        /// The version of the first page, which is the version of all of them.
        version: Option<String>,
    },
    /// Everything up to a version is known. Opens a watch → `Watching`, or `Empty` when the version is too old.
    Listed { version: String },
    /// The watch is open. Reads lines → `Listed` when it ends, `Empty` when the version is too old.
    Watching { version: String, since: Now },
}

/// The first wait after a failure.
const FIRST_WAIT: Duration = Duration::from_millis(800);
/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The first wait for a type that the server doesn't know: somebody may be about to install it.
const FIRST_WAIT_FOR_TYPE: Duration = Duration::from_millis(500);
/// The longest wait for an unknown type, in its first minute and after it.
const LONGEST_WAIT_FOR_TYPE: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(5)];
/// So many attempts make up about the first minute.
const ATTEMPTS_IN_FIRST_MINUTE: u32 = 30;
/// A server that asks for more patience than this doesn't get it.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(300);
/// A watch that has lived that long was a good one; one that ends sooner may be a server or a proxy in trouble.
const GOOD_WATCH: Duration = Duration::from_secs(1);
/// After so many failures the version that a watch is to start from is given up, if the server seems not to know it.
pub(super) const FAILURES_UNTIL_RELIST: u32 = 5;

/// The list-watch of one collection.
#[derive(Debug)]
pub(super) struct Fsm {
    state: State,
    /// How to spell advice: what is listed.
    subject: Subject,
    health: SourceHealth,
    /// Failures since the last success.
    failures: u32,
    /// Expired versions since the watch last showed something.
    expired: u32,
    /// Whether lists may come in pages. Not after a list whose pages expired before its end: it may never end.
    paged: bool,
}

impl Fsm {
    pub(super) fn new(subject: Subject) -> Self {
        Self {
            state: State::Empty,
            subject,
            health: SourceHealth::Syncing,
            failures: 0,
            expired: 0,
            paged: true,
        }
    }

    /// The first command.
    pub(super) fn start(&self) -> Command {
        self.request()
    }

    /// Decides.
    pub(super) fn on(&mut self, input: Input, now: Now) -> Turn {
        let health_before = self.health.clone();
        let (publish, next) = match input {
            Input::Page { continue_token, version } => self.page(continue_token, version),
            Input::Opened => self.opened(now),
            Input::Event { version } => self.line(version),
            Input::Bookmark { version } => self.line(version),
            Input::Ended => (Publish::Nothing, self.ended(now)),
            Input::Broken(failure) => (Publish::Nothing, self.failed(&failure)),
            Input::Failed(failure) if failure.is_expired() => (Publish::Nothing, self.too_old()),
            Input::Failed(failure) => (Publish::Nothing, self.failed(&failure)),
            Input::Waited => (Publish::Nothing, self.request()),
        };
        let health = (self.health != health_before).then(|| self.health.clone());
        Turn { publish, health, next }
    }

    /// The request that belongs to the state.
    fn request(&self) -> Command {
        match &self.state {
            State::Empty => Command::List { continue_token: None, paged: self.paged },
            State::Listing { continue_token, .. } => {
                Command::List { continue_token: Some(continue_token.clone()), paged: true }
            }
            State::Listed { version } => Command::Watch { version: version.clone() },
            State::Watching { .. } => Command::Read,
        }
    }

    fn page(&mut self, continue_token: Option<String>, version: Option<String>) -> (Publish, Command) {
        let (first, version) = match &mut self.state {
            State::Listing { version: first, .. } => (false, first.take().or(version)),
            State::Empty | State::Listed { .. } | State::Watching { .. } => (true, version),
        };
        self.failures = 0;
        match (continue_token, version) {
            (Some(continue_token), version) => {
                self.state = State::Listing { continue_token, version };
                self.recovering();
                (Publish::Page { first, complete: None }, self.request())
            }
            (None, Some(version)) => {
                self.state = State::Listed { version: version.clone() };
                self.paged = true;
                self.health = SourceHealth::Healthy;
                (Publish::Page { first, complete: Some(version) }, self.request())
            }
            (None, None) => {
                self.state = State::Empty;
                (
                    Publish::Nothing,
                    self.failed(&Failure::new("the list has no resourceVersion to watch from")),
                )
            }
        }
    }

    /// A page was answered after failures, but the list isn't complete yet.
    fn recovering(&mut self) {
        if matches!(self.health, SourceHealth::Unhealthy { .. }) {
            self.health = SourceHealth::Syncing;
        }
    }

    fn opened(&mut self, now: Now) -> (Publish, Command) {
        if let State::Listed { version } = &self.state {
            self.state = State::Watching { version: version.clone(), since: now };
        }
        self.health = SourceHealth::Healthy;
        (Publish::Nothing, self.request())
    }

    fn line(&mut self, seen: Option<String>) -> (Publish, Command) {
        if let (State::Watching { version, .. }, Some(seen)) = (&mut self.state, seen) {
            *version = seen;
        }
        self.failures = 0;
        self.expired = 0;
        (Publish::Line, self.request())
    }

    /// The end of a watch is normal: the server ends each after its timeout. One that ends at once is not, and counts as a
    /// failure for the waiting, though not for the health.
    fn ended(&mut self, now: Now) -> Command {
        let State::Watching { version, since } = &self.state else {
            return self.request();
        };
        let good = now.since(*since) >= GOOD_WATCH;
        self.state = State::Listed { version: version.clone() };
        if good {
            self.failures = 0;
            self.expired = 0;
            return self.request();
        }
        self.failures = self.failures.saturating_add(1);
        Command::Wait(backoff(FIRST_WAIT, LONGEST_WAIT, self.failures))
    }

    /// 410: the version, or the page's token, is too old. Not a failure, unless it happens again and again.
    fn too_old(&mut self) -> Command {
        if matches!(self.state, State::Listing { .. }) {
            self.paged = false;
        }
        self.state = State::Empty;
        self.expired = self.expired.saturating_add(1);
        match self.expired {
            1 => self.request(),
            times => Command::Wait(backoff(FIRST_WAIT, LONGEST_WAIT, times - 1)),
        }
    }

    fn failed(&mut self, failure: &Failure) -> Command {
        self.failures = self.failures.saturating_add(1);
        self.health =
            SourceHealth::Unhealthy { reason: failure.reason.clone(), advice: self.subject.advice(failure) };
        self.state = match (mem::replace(&mut self.state, State::Empty), failure.status) {
            // The type is gone, and what comes back under its name is another one. The objects stay in the store: a
            // server that has just started also answers 404 until it knows its types.
            (_, Some(404)) => State::Empty,
            // The server doesn't understand its own token.
            (State::Listing { .. }, Some(400)) => State::Empty,
            (State::Listed { .. } | State::Watching { .. }, Some(_))
                if failure.doubts_version() && self.failures >= FAILURES_UNTIL_RELIST =>
            {
                State::Empty
            }
            (State::Watching { version, .. }, _) => State::Listed { version },
            (state @ (State::Empty | State::Listing { .. } | State::Listed { .. }), _) => state,
        };
        let wait = match failure.status {
            Some(404) => {
                let longest = LONGEST_WAIT_FOR_TYPE[usize::from(self.failures > ATTEMPTS_IN_FIRST_MINUTE)];
                backoff(FIRST_WAIT_FOR_TYPE, longest, self.failures)
            }
            Some(_) | None => backoff(FIRST_WAIT, LONGEST_WAIT, self.failures),
        };
        Command::Wait(match failure.retry_after {
            Some(asked) => wait.max(asked.min(LONGEST_RETRY_AFTER)),
            None => wait,
        })
    }
}

/// Doubles with each failure, counted from one.
fn backoff(first: Duration, longest: Duration, failures: u32) -> Duration {
    let factor = 1u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(factor).min(longest)
}
