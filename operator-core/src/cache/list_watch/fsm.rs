//! The next request to the server. Pure.

use std::{mem, time::Duration};

use crate::{environment::Now, observe::SourceHealth};

use super::{
    backoff::{wait, wait_after},
    failure::{Failure, Subject},
    health::Health,
};

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
    /// Open a watch that starts by showing all objects. Answered by [`Input::Opened`] or [`Input::Failed`].
    Stream,
    /// Open a watch that starts after this version. Answered by [`Input::Opened`] or [`Input::Failed`].
    Watch {
        /// Everything up to this version is known.
        version: String,
    },
    /// Read the next line of the open watch. Answered by [`Input::Event`], [`Input::Bookmark`], [`Input::Ended`],
    /// [`Input::Broken`] or [`Input::Failed`].
    Read,
    /// Wait for this time, randomly spread. Answered by [`Input::Waited`].
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
        /// The object's version, if it could be read.
        version: Option<String>,
    },
    /// The watch reported that there was nothing else up to this version.
    Bookmark {
        /// The version.
        version: Option<String>,
        /// Whether it also ended the initial events: all objects that existed when it was opened have been shown.
        initial_end: bool,
    },
    /// The watch ended, was cut, or was silent for too long.
    Ended,
    /// A line of the watch was not an event: something was lost.
    Broken(Failure),
    /// A request failed, or the watch showed an error.
    Failed(Failure),
    /// The wait is over.
    Waited,
}

/// What the shell does with the received data before the next command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Publish {
    /// Nothing.
    Nothing,
    /// Process the items of the page.
    Page {
        /// It is the first page: what was listed before is void.
        first: bool,
        /// With it the list is complete as of this version: what was not listed is gone.
        complete: Option<String>,
    },
    /// A streamed list begins: what was listed before is void.
    Start,
    /// Process the event as a part of the streamed list.
    Item,
    /// The streamed list is complete as of this version: what was not listed is gone.
    Complete(String),
    /// Process the event or the bookmark.
    Line,
}

/// The answer to an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) publish: Publish,
    /// The health, if it has changed.
    pub(super) health: Option<SourceHealth>,
    pub(super) next: Command,
}

/// The progress of the list-watch.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FsmState {
    /// Nothing is known, or what is known is too old. Requests the first page → `Listing` or `Listed`, or a stream →
    /// `Streaming`.
    Empty,
    /// The watch is open and shows the objects that exist, in any order. Reads lines → `Watching` when all were shown,
    /// `Empty` if it ends before: there is no version from which it could continue.
    Streaming { since: Now },
    /// Some pages have arrived. Requests the next page → `Listed` after the last one, `Empty` if the token has expired.
    Listing {
        continue_token: String,
        /// The version of the first page, which is the version of all of them.
        version: Option<String>,
    },
    /// Everything up to a version is known. Opens a watch → `Watching`, or `Empty` if the version is too old.
    Listed { version: String },
    /// The watch is open. Reads lines → `Listed` when it ends, `Empty` if the version is too old.
    Watching { version: String, since: Now },
}

/// A watch that has lasted this long was a good one; an earlier end may mean trouble in the server or a proxy.
const GOOD_WATCH: Duration = Duration::from_secs(1);
/// After this number of failures the version from which a watch should start is given up, if the server doesn't seem to
/// know it.
pub(super) const FAILURES_UNTIL_RELIST: u32 = 5;

/// After this number of expired versions in a row the source is unhealthy.
pub(super) const EXPIRED_UNTIL_TROUBLE: u32 = 3;

/// Whether lists are streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Streams {
    /// They are.
    Ready,
    /// The next one isn't, because the last stream failed. Every server supports pages, and an interrupted list of pages
    /// continues where it stopped.
    Paused,
    /// No list is: streaming isn't wanted, or the server doesn't support it.
    Off,
}

/// The list-watch of one collection.
#[derive(Debug)]
pub(super) struct Fsm {
    state: FsmState,
    /// The name of the listed collection, for advice.
    subject: Subject,
    health: Health,
    streams: Streams,
    /// When the last command was given.
    asked: Now,
    /// Failures since the last success.
    failures: u32,
    /// Expired versions since the watch last showed something.
    expired: u32,
    /// Whether the next list may come in pages. Not after one whose pages expired before its end, unless one piece failed.
    paged: bool,
}

impl Fsm {
    /// `streaming`: whether lists are streamed by servers that support this.
    pub(super) fn new(subject: Subject, streaming: bool) -> Self {
        Self {
            state: FsmState::Empty,
            subject,
            health: Health::default(),
            streams: if streaming { Streams::Ready } else { Streams::Off },
            asked: Now::START,
            failures: 0,
            expired: 0,
            paged: true,
        }
    }

