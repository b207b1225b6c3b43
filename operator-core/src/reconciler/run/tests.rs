//! The statements of a run about its primary.

use std::{collections::BTreeMap, fmt, sync::Arc};

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::Service,
    apimachinery::pkg::apis::meta::v1::{Condition, FieldsV1, ManagedFieldsEntry},
};
use serde_json::{Value, json};

use super::{
    RunError,
    conditions::{Verdict, known},
};
use crate::{
    error::{BoxError, Permanent},
    results::{DependentError, NOT_COME_TO, NodeResult, NodeState, Operation, Unwanted, WorkflowError},
};

fn node(name: &str, state: NodeState) -> NodeResult {
    NodeResult {
        name: name.into(),
        state,
        reconciled: None,
        conditions: BTreeMap::new(),
        error: None,
        unwanted: None,
        kept: None,
    }
}

fn ready() -> NodeResult {
    node("ready", NodeState::Ready(Operation::Matched))
}

fn pending(reason: &str) -> NodeState {
    NodeState::Pending { reason: reason.to_owned() }
}

fn error(change: impl FnOnce(&mut RunError)) -> RunError {
    let mut error = RunError {
        error: Arc::new("no luck".into()),
        attempt: 0,
        is_last_attempt: false,
        is_stalled: false,
        timed_out: false,
        panicked: false,
        node: None,
    };
    change(&mut error);
    error
}

/// Whether each condition holds, with its reason, and the messages that differ from that of the one before.
fn said(verdict: &Verdict) -> String {
    let mut all = Vec::new();
    verdict.say(&mut all, Some(3), Timestamp::UNIX_EPOCH);
    let mut messages: Vec<&str> = all.iter().map(|of| &*of.message).filter(|of| !of.is_empty()).collect();
    messages.dedup();
    let heads: Vec<_> = all.iter().map(|of| format!("{} {} {}", of.type_, of.status, of.reason)).collect();
    assert!(all.iter().all(|of| of.observed_generation == Some(3)));
    format!("{}: {}", heads.join(", "), messages.join(" | "))
}

fn of(nodes: &[NodeResult]) -> String {
    said(&Verdict::of(None, false, Some(nodes), (None, None)))
}

#[test]
fn a_run_in_which_nothing_is_wanted_says_why_and_what_is_kept_is_told() {
    let unwanted = |name: &str, state, reason: &str| NodeResult {
        unwanted: Some(Unwanted { by: None, reason: reason.to_owned(), deleted: Some(1) }),
        ..node(name, state)
    };
    let web = unwanted("web", NodeState::Deleted, "not exposed");
    let route = node("route", NodeState::Inactive { reason: "no such kind".to_owned() });
    let why = "web: not exposed; route: no such kind";
    let nothing = |reconciling| {
        format!(
            "Ready True NothingWanted, Reconciling {reconciling} NothingWanted, Stalled False NothingWanted: {why}"
        )
    };
    assert_eq!(of(&[web.clone(), route.clone()]), nothing("False"));
    let going = NodeState::Deleting { reason: "it takes its time".to_owned() };
    let going = of(&[unwanted("web", going, "not exposed"), route.clone()]);
    assert_eq!(going, format!("{} | web: deleting: it takes its time", nothing("True")));
    assert!(of(&[web.clone(), ready()]).starts_with("Ready True Succeeded, Reconciling False"));
    assert!(of(&[route]).starts_with("Ready True Succeeded"), "nobody has said that nothing is wanted");
    let keeping = NodeResult { kept: Some("stays for app, which is held".to_owned()), ..ready() };
    assert_eq!(
        of(&[keeping]),
        "Ready True Succeeded, Reconciling True Removing, Stalled False Succeeded: ready: what it no longer wants stays for app, \
         which is held"
    );
}

