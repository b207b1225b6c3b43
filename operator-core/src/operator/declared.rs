//! The mistakes in an operator's declaration: its own, and those of all its controllers.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{LeaderElectionError, OperatorBuilder};
use crate::{
    controller::{IntoController, Mistake, Mistakes},
    event_source::Contradiction,
    resource::is_subdomain,
};

impl OperatorBuilder {
    /// Adds a controller. Its mistakes are reported when the operator is built, together with all others.
    pub fn register(mut self, controller: impl IntoController) -> Self {
        match controller.into_controller() {
            Ok(controller) => {
                self.names.push(controller.name().to_owned());
                let definition = controller.definition();
                let is_new = |new: &CustomResourceDefinition| {
                    self.crds.iter().all(|known| known.metadata.name != new.metadata.name)
                };
                self.crds.extend(definition.filter(is_new));
                self.settings.controllers.push(controller);
            }
            Err(mistakes) => {
                let controllers: BTreeSet<&str> = mistakes.iter().filter_map(Mistake::controller).collect();
                self.names.extend(controllers.into_iter().map(str::to_owned));
                self.mistakes.extend(mistakes);
            }
        }
        self
    }

    /// Checks the operator and its controllers for mistakes. The commands of its binary do this before anything else,
    /// and so does [`OperatorBuilder::build`].
    ///
    /// # Errors
    /// With each mistake: what is wrong, why, and what to write instead.
    pub fn validate(&self) -> Result<(), Mistakes> {
        let mut mistakes = self.mistakes.clone();
        let mut known = BTreeSet::new();
        let twice: BTreeSet<&String> = self.names.iter().filter(|name| !known.insert(*name)).collect();
        mistakes.extend(twice.into_iter().map(|name| {
            Mistake::new(
                format!("two controllers are called `{name}`"),
                "the name distinguishes them in metrics and as field managers",
                "`.name(\"…\")`, or `name = \"…\"` in the attribute, with another name for one of them",
            )
        }));
        if self.settings.controllers.is_empty() && self.mistakes.is_empty() {
            mistakes.push(Mistake::new(
                "the operator has no controller",
                "there is nothing to run",
                "`.register(Controller::builder(reconciler))`, or `.register(reconciler)` for one with the derive",
            ));
        }
        if self.settings.stop_on_source_error_at_start && self.settings.cache_sync_timeout.is_none() {
            mistakes.push(Mistake::new(
                "`stop_on_source_error_at_start` needs a time after which the start fails",
                "`cache_sync_timeout` is that time, and it is `None`",
                "`.cache_sync_timeout(Duration::from_secs(…))`, or `.stop_on_source_error_at_start(false)`",
            ));
        }
        if self.settings.max_concurrent_reconciles == Some(0) {
            mistakes.push(Mistake::new(
                "the operator allows 0 runs at the same time",
                "no run of any controller could ever start",
                "`.max_concurrent_reconciles(1)` or more, or leave it out for no common limit",
            ));
        }
        let namespaces = self.settings.default_namespaces.as_ref();
        mistakes.extend(namespaces.and_then(Contradiction::of_scope).map(|wrong| Mistake::of(&wrong)));
        let mut clusters = BTreeMap::new();
        let needs = self.settings.controllers.iter().flat_map(|controller| controller.needs(false));
        for remote in needs.filter_map(|needs| needs.remote) {
            let number = *clusters.entry(remote.name().to_owned()).or_insert_with(|| remote.number());
            if number != remote.number() {
                mistakes.push(Mistake::new(
                    format!("two other clusters are called `{}`", remote.name()),
                    "the keys of their objects contain the name, so objects of one would be taken for objects of the other",
                    "one `RemoteCluster`, cloned for each source, or another name for one of them",
                ));
            }
        }
        let prefix = &self.settings.mark_prefix;
        if !is_subdomain(prefix) {
            mistakes.push(Mistake::new(
                format!("`{prefix}` can't be the prefix of label keys"),
                "the prefix is a DNS subdomain: lower-case letters, digits, `-` and `.`, 253 at most",
                "`.mark_prefix(\"example.com\")`, or leave it out for `operator-core.io`",
            ));
        }
        mistakes.extend(
            self.settings.forward_events.iter().filter_map(|receiver| receiver.as_ref().clone().err()),
        );
        let election = self.settings.leader_election.as_ref().map(super::LeaderElection::validate);
        mistakes.extend(election.and_then(Result::err).map(|error| of_election(&error)));
        Mistakes::check(mistakes)
    }

    /// For tests: panics with all mistakes in the operator and its controllers, if there are any.
    ///
    /// # Panics
    /// If the declaration has a mistake.
    #[track_caller]
    pub fn assert_sound(&self) {
        if let Err(mistakes) = self.validate() {
            panic!("the operator's declaration is wrong:\n{mistakes}");
        }
    }
}

fn of_election(error: &LeaderElectionError) -> Mistake {
    let write = match error {
        LeaderElectionError::InvalidLeaseName(_) => "`LeaderElection::new(\"web-page-operator\")`",
        LeaderElectionError::EmptyIdentity => {
            "`.identity(\"…\")` that no other replica has, or leave it out for the pod's name"
        }
        LeaderElectionError::InvalidTimes { .. } => {
            "`.lease_duration(…)`, `.renew_deadline(…)` and `.retry_period(…)`, each longer than the next"
        }
        LeaderElectionError::NoNamespace => "`.namespace(\"…\")` on the leader election",
        LeaderElectionError::Forbidden { .. } => "the rule in the role of the operator's account",
    };
    Mistake::new("the leader election can't work as it is declared", error.to_string(), write)
}
