//! Changes of a finished declaration by settings from outside.

#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

use super::{
    Controller, Mistake,
    names::{check_field_manager, check_finalizer},
};
use crate::{
    event_source::{Contradiction, WatchScope},
    processor::{self, GenericRetry, GovernorRateLimiter},
};

/// A value from outside, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) place: String,
}

impl<T> Setting<T> {
    pub(crate) fn new(value: T, place: &str) -> Self {
        Self { value, place: place.to_owned() }
    }

    /// Where it is written, if it is.
    pub(crate) fn place(setting: &Option<Self>) -> Option<&str> {
        Some(&*setting.as_ref()?.place)
    }
}

/// The settings of a controller that came from outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControllerSettings {
    pub(crate) finalizer: Option<Setting<String>>,
    pub(crate) generation_aware: Option<Setting<bool>>,
    pub(crate) label_selector: Option<Setting<String>>,
    pub(crate) max_reconciliation_interval: Option<Setting<Duration>>,
    pub(crate) field_manager: Option<Setting<String>>,
    pub(crate) all_events: Option<Setting<bool>>,
    pub(crate) shard_selector: Option<Setting<String>>,
    pub(crate) page_size: Option<Setting<u32>>,
    pub(crate) retry: RetrySettings,
    pub(crate) rate_limiter: RateLimiterSettings,
}

/// The settings of its retry.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetrySettings {
    pub(crate) max_attempts: Option<Setting<u32>>,
    pub(crate) initial_interval: Option<Setting<Duration>>,
    pub(crate) multiplier: Option<Setting<f64>>,
    pub(crate) max_interval: Option<Setting<Duration>>,
}

/// The settings of its rate limiter.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateLimiterSettings {
    pub(crate) limit: Option<Setting<u32>>,
    pub(crate) period: Option<Setting<Duration>>,
}

impl Controller {
    /// Applies the settings from outside. A setting that can't be applied is reported, and the declared one stays.
    pub(crate) fn configure(&mut self, settings: &ControllerSettings, mistakes: &mut Vec<Mistake>) {
        let name = Arc::clone(&self.name);
        self.take_over(settings, &mut Wrong { controller: &name, mistakes });
    }

    /// Works in these namespaces, unless it declares its own.
    pub(crate) fn namespaces_by_default(&mut self, scope: &WatchScope) {
        self.settings.primaries.scope.get_or_insert_with(|| scope.clone());
    }

    /// Whether primaries are written by server-side apply.
    pub(crate) fn use_ssa_to_patch_primary(&mut self, use_ssa: bool) {
        self.settings.use_ssa_to_patch_primary = use_ssa;
    }
}

/// Collects the settings that can't be applied.
struct Wrong<'m> {
    controller: &'m Arc<str>,
    mistakes: &'m mut Vec<Mistake>,
}

impl Wrong<'_> {
    fn tell(
        &mut self,
        place: &str,
        what: impl fmt::Display,
        why: impl Into<String>,
        write: impl Into<String>,
    ) {
        let what = format!("{place}: controller `{}`: {what}", self.controller);
        self.mistakes.push(Mistake::new(what, why, write));
    }

    /// The mistake in a name, as the builder would have reported it.
    fn tell_of(&mut self, place: &str, mistake: &Mistake, write: &str) {
        self.tell(place, mistake.what(), mistake.why(), write);
    }

    fn tell_of_policy(&mut self, place: &str, error: &processor::Error) {
        self.tell(place, error, "the settings of all sources together can't work", "other values");
    }
}

impl Controller {
    fn take_over(&mut self, settings: &ControllerSettings, wrong: &mut Wrong<'_>) {
        if let Some(Setting { value, place }) = &settings.finalizer {
            self.configure_finalizer(value, place, wrong);
        }
        if let Some(Setting { value, place }) = &settings.field_manager {
            match check_field_manager(value) {
                Some(mistake) => {
                    wrong.tell_of(place, &mistake, "a name like `web-pages`, or leave the key out")
                }
                None => self.field_manager = Arc::from(&**value),
            }
        }
        if let Some(Setting { value, place }) = &settings.all_events {
            self.configure_all_events(*value, place, wrong);
        }
        if let Some(generation_aware) = &settings.generation_aware {
            self.settings.filters.generation_aware = generation_aware.value;
        }
        if let Some(selector) = &settings.label_selector {
            self.settings.primaries.settings.label_selector = Some(selector.value.clone());
        }
        if let Some(interval) = &settings.max_reconciliation_interval {
            self.settings.machine.max_reconciliation_interval = Some(interval.value);
        }
        self.configure_lists(settings, wrong);
        self.configure_retry(&settings.retry, wrong);
        self.configure_rate_limiter(&settings.rate_limiter, wrong);
    }

