//! The mistakes of an operator: its own, and those of all its controllers together.

use std::fmt::Write as _;

use k8s_openapi::api::core::v1::{Pod, Secret};

use crate::{
    controller::{Controller, ControllerBuilder},
    dependent::Read,
    operator::{Error, LeaderElection, Operator, OperatorBuilder},
    reconciler::{BoxError, Context, Reconciler, UpdateControl},
    workflow::{Workflow, declare::wire::Wire as _},
};

/// A reconciler that does nothing.
struct Pods;

impl Reconciler for Pods {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

fn pods() -> ControllerBuilder<Pods> {
    Controller::builder(Pods).cleaner(false)
}

fn nowhere() -> ControllerBuilder<Pods> {
    pods().namespaces([""; 0])
}

/// Wrong declarations, each with what is wrong.
fn wrong() -> Vec<(&'static str, OperatorBuilder)> {
    let twice = Workflow::builder().nodes((secret.after(nobody),));
    vec![
        ("no controller", Operator::builder()),
        ("no namespace", Operator::builder().namespaces([""; 0]).register(pods())),
        ("two controllers of one name", Operator::builder().register(pods()).register(pods())),
        (
            "mistakes of two controllers, which have one name, and of the operator",
            Operator::builder()
                .register(nowhere())
                .register(pods().max_concurrent_reconciles(0))
                .register(pods().name("sound"))
                .leader_election(LeaderElection::new("lease").identity("")),
        ),
        (
            "a lease that can't be",
            Operator::builder().register(pods()).leader_election(LeaderElection::new("A lease")),
        ),
        (
            "Events that go nowhere, and whose url is secret",
            Operator::builder().register(pods()).forward_events("hooks.example.com/s3cret"),
        ),
        (
            "a function that fails on its way to a controller",
            Operator::builder().register(twice.build().map(|workflow| pods().workflow(workflow))),
        ),
    ]
}

/// One that is only read.
fn secret(_: &Pod) -> Read<Secret> {
    Read::only()
}

fn nobody(_: &Pod) -> Secret {
    Secret::default()
}

#[test]
fn all_mistakes_are_told_together_by_validate_and_by_build() {
    let mut all = String::new();
    for (name, operator) in wrong() {
        let told = operator.validate().expect_err(name);
        let Err(Error::Declaration(built)) = operator.build() else { panic!("{name}: it was built") };
        assert_eq!(built, told, "{name}");
        for mistake in &told {
            assert_eq!(mistake.to_string().lines().count(), 3, "{name}: {mistake}");
        }
        writeln!(all, "# {name}\n{told}\n").expect("a string takes everything");
    }
    insta::assert_snapshot!("mistakes_of_operators", all);
}

#[test]
fn a_test_can_ask_whether_an_operator_is_sound() {
    Operator::builder().register(pods()).register(pods().name("others")).assert_sound();
    let asked = std::panic::catch_unwind(|| Operator::builder().register(nowhere()).assert_sound());
    let said = asked.expect_err("it is not").downcast::<String>().expect("a text");
    assert!(said.contains("controller `pods`: the list of namespaces is empty\n  why   "), "{said}");
}