#[test]
fn each_end_of_a_run_has_its_words() {
    let waiting = node("web", NodeState::Waiting { reason: "informer of Route is syncing".into() });
    let held = node("web", NodeState::Held { reason: "a window".into() });
    let behind = node("behind", NodeState::Blocked { by: "web".into(), reason: "to be released".into() });
    let failed = node("web", NodeState::Failed { error: "no room".into() });
    let removed = node("gone", NodeState::Deleted);
    let good = "Ready True Succeeded, Reconciling False Succeeded, Stalled False Succeeded: ";
    assert_eq!(of(&[ready(), removed]), good);
    assert_eq!(said(&Verdict::of(None, false, None, (None, None))), good, "without a workflow");
    assert_eq!(
        said(&Verdict::of(None, false, None, (None, Some("the workflow was not run".to_owned())))),
        "Ready False Waiting, Reconciling True Waiting, Stalled False Waiting: the workflow was not run"
    );
    assert_eq!(
        of(&[ready(), waiting.clone()]),
        "Ready False Waiting, Reconciling True Waiting, Stalled False Waiting: web: waiting: informer of Route is syncing"
    );
    assert_eq!(
        of(&[held.clone(), behind.clone()]),
        "Ready False Held, Reconciling False Held, Stalled True Held: web: held: a window"
    );
    let not_ready = |operation| node("db", NodeState::NotReady { operation, reason: "0/3 replicas".into() });
    let after_it = node("app", NodeState::Blocked { by: "db".into(), reason: "to be ready".into() });
    for operation in [Operation::Created, Operation::Updated, Operation::Matched] {
        assert_eq!(
            of(&[not_ready(operation), after_it.clone()]),
            "Ready False Waiting, Reconciling True Waiting, Stalled False Waiting: db: not ready: 0/3 replicas",
            "the cause alone, whatever the run did"
        );
    }
    let other = NodeResult { name: "other".into(), ..waiting.clone() };
    assert_eq!(
        of(&[held, behind, other]),
        "Ready False Held, Reconciling True Waiting, Stalled True Held: web: held: a window | other: waiting: informer of Route is \
         syncing | web: held: a window"
    );
    assert_eq!(
        of(&[ready(), failed, waiting.clone()]),
        "Ready False Failed, Reconciling False Failed, Stalled True Failed: web: failed: no room",
        "where the reconciler handles the errors of nodes"
    );
    assert_eq!(
        said(&Verdict::of(None, true, Some(&[waiting]), (None, None))),
        "Ready False Deleting, Reconciling True Deleting, Stalled False Deleting: web: waiting: informer of Route is syncing"
    );
}

#[test]
fn an_error_is_told_whatever_the_nodes_have_come_to() {
    let of = |error: &RunError, nodes: &[NodeResult]| {
        said(&Verdict::of(Some(error), false, Some(nodes), (None, None)))
    };
    assert_eq!(
        of(&error(|_| ()), &[ready()]),
        "Ready False Failed, Reconciling True Failed, Stalled False Failed: no luck"
    );
    assert_eq!(
        of(&error(|error| error.is_stalled = true), &[ready()]),
        "Ready False Failed, Reconciling False Failed, Stalled True Failed: no luck"
    );
    assert_eq!(
        of(&error(|error| error.panicked = true), &[]),
        "Ready False Panicked, Reconciling True Panicked, Stalled False Panicked: no luck"
    );
    let nodes =
        [ready(), node("slow", pending("dependent called 28 s ago")), node("last", pending(NOT_COME_TO))];
    assert_eq!(
        of(&error(|error| error.timed_out = true), &nodes),
        "Ready False TimedOut, Reconciling True TimedOut, Stalled False TimedOut: no luck; slow: pending: dependent called 28 s ago"
    );
}

#[test]
fn a_long_message_is_cut_where_a_letter_ends() {
    let failed = node("web", NodeState::Failed { error: "ü".repeat(2000) });
    let mut all = Vec::new();
    Verdict::of(None, false, Some(&[failed]), (None, None)).say(&mut all, None, Timestamp::UNIX_EPOCH);
    assert!(all[0].message.len() < 1100 && all[0].message.ends_with("ü…"), "{}", all[0].message);
}

