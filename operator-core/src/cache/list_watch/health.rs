//! When trouble is reported. Pure.

use std::time::Duration;

use crate::{environment::Now, observe::SourceHealth};

/// How long a list-watch that has been following its objects may be in trouble before it is reported. Shorter trouble
/// is normal: a connection is cut, a server restarts. A readiness that changes each time would be noise. A server that is
/// just starting also refuses requests and doesn't know types, so a 403 or a 404 then means no more than any other
/// failure.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

/// The health of one list-watch, as it is reported.
#[derive(Debug, Default)]
pub(super) struct Health {
    told: SourceHealth,
    /// Whether a watch was open at least once. Before that a failure is reported at once, because there is no reason to
    /// wait.
    followed: bool,
    /// The time of the first failed request since the server's last success.
    troubled_since: Option<Now>,
}

impl Health {
    pub(super) const fn told(&self) -> &SourceHealth {
        &self.told
    }

    /// A success: later trouble counts as new.
    pub(super) const fn heard(&mut self) {
        self.troubled_since = None;
    }

    /// A part of a list was answered, but the list isn't complete yet.
    pub(super) fn recovering(&mut self) {
        self.heard();
        if matches!(self.told, SourceHealth::Unhealthy { .. }) {
            self.told = SourceHealth::Syncing;
        }
    }

    /// A list is complete.
    pub(super) fn listed(&mut self) {
        self.heard();
        self.told = SourceHealth::Healthy;
    }

    /// A watch is open. It has shown nothing yet, so continuing trouble still counts as the old one.
    pub(super) fn opened(&mut self) {
        self.followed = true;
        self.told = SourceHealth::Healthy;
    }

    /// A request made at `since` failed, and is retried at `again`.
    pub(super) fn failed(&mut self, since: Now, again: Now, unhealthy: SourceHealth) {
        let since = *self.troubled_since.get_or_insert(since);
        let calm = self.followed && self.told == SourceHealth::Healthy;
        // If the next attempt comes only after the patience is over, the trouble is reported now.
        if !calm || again.since(since) >= PATIENCE {
            self.told = unhealthy;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Now {
        Now::at(Duration::from_secs(seconds))
    }

    fn unhealthy() -> SourceHealth {
        SourceHealth::Unhealthy { reason: "connection refused".to_owned(), advice: None }
    }

    fn followed() -> Health {
        let mut health = Health::default();
        health.listed();
        health.opened();
        health
    }

    #[test]
    fn short_trouble_of_a_watch_is_not_told_and_long_trouble_is() {
        let mut health = followed();
        health.failed(at(100), at(101), unhealthy());
        health.failed(at(101), at(114), unhealthy());
        assert_eq!(*health.told(), SourceHealth::Healthy);
        health.failed(at(114), at(115), unhealthy());
        assert_eq!(*health.told(), unhealthy());
        health.opened();
        assert_eq!(*health.told(), SourceHealth::Healthy);
    }

    #[test]
    fn trouble_is_told_at_once_before_the_first_watch_and_when_the_next_attempt_is_far_away() {
        let mut health = Health::default();
        health.failed(at(0), at(1), unhealthy());
        assert_eq!(*health.told(), unhealthy());
        health.listed();
        health.failed(at(2), at(3), unhealthy());
        assert_eq!(*health.told(), unhealthy(), "a list alone follows nothing");

        let mut health = followed();
        health.failed(at(100), at(160), unhealthy());
        assert_eq!(*health.told(), unhealthy(), "the server asked for a minute");
    }

    #[test]
    fn a_good_word_ends_the_trouble_and_an_open_watch_alone_does_not() {
        let mut health = followed();
        health.failed(at(100), at(101), unhealthy());
        health.heard();
        health.failed(at(114), at(116), unhealthy());
        assert_eq!(*health.told(), SourceHealth::Healthy);
        health.opened();
        health.failed(at(116), at(129), unhealthy());
        assert_eq!(*health.told(), unhealthy(), "open, fail, open, fail");
    }
}