    /// The first command.
    pub(super) fn start(&mut self, now: Now) -> Command {
        self.asked = now;
        self.request()
    }

    /// Decides.
    pub(super) fn on(&mut self, input: Input, now: Now) -> Decision {
        let health_before = self.health.told().clone();
        let (publish, next) = match input {
            Input::Page { continue_token, version } => self.page(continue_token, version, now),
            Input::Opened => self.opened(now),
            Input::Event { version } => self.event(version),
            Input::Bookmark { version, initial_end } => self.bookmark(version, initial_end, now),
            Input::Ended => (Publish::Nothing, self.ended(now)),
            Input::Broken(failure) => (Publish::Nothing, self.failed(&failure, now)),
            Input::Failed(failure) if failure.is_expired() => (Publish::Nothing, self.too_old(&failure, now)),
            Input::Failed(failure) => (Publish::Nothing, self.failed(&failure, now)),
            Input::Waited => (Publish::Nothing, self.request()),
        };
        self.asked = now;
        let health = (*self.health.told() != health_before).then(|| self.health.told().clone());
        Decision { publish, health, next }
    }

    /// The request for the state.
    fn request(&self) -> Command {
        match &self.state {
            FsmState::Empty if self.streams == Streams::Ready => Command::Stream,
            FsmState::Empty => Command::List { continue_token: None, paged: self.paged },
            FsmState::Listing { continue_token, .. } => {
                Command::List { continue_token: Some(continue_token.clone()), paged: true }
            }
            FsmState::Listed { version } => Command::Watch { version: version.clone() },
            FsmState::Streaming { .. } | FsmState::Watching { .. } => Command::Read,
        }
    }

    fn page(
        &mut self,
        continue_token: Option<String>,
        version: Option<String>,
        now: Now,
    ) -> (Publish, Command) {
        let (first, version) = match &mut self.state {
            FsmState::Listing { version: first, .. } => (false, first.take().or(version)),
            FsmState::Empty
            | FsmState::Streaming { .. }
            | FsmState::Listed { .. }
            | FsmState::Watching { .. } => (true, version),
        };
        match (continue_token, version) {
            (Some(continue_token), version) => {
                self.failures = 0;
                self.state = FsmState::Listing { continue_token, version };
                self.health.recovering();
                (Publish::Page { first, complete: None }, self.request())
            }
            (None, Some(version)) => {
                self.state = FsmState::Listed { version: version.clone() };
                self.listed();
                (Publish::Page { first, complete: Some(version) }, self.request())
            }
            (None, None) => {
                self.state = FsmState::Empty;
                let failure = Failure::new("the list has no resourceVersion to watch from");
                (Publish::Nothing, self.failed(&failure, now))
            }
        }
    }

    /// A list is complete.
    fn listed(&mut self) {
        self.failures = 0;
        self.paged = true;
        if self.streams == Streams::Paused {
            self.streams = Streams::Ready;
        }
        // Not a success if the watch after it fails again and again.
        if self.expired < EXPIRED_UNTIL_TROUBLE {
            self.health.listed();
        }
    }

    fn opened(&mut self, now: Now) -> (Publish, Command) {
        let publish = match &self.state {
            FsmState::Listed { version } => {
                self.state = FsmState::Watching { version: version.clone(), since: now };
                if self.expired < EXPIRED_UNTIL_TROUBLE {
                    self.health.opened();
                }
                Publish::Nothing
            }
            FsmState::Empty => {
                self.state = FsmState::Streaming { since: now };
                Publish::Start
            }
            FsmState::Streaming { .. } | FsmState::Listing { .. } | FsmState::Watching { .. } => {
                Publish::Nothing
            }
        };
        (publish, self.request())
    }

    fn event(&mut self, version: Option<String>) -> (Publish, Command) {
        match self.state {
            // The objects come in any order, so the version of one says nothing about the others.
            FsmState::Streaming { .. } => (Publish::Item, self.request()),
            FsmState::Empty
            | FsmState::Listing { .. }
            | FsmState::Listed { .. }
            | FsmState::Watching { .. } => self.line(version),
        }
    }

    fn bookmark(&mut self, seen: Option<String>, initial_end: bool, now: Now) -> (Publish, Command) {
        match (&self.state, seen) {
            (FsmState::Streaming { since }, Some(version)) if initial_end => {
                self.state = FsmState::Watching { version: version.clone(), since: *since };
                self.expired = 0;
                self.listed();
                self.health.opened();
                (Publish::Complete(version), self.request())
            }
            (FsmState::Streaming { .. }, None) if initial_end => {
                let failure = Failure::new("the streamed list has no resourceVersion to watch from");
                (Publish::Nothing, self.failed(&failure, now))
            }
            // Before all objects were shown, a version means nothing.
            (FsmState::Streaming { .. }, _) => (Publish::Nothing, self.request()),
            (_, seen) => self.line(seen),
        }
    }

