//! The changes of an operator by settings.

use std::time::Duration;

use crate::{
    configuration::{ConfigEntry, ConfigLoader, ConfigProvider},
    controller::{Controller, ControllerBuilder, pods_for_tests::Pods},
    environment::Now,
    error::BoxError,
    operator::{LeaderElection, Operator, OperatorBuilder},
    processor::{Retry, RetryState},
};

/// A policy without settings.
#[derive(Debug)]
struct Never;

impl Retry for Never {
    fn begin(&self) -> RetryState {
        RetryState::new(Duration::from_secs(1))
    }

    fn next_delay(&self, _: &mut RetryState, _: Now) -> Option<Duration> {
        None
    }

    fn is_last(&self, _: &RetryState) -> bool {
        true
    }
}

/// Settings as a user may bring them.
struct Own(&'static [(&'static str, &'static str)]);

impl ConfigProvider for Own {
    fn entries(&self) -> Result<Vec<ConfigEntry>, BoxError> {
        match self.0 {
            [] => Err("the shelf is empty".into()),
            entries => Ok(entries
                .iter()
                .map(|(key, value)| ConfigEntry::new(format!("operator.{key}"), *value, "the shelf"))
                .collect()),
        }
    }
}

fn pods() -> ControllerBuilder<Pods> {
    Controller::builder(Pods).cleaner(false)
}

fn own(entries: &'static [(&'static str, &'static str)]) -> ConfigLoader {
    ConfigLoader::new().provider(Own(entries))
}

fn refused(operator: OperatorBuilder) -> Vec<String> {
    let mistakes = operator.resolved().expect_err("it can't be");
    mistakes.iter().map(ToString::to_string).collect()
}

#[test]
fn settings_win_over_the_code_whenever_they_are_given() {
    let declared = LeaderElection::new("declared").namespace("declared");
    let settings = own(&[
        ("leader-election.lease-name", "from-outside"),
        ("reconciliation.termination-timeout", "3s"),
        ("controller.pods.finalizer", "outside.example.com/pods"),
    ]);
    let operator = Operator::builder()
        .configured_by(settings)
        .termination_timeout(Duration::from_secs(60))
        .leader_election(declared)
        .register(pods().cleaner(true));
    let operator = operator.resolved().expect("they can be");
    assert_eq!(operator.settings.termination_timeout, Duration::from_secs(3));
    let election = format!("{:?}", operator.settings.leader_election);
    assert!(election.contains("from-outside") && election.contains("Some(\"declared\")"), "{election}");
    assert_eq!(operator.settings.configured["operator.controller.pods.finalizer"], "the shelf");
    let again = operator.resolved().expect("nothing is left to be read");
    assert_eq!(again.settings.termination_timeout, Duration::from_secs(3));
}

#[test]
fn what_has_no_meaning_for_this_declaration_is_told() {
    let told = refused(Operator::builder().register(pods().retry(Never)).configured_by(own(&[
        ("controller.pods.finalizer", "a.b/c"),
        ("controller.pods.retry.max-attempts", "3"),
        ("controller.pods.field-manager", "a b"),
        ("controller.pods.rate-limiter.limit-for-period", "3"),
        ("leader-election.identity", "me"),
    ])));
    insta::assert_snapshot!("without_meaning", told.join("\n"));
}

#[test]
fn mistakes_of_code_and_settings_are_told_together() {
    let told = refused(
        Operator::builder()
            .register(pods().max_concurrent_reconciles(0))
            .configured_by(own(&[("controller.pod.finalizer", "a.b/c"), ("nonsense", "1")]))
            .configured_by(own(&[])),
    );
    insta::assert_snapshot!("code_and_settings", told.join("\n"));
}

#[test]
fn an_election_can_be_taken_away_and_its_times_have_to_fit() {
    let declared = || Operator::builder().register(pods()).leader_election(LeaderElection::new("declared"));
    let without = declared().configured_by(own(&[("leader-election.enabled", "false")]));
    let without = without.resolved().expect("it can be");
    assert!(without.settings.leader_election.is_none());
    let told = refused(declared().configured_by(own(&[("leader-election.lease-duration", "5s")])));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("the shelf: the leader election can't work with these settings"), "{told:?}");
}
