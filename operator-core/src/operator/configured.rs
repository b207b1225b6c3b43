//! Changes of an operator by settings from outside.

#[cfg(test)]
mod tests;

use std::mem;

use super::{LeaderElection, OperatorBuilder};
use crate::{
    configuration::{ConfigLoader, ElectionSettings, OperatorSettings, Resolved},
    controller::{Mistake, Mistakes, Setting},
    event_source::WatchScope,
};

impl OperatorBuilder {
    /// Reads settings from outside. They take precedence over the declarations of this builder and its controllers, and
    /// the settings of a later call over those of an earlier one. They are read when the operator is built, and all
    /// mistakes in them are reported then. JOSDK: `ConfigLoader`.
    ///
    /// ```
    /// use operator_core::{Operator, configuration::ConfigLoader};
    ///
    /// let operator = Operator::builder().configured_by(ConfigLoader::new().file("operator.yaml").environment());
    /// ```
    pub fn configured_by(mut self, settings: ConfigLoader) -> Self {
        self.configuration = self.configuration.and(settings);
        self
    }

    /// Applies the settings of all sources; afterwards the builder has no sources.
    ///
    /// # Errors
    /// With all mistakes of the declaration and of the settings.
    pub(crate) fn resolved(mut self) -> Result<Self, Mistakes> {
        let mut mistakes: Vec<Mistake> =
            self.validate().err().map(|mistakes| mistakes.into_iter().collect()).unwrap_or_default();
        let mut names = self.names.clone();
        names.sort();
        names.dedup();
        let Resolved { operator, controllers, places } =
            mem::take(&mut self.configuration).load(&names, &mut mistakes);
        for controller in &mut self.settings.controllers {
            if let Some(scope) = &self.settings.default_namespaces {
                controller.namespaces_by_default(scope);
            }
            if let Some(settings) = controllers.get(controller.name()) {
                controller.configure(settings, &mut mistakes);
            }
        }
        self.configure(operator, &mut mistakes);
        Mistakes::check(mistakes)?;
        self.settings.configured.extend(places);
        self.validate()?;
        Ok(self)
    }

    fn configure(&mut self, settings: OperatorSettings, mistakes: &mut Vec<Mistake>) {
        let own = &mut self.settings;
        take(&mut own.termination_timeout, settings.termination_timeout);
        take(&mut own.max_concurrent_dependents, settings.max_concurrent_dependents);
        take(&mut own.check_definitions_at_start, settings.check_definitions);
        take(&mut own.stop_on_source_error_at_start, settings.stop_on_source_error_at_start);
        set(&mut own.cache_sync_timeout, settings.cache_sync_timeout);
        set(&mut own.max_concurrent_reconciles, settings.max_concurrent_reconciles);
        take(&mut own.applying.by_default, settings.use_ssa_for_dependents);
        if let Some(use_ssa) = settings.use_ssa_to_patch_primary {
            for controller in &mut own.controllers {
                controller.use_ssa_to_patch_primary(use_ssa.value);
            }
        }
        if let Some(namespaces) = settings.namespaces {
            own.namespaces = Some(WatchScope::Namespaces(namespaces.value.into_iter().collect()));
        }
        if let Some(address) = settings.http_address {
            #[cfg(feature = "http")]
            {
                self.http_address = Some(address.value);
            }
            #[cfg(not(feature = "http"))]
            mistakes.push(Mistake::new(
                format!("{}: there is no HTTP listener at {}", address.place, address.value),
                "this operator was built without the feature `http`",
                "the feature, or no such setting",
            ));
        }
        self.elect(settings.election, mistakes);
    }

    fn elect(&mut self, settings: ElectionSettings, mistakes: &mut Vec<Mistake>) {
        let ElectionSettings {
            enabled,
            lease_name,
            lease_namespace,
            identity,
            lease_duration,
            renew_deadline,
            retry_period,
        } = settings;
        if enabled.as_ref().is_some_and(|enabled| !enabled.value) {
            self.settings.leader_election = None;
            return;
        }
        let places = [
            Setting::place(&enabled),
            Setting::place(&lease_name),
            Setting::place(&lease_namespace),
            Setting::place(&identity),
            Setting::place(&lease_duration),
            Setting::place(&renew_deadline),
            Setting::place(&retry_period),
        ];
        let Some(first) = places.into_iter().flatten().next().map(str::to_owned) else { return };
        let declared = self.settings.leader_election.take();
        let name = lease_name.as_ref().map(|name| &*name.value);
        let Some(mut election) = declared.or_else(|| name.map(LeaderElection::new)) else {
            mistakes.push(Mistake::new(
                format!("{first}: the leader election has no lease"),
                "replicas elect a leader with a lease, and neither the settings nor the code name one",
                "`operator.leader-election.lease-name: web-page-operator`",
            ));
            return;
        };
        take(&mut election.lease_name, lease_name);
        set(&mut election.namespace, lease_namespace);
        set(&mut election.identity, identity);
        take(&mut election.timing.lease_duration, lease_duration);
        take(&mut election.timing.renew_deadline, renew_deadline);
        take(&mut election.timing.retry_period, retry_period);
        if let Err(error) = election.validate() {
            mistakes.push(Mistake::new(
                format!("{first}: the leader election can't work with these settings"),
                error.to_string(),
                "other values below `operator.leader-election`",
            ));
            return;
        }
        self.settings.leader_election = Some(election);
    }
}

fn take<T>(own: &mut T, setting: Option<Setting<T>>) {
    if let Some(setting) = setting {
        *own = setting.value;
    }
}

fn set<T>(own: &mut Option<T>, setting: Option<Setting<T>>) {
    if let Some(setting) = setting {
        *own = Some(setting.value);
    }
}