/// A service with the conditions of these types, and the managed fields of some of its appliers.
fn service(types: &[&str], managed: &[(&str, Value)]) -> Service {
    let condition = |of: &&str| {
        json!({
            "type": of, "status": "True", "reason": "Told", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let conditions: Vec<_> = types.iter().map(condition).collect();
    let mut service: Service =
        serde_json::from_value(json!({ "status": { "conditions": conditions } })).expect("a service");
    let entry = |(manager, conditions): &(&str, Value)| ManagedFieldsEntry {
        manager: Some((*manager).to_owned()),
        operation: Some("Apply".to_owned()),
        subresource: Some("status".to_owned()),
        // As the cache keeps them.
        fields_v1: Some(FieldsV1(json!({ "f:status": { "f:conditions": conditions } }).to_string().into())),
        ..ManagedFieldsEntry::default()
    };
    service.metadata.managed_fields = Some(managed.iter().map(entry).collect());
    service
}

fn types(conditions: Option<Vec<Condition>>) -> Option<Vec<String>> {
    conditions.map(|all| all.into_iter().map(|condition| condition.type_).collect())
}

#[test]
fn what_others_have_said_is_said_again_only_where_it_would_be_lost() {
    let (whole, both) = (json!({}), ["Ready", "Theirs", "Mine"]);
    let items = json!({ "k:{\"type\":\"Ready\"}": {}, "k:{\"type\":\"Mine\"}": {} });
    let known = |service: &Service, live: Option<&Service>| {
        let live = live.map(|live| live as &dyn crate::resource::Object);
        types(known(service, "me", live)).map(|types| types.join(" "))
    };
    let all = Some("Ready Theirs Mine".to_owned());
    assert_eq!(known(&service(&both, &[("me", whole.clone())]), None), all);
    assert_eq!(known(&service(&both, &[("me", items.clone())]), None).as_deref(), Some("Ready Mine"));
    // Who has applied none yet has to look, unless there is nothing to be lost.
    let first = service(&["Theirs"], &[]);
    assert_eq!(known(&service(&[], &[]), None).as_deref(), Some(""));
    assert_eq!(known(&service(&["Ready"], &[]), None).as_deref(), Some("Ready"));
    assert_eq!(known(&first, None), None);
    let theirs = json!({ "k:{\"type\":\"Theirs\"}": {} });
    assert_eq!(known(&first, Some(&service(&["Theirs"], &[("other", theirs)]))).as_deref(), Some(""));
    assert_eq!(known(&first, Some(&service(&["Theirs"], &[("other", whole)]))).as_deref(), Some("Theirs"));
    assert_eq!(known(&first, Some(&first)).as_deref(), Some("Theirs"), "who knows");
}

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("version {0} isn't known")]
struct Unknown(u32);

#[test]
fn a_typed_error_is_found_however_it_is_wrapped() {
    #[derive(Debug, thiserror::Error)]
    #[error("the site can't be built")]
    struct Wrapped(#[source] BoxError);

    let boxed = || BoxError::from(Unknown(7));
    let of_node = |error: BoxError| WorkflowError::Nodes(vec![("web".into(), Arc::new(error))]);
    let of_item = DependentError::Items { failed: vec![("one".to_owned(), Arc::new(boxed()))], of: 2 };
    let ways: [BoxError; 8] = [
        boxed(),
        Permanent::new(Unknown(7)).into(),
        Wrapped(Permanent::new(Wrapped(boxed())).into()).into(),
        of_node(boxed()).into(),
        of_node(Permanent::new(boxed()).into()).into(),
        of_node(of_item.into()).into(),
        anyhow::Error::from(Unknown(7)).context("while it was built").into(),
        anyhow::Error::from(Unknown(7)).reallocate_into_boxed_dyn_error_without_backtrace(),
    ];
    for way in ways {
        assert_eq!(super::error::find(&*way), Some(&Unknown(7)), "{way:?}");
        assert!(super::error::find::<fmt::Error>(&*way).is_none(), "{way:?}");
    }
}