    fn line(&mut self, seen: Option<String>) -> (Publish, Command) {
        if let (FsmState::Watching { version, .. }, Some(seen)) = (&mut self.state, seen) {
            *version = seen;
        }
        self.good_watch();
        (Publish::Line, self.request())
    }

    /// The end of a watch is normal: the server ends each after its timeout. One that ends at once is not, and counts as a
    /// failure for the waiting, though not for the health. The end of a stream that was to show all objects, and hasn't,
    /// is a failure.
    fn ended(&mut self, now: Now) -> Command {
        match &self.state {
            FsmState::Watching { version, since } => {
                let good = now.since(*since) >= GOOD_WATCH;
                self.state = FsmState::Listed { version: version.clone() };
                if good {
                    self.good_watch();
                    return self.request();
                }
                self.failures = self.failures.saturating_add(1);
                Command::Wait(wait(self.failures))
            }
            FsmState::Streaming { .. } => {
                self.failed(&Failure::new("the streamed list was cut before its end"), now)
            }
            FsmState::Empty | FsmState::Listing { .. } | FsmState::Listed { .. } => self.request(),
        }
    }

    /// A watch has shown something, or was open long enough to count as a success.
    fn good_watch(&mut self) {
        self.failures = 0;
        if mem::take(&mut self.expired) >= EXPIRED_UNTIL_TROUBLE {
            self.health.opened();
        }
        self.health.heard();
    }

    /// 410: the version, or the page's token, is too old. Not a failure, unless it happens again and again.
    fn too_old(&mut self, failure: &Failure, now: Now) -> Command {
        if let FsmState::Watching { since, .. } = &self.state
            && now.since(*since) >= GOOD_WATCH
        {
            self.good_watch();
        }
        self.paged = !matches!(self.state, FsmState::Listing { .. });
        self.pause_streams();
        self.state = FsmState::Empty;
        self.expired = self.expired.saturating_add(1);
        if self.expired == 1 {
            return self.request();
        }
        let wait = wait(self.expired - 1);
        if self.expired >= EXPIRED_UNTIL_TROUBLE {
            self.health.failed(self.asked, now + wait, self.trouble(failure));
        }
        Command::Wait(wait)
    }

    fn trouble(&self, failure: &Failure) -> SourceHealth {
        let advice = self.subject.advice(failure);
        SourceHealth::Unhealthy { reason: self.subject.reason(failure), advice }
    }

    /// If a stream was requested or open, the next list is not streamed.
    fn pause_streams(&mut self) {
        let streaming = matches!(self.state, FsmState::Empty | FsmState::Streaming { .. });
        if streaming && self.streams == Streams::Ready {
            self.streams = Streams::Paused;
        }
    }

    fn failed(&mut self, failure: &Failure, now: Now) -> Command {
        if self.state == FsmState::Empty && self.streams == Streams::Ready && failure.refuses_streaming() {
            // Nothing is wrong with this server: from now on its lists come in pages.
            self.streams = Streams::Off;
            return self.request();
        }
        self.pause_streams();
        // Of a list, only the pages that follow its first one are asked for in another state.
        self.paged |= self.state == FsmState::Empty;
        // Trouble starts with the request that fails. An error of an open watch has no request of its own.
        let since = match &self.state {
            FsmState::Watching { since, .. } => {
                if now.since(*since) >= GOOD_WATCH {
                    self.good_watch();
                }
                now
            }
            FsmState::Streaming { .. } => now,
            FsmState::Empty | FsmState::Listing { .. } | FsmState::Listed { .. } => self.asked,
        };
        self.failures = self.failures.saturating_add(1);
        let wait = wait_after(failure, self.failures);
        self.health.failed(since, now + wait, self.trouble(failure));
        self.state = match (mem::replace(&mut self.state, FsmState::Empty), failure.status) {
            // The type is gone; one that comes back under its name is a new type. The objects stay in the store: a
            // server that has just started also answers 404 until it knows its types.
            (_, Some(404)) => FsmState::Empty,
            // The server doesn't understand its own token.
            (FsmState::Listing { .. }, Some(400)) => FsmState::Empty,
            (FsmState::Listed { .. } | FsmState::Watching { .. }, Some(_))
                if failure.doubts_version() && self.failures >= FAILURES_UNTIL_RELIST =>
            {
                FsmState::Empty
            }
            (FsmState::Watching { version, .. }, _) => FsmState::Listed { version },
            (FsmState::Streaming { .. }, _) => FsmState::Empty,
            (state @ (FsmState::Empty | FsmState::Listing { .. } | FsmState::Listed { .. }), _) => state,
        };
        Command::Wait(wait)
    }
}
