//! All keys with their settings, and JOSDK's keys that have no meaning here. The names are JOSDK's, with
//! `operator.` instead of `josdk.`.

use std::{net::SocketAddr, time::Duration};

use super::{
    ConfigEntry, refused,
    values::{self, Wrong},
};
use crate::controller::{ControllerSettings, Setting};

/// The prefix of all keys.
pub(super) const PREFIX: &str = "operator.";

/// The prefix of the keys of a controller, before its name.
pub(super) const CONTROLLER: &str = "operator.controller.";

/// The external settings of the operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperatorSettings {
    pub(crate) check_definitions: Option<Setting<bool>>,
    pub(crate) use_ssa_to_patch_primary: Option<Setting<bool>>,
    pub(crate) max_concurrent_reconciles: Option<Setting<usize>>,
    pub(crate) termination_timeout: Option<Setting<Duration>>,
    pub(crate) max_concurrent_dependents: Option<Setting<usize>>,
    pub(crate) cache_sync_timeout: Option<Setting<Duration>>,
    pub(crate) stop_on_source_error_at_start: Option<Setting<bool>>,
    pub(crate) use_ssa_for_dependents: Option<Setting<bool>>,
    pub(crate) http_address: Option<Setting<SocketAddr>>,
    pub(crate) namespaces: Option<Setting<Vec<String>>>,
    pub(crate) election: ElectionSettings,
}

/// The settings of its leader election.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElectionSettings {
    pub(crate) enabled: Option<Setting<bool>>,
    pub(crate) lease_name: Option<Setting<String>>,
    pub(crate) lease_namespace: Option<Setting<String>>,
    pub(crate) identity: Option<Setting<String>>,
    pub(crate) lease_duration: Option<Setting<Duration>>,
    pub(crate) renew_deadline: Option<Setting<Duration>>,
    pub(crate) retry_period: Option<Setting<Duration>>,
}

/// A key, without the prefix of its kind.
pub(super) struct Key<S: 'static> {
    pub(super) name: &'static str,
    /// Another key for the same setting.
    pub(super) same_as: Option<&'static str>,
    pub(super) meaning: Meaning<S>,
}

/// The use of a key's value.
pub(super) enum Meaning<S> {
    Sets(fn(&mut S, &ConfigEntry) -> Result<(), Wrong>),
    /// It has no meaning here.
    Nothing {
        why: &'static str,
        instead: &'static str,
    },
}

impl<S> Key<S> {
    /// The name by which a second key for the same setting is detected.
    pub(super) fn canonical(&self) -> &'static str {
        self.same_as.unwrap_or(self.name)
    }

    pub(super) const fn nothing(name: &'static str, why: &'static str, instead: &'static str) -> Self {
        Self { name, same_as: None, meaning: Meaning::Nothing { why, instead } }
    }

    const fn sets(name: &'static str, sets: fn(&mut S, &ConfigEntry) -> Result<(), Wrong>) -> Self {
        Self { name, same_as: None, meaning: Meaning::Sets(sets) }
    }
}

/// The key of a field, with the form of its value.
macro_rules! key {
    ($name:literal, $($field:ident).+, $form:ident) => {
        Key::sets($name, |settings, entry| {
            settings.$($field).+ = Some(Setting::new(values::$form(&entry.value)?, &entry.place));
            Ok(())
        })
    };
}

/// The keys of the operator.
pub(super) const OF_OPERATOR: &[Key<OperatorSettings>] = &[
    key!("check-crd", check_definitions, flag),
    key!("use-ssa-to-patch-primary-resource", use_ssa_to_patch_primary, flag),
    key!("reconciliation.concurrent-threads", max_concurrent_reconciles, at_once),
    key!("reconciliation.termination-timeout", termination_timeout, time_or_none_at_all),
    key!("workflow.executor-threads", max_concurrent_dependents, at_once),
    key!("informer.cache-sync-timeout", cache_sync_timeout, time),
    key!("informer.stop-on-error-during-startup", stop_on_source_error_at_start, flag),
    key!("dependent-resources.ssa-based-create-update-match", use_ssa_for_dependents, flag),
    key!("leader-election.enabled", election.enabled, flag),
    key!("leader-election.lease-name", election.lease_name, text),
    key!("leader-election.lease-namespace", election.lease_namespace, text),
    key!("leader-election.identity", election.identity, text),
    key!("leader-election.lease-duration", election.lease_duration, time),
    key!("leader-election.renew-deadline", election.renew_deadline, time),
    key!("leader-election.retry-period", election.retry_period, time),
    // Not in JOSDK: the options of the command line.
    key!("http-address", http_address, address),
    key!("namespaces", namespaces, namespaces),
    refused::CLOSE_CLIENT,
    refused::CLONE_SECONDARIES,
];

/// The keys of each controller.
pub(super) const OF_CONTROLLER: &[Key<ControllerSettings>] = &[
    key!("finalizer", finalizer, text),
    key!("generation-aware", generation_aware, flag),
    key!("label-selector", label_selector, selector),
    Key { same_as: Some("label-selector"), ..key!("informer.label-selector", label_selector, selector) },
    key!("shard-selector", shard_selector, text),
    Key { same_as: Some("shard-selector"), ..key!("informer.shard-selector", shard_selector, text) },
    key!("informer.list-limit", page_size, limit),
    key!("max-reconciliation-interval", max_reconciliation_interval, time),
    key!("field-manager", field_manager, text),
    key!("trigger-reconciler-on-all-events", all_events, flag),
    key!("retry.max-attempts", retry.max_attempts, attempts),
    key!("retry.initial-interval", retry.initial_interval, time),
    key!("retry.interval-multiplier", retry.multiplier, factor),
    key!("retry.max-interval", retry.max_interval, time),
    key!("rate-limiter.limit-for-period", rate_limiter.limit, limit),
    key!("rate-limiter.refresh-period", rate_limiter.period, time),
];

/// All keys that an operator with these controllers has, whether they have a meaning or not.
pub(super) fn known(controllers: &[String]) -> Vec<String> {
    let of_operator = OF_OPERATOR.iter().map(|key| format!("{PREFIX}{}", key.name));
    let of_controllers = controllers.iter().flat_map(|controller| {
        OF_CONTROLLER.iter().map(move |key| format!("{CONTROLLER}{controller}.{}", key.name))
    });
    of_operator.chain(of_controllers).collect()
}