    fn configure_finalizer(&mut self, finalizer: &str, place: &str, wrong: &mut Wrong<'_>) {
        if self.finalizer.is_none() {
            wrong.tell(
                place,
                format!("it has no finalizer that could have the name `{finalizer}`"),
                "nothing has to be cleaned up before a primary is gone, so its primaries get no finalizer",
                "nothing: leave the key out",
            );
            return;
        }
        if let Some(mistake) = check_finalizer(finalizer) {
            wrong.tell_of(place, &mistake, "a name like `webpages.example.com/finalizer`");
            return;
        }
        self.own_finalizer = Arc::from(finalizer);
        self.finalizer = Some(Arc::clone(&self.own_finalizer));
    }

    fn configure_all_events(&mut self, all: bool, place: &str, wrong: &mut Wrong<'_>) {
        if all && (self.code.cleans_up() || self.settings.workflow.is_some()) {
            wrong.tell(
                place,
                "it can't be triggered on all events",
                "it has a cleaner or a workflow, which handle the primaries that its reconciler would get",
                "nothing: leave the key out",
            );
            return;
        }
        self.settings.all_events = all;
    }

    /// How its primaries are listed.
    fn configure_lists(&mut self, settings: &ControllerSettings, wrong: &mut Wrong<'_>) {
        let ControllerSettings { shard_selector, page_size, .. } = settings;
        if let Some(selector) = shard_selector {
            self.settings.primaries.select_shard(&selector.value);
        }
        if let Some(objects) = page_size {
            self.settings.primaries.settings.page_size = objects.value;
        }
        let places = [Setting::place(shard_selector), Setting::place(page_size)];
        let Some(place) = places.into_iter().flatten().next() else { return };
        // The code's own mistakes have been reported before.
        for Contradiction([what, why, write]) in self.settings.primaries.contradictions() {
            wrong.tell(place, what, why, write);
        }
    }

    fn configure_retry(&mut self, settings: &RetrySettings, wrong: &mut Wrong<'_>) {
        let RetrySettings { max_attempts, initial_interval, multiplier, max_interval } = settings;
        let places = [
            Setting::place(max_attempts),
            Setting::place(initial_interval),
            Setting::place(multiplier),
            Setting::place(max_interval),
        ];
        let Some(place) = places.into_iter().flatten().next() else { return };
        let Some(declared) = self.settings.retry else {
            wrong.tell(
                place,
                "its retry can't be set from outside",
                "the code declares a policy of its own, which has none of these settings",
                "nothing: leave the keys out, or a `GenericRetry` in the code",
            );
            return;
        };
        let changed = || {
            let mut retry = declared;
            if let Some(attempts) = max_attempts {
                retry = retry.with_max_attempts(attempts.value);
            }
            if let Some(interval) = initial_interval {
                retry = retry.with_initial_interval(interval.value)?;
            }
            if let Some(multiplier) = multiplier {
                retry = retry.with_multiplier(multiplier.value)?;
            }
            if let Some(interval) = max_interval {
                retry = retry.with_max_interval(interval.value)?;
            }
            Ok::<GenericRetry, processor::Error>(retry)
        };
        match changed() {
            Ok(retry) => {
                self.settings.retry = Some(retry);
                self.settings.machine.retry = Arc::new(retry);
            }
            Err(error) => wrong.tell_of_policy(place, &error),
        }
    }

    fn configure_rate_limiter(&mut self, settings: &RateLimiterSettings, wrong: &mut Wrong<'_>) {
        let (limit, period) = match (&settings.limit, &settings.period) {
            (None, None) => return,
            (Some(limit), Some(period)) => (limit, period),
            (Some(Setting { place, .. }), None) | (None, Some(Setting { place, .. })) => {
                wrong.tell(
                    place,
                    "half of a rate limit",
                    "a limit is a number of runs in a time, and one of the two is missing",
                    "`rate-limiter.limit-for-period` and `rate-limiter.refresh-period`",
                );
                return;
            }
        };
        match GovernorRateLimiter::new(limit.value, period.value) {
            Ok(limiter) => self.settings.machine.rate_limiter = Some(Arc::new(limiter)),
            Err(error) => wrong.tell_of_policy(&limit.place, &error),
        }
    }
}
