//! The state machine of the list-watch, without a server and without time.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;

use crate::{
    environment::Now,
    observe::SourceHealth,
    resource::{Cluster, ResourceType},
};

use super::{
    failure::{Failure, Subject},
    fsm::*,
};

const NOW: Now = Now::START;

fn fsm() -> Fsm {
    Fsm::new(subject(), false)
}

fn subject() -> Subject {
    Subject { resource_type: ResourceType::of::<ConfigMap>(), namespace: None, cluster: Cluster::local() }
}

fn page(version: &str, continue_token: Option<&str>) -> Input {
    Input::Page {
        continue_token: continue_token.map(str::to_owned),
        version: (!version.is_empty()).then(|| version.to_owned()),
    }
}

fn refused(status: u16, reason: &str) -> Input {
    Input::Failed(Failure { status: Some(status), ..Failure::new(reason) })
}

fn watch(version: &str) -> Command {
    Command::Watch { version: version.to_owned() }
}

fn first_page(paged: bool) -> Command {
    Command::List { continue_token: None, paged }
}

/// Feeds an input and, if the answer is to wait, the end of the wait; returns what is requested then.
fn after(fsm: &mut Fsm, input: Input) -> Command {
    match fsm.on(input, NOW).next {
        Command::Wait(_) => fsm.on(Input::Waited, NOW).next,
        next @ (Command::List { .. } | Command::Stream | Command::Watch { .. } | Command::Read) => next,
    }
}

#[test]
fn all_pages_have_the_version_of_the_first() {
    let mut fsm = fsm();
    assert_eq!(fsm.start(NOW), first_page(true));
    let decision = fsm.on(page("10", Some("more")), NOW);
    assert_eq!(decision.publish, Publish::Page { first: true, complete: None });
    let decision = fsm.on(page("12", None), NOW);
    assert_eq!(decision.publish, Publish::Page { first: false, complete: Some("10".to_owned()) });
    assert_eq!((decision.health, decision.next), (Some(SourceHealth::Healthy), watch("10")));
}

#[test]
fn an_error_inside_the_watch_is_followed_by_a_watch_from_the_last_event() {
    let mut fsm = fsm();
    fsm.on(page("10", None), NOW);
    assert_eq!(after(&mut fsm, Input::Opened), Command::Read);
    fsm.on(Input::Event { version: Some("15".to_owned()) }, NOW);
    assert_eq!(after(&mut fsm, refused(500, "etcd is away")), watch("15"));
    after(&mut fsm, Input::Opened);
    assert_eq!(after(&mut fsm, Input::Broken(Failure::new("not JSON"))), watch("15"));
}

#[test]
fn versions_that_expire_again_and_again_are_not_a_hot_loop() {
    let mut fsm = fsm();
    let mut waits = Vec::new();
    for _ in 0..4 {
        fsm.on(page("10", None), NOW);
        fsm.on(Input::Opened, NOW);
        waits.push(match fsm.on(refused(410, "too old"), NOW).next {
            Command::Wait(wait) => wait.as_millis(),
            _ => 0,
        });
        fsm.on(Input::Waited, NOW);
    }
    assert_eq!(waits, [0, 800, 1600, 3200]);
}

#[test]
fn a_version_that_the_server_does_not_know_is_given_up_and_an_overloaded_server_is_not_listed_anew() {
    for (status, reason, expected) in [
        (504, "Too large resource version: 900, current: 10", first_page(true)),
        (400, "invalid resource version", first_page(true)),
        (503, "overloaded", watch("900")),
        (403, "forbidden", watch("900")),
    ] {
        let mut fsm = fsm();
        fsm.on(page("900", None), NOW);
        for _ in 0..FAILURES_UNTIL_RELIST - 1 {
            assert_eq!(
                after(&mut fsm, refused(status, reason)),
                watch("900"),
                "{status}, not yet often enough"
            );
        }
        assert_eq!(after(&mut fsm, refused(status, reason)), expected, "{status}");
    }
}

#[test]
fn a_type_that_is_gone_is_listed_anew_at_once() {
    let mut fsm = fsm();
    fsm.on(page("900", None), NOW);
    assert_eq!(after(&mut fsm, refused(404, "page not found")), first_page(true));
}

/// The server ends each watch after its timeout; a server or a proxy that ends each at once is called less and less often.
#[test]
fn only_a_watch_that_ends_at_once_is_followed_by_a_wait() {
    let mut fsm = fsm();
    fsm.on(page("10", None), NOW);
    let mut end_after = |millis| {
        fsm.on(Input::Opened, NOW);
        let next = fsm.on(Input::Ended, at(millis)).next;
        fsm.on(Input::Waited, NOW);
        next
    };
    assert_eq!(end_after(1_000), watch("10"));
    assert_eq!(end_after(999), Command::Wait(Duration::from_millis(800)));
    assert_eq!(end_after(0), Command::Wait(Duration::from_millis(1_600)));
    assert_eq!(end_after(20_000), watch("10"));
    assert_eq!(end_after(0), Command::Wait(Duration::from_millis(800)), "the good one counts");
}

/// A server that can't stream says so when it is asked for a stream, and with words about streams. All other refusals are
/// failures, which are waited for.
#[test]
fn only_a_refused_stream_switches_streams_off() {
    let refusal = || refused(400, "sendInitialEvents is forbidden for watch");
    let mut fsm = Fsm::new(subject(), true);
    assert_eq!(fsm.start(NOW), Command::Stream);
    assert_eq!(fsm.on(refusal(), NOW).next, first_page(true), "at once, as nothing is wrong");
    fsm.on(page("10", None), NOW);
    assert_eq!(after(&mut fsm, refused(410, "too old")), first_page(true), "and never again");
    assert!(matches!(fsm.on(refusal(), NOW).next, Command::Wait(_)), "a list was asked for");

    let mut fsm = Fsm::new(subject(), true);
    assert!(matches!(fsm.on(refused(500, "etcd is away"), NOW).next, Command::Wait(_)));
    fsm.on(page("10", None), NOW);
    assert!(matches!(fsm.on(refusal(), NOW).next, Command::Wait(_)), "a watch was asked for");
    assert_eq!(after(&mut fsm, refused(404, "page not found")), Command::Stream);
}

/// A bookmark in the middle of a streamed list says nothing: what wasn't shown yet isn't gone.
#[test]
fn a_bookmark_before_the_end_of_a_streamed_list_means_nothing() {
    let mut fsm = Fsm::new(subject(), true);
    fsm.on(Input::Opened, NOW);
    for version in [Some("9".to_owned()), None] {
        let decision = fsm.on(Input::Bookmark { version, initial_end: false }, NOW);
        assert_eq!((decision.publish, decision.next), (Publish::Nothing, Command::Read));
    }
}

#[test]
fn a_page_that_the_server_refuses_for_good_leads_to_a_new_list() {
    let mut fsm = fsm();
    fsm.on(page("10", Some("more")), NOW);
    let again = Command::List { continue_token: Some("more".to_owned()), paged: true };
    assert_eq!(after(&mut fsm, refused(500, "etcd is away")), again);
    assert_eq!(after(&mut fsm, refused(400, "invalid token")), first_page(true));
    assert_eq!(after(&mut fsm, page("", None)), first_page(true), "a list without a version is none");
}

#[test]
fn a_list_that_cannot_come_in_one_piece_comes_in_pages_again() {
    let mut fsm = fsm();
    fsm.on(page("10", Some("more")), NOW);
    assert_eq!(after(&mut fsm, refused(410, "the token is too old")), first_page(false));
    assert_eq!(after(&mut fsm, refused(500, "out of memory")), first_page(true));
    fsm.on(page("10", Some("more")), NOW);
    assert_eq!(after(&mut fsm, refused(410, "the token is too old")), first_page(false));
    assert_eq!(after(&mut fsm, refused(410, "too old")), first_page(true));
}

#[test]
fn health_is_told_only_when_it_changes() {
    let mut fsm = fsm();
    assert!(fsm.on(refused(500, "etcd is away"), NOW).health.is_some());
    assert_eq!(fsm.on(refused(500, "etcd is away"), NOW).health, None);
    assert_eq!(fsm.on(page("10", Some("more")), NOW).health, Some(SourceHealth::Syncing));
    assert_eq!(fsm.on(page("10", None), NOW).health, Some(SourceHealth::Healthy));
    assert_eq!(fsm.on(Input::Opened, NOW).health, None);
}

fn at(millis: u64) -> Now {
    Now::at(Duration::from_millis(millis))
}

#[test]
fn trouble_that_comes_back_after_good_words_is_new_trouble() {
    let mut fsm = fsm();
    fsm.on(page("10", None), NOW);
    fsm.on(Input::Opened, NOW);
    // Watches that live for 20 s and show nothing.
    for second in [100, 120, 140] {
        assert_eq!(fsm.on(refused(500, "etcd is away"), at(second * 1_000)).health, None, "{second}");
        fsm.on(Input::Waited, at(second * 1_000));
        fsm.on(Input::Opened, at(second * 1_000));
    }
    // Watches that live shortly and show something.
    for second in 160..180 {
        assert_eq!(fsm.on(refused(500, "etcd is away"), at(second * 1_000)).health, None, "{second}");
        fsm.on(Input::Waited, at(second * 1_000));
        fsm.on(Input::Opened, at(second * 1_000 + 500));
        fsm.on(Input::Event { version: Some("11".to_owned()) }, at(second * 1_000 + 500));
    }
    // Watches that open, show nothing and fail at once are one trouble.
    let mut told = None;
    for second in 180..196 {
        told = told.or(fsm.on(refused(500, "etcd is away"), at(second * 1_000)).health);
        fsm.on(Input::Waited, at(second * 1_000));
        fsm.on(Input::Opened, at(second * 1_000 + 500));
    }
    assert!(matches!(told, Some(SourceHealth::Unhealthy { .. })), "{told:?}");
}

#[test]
fn a_stream_is_asked_for_again_only_after_a_complete_list() {
    let mut fsm = Fsm::new(subject(), true);
    assert_eq!(fsm.start(NOW), Command::Stream);
    assert_eq!(fsm.on(Input::Opened, NOW).publish, Publish::Start);
    let item = fsm.on(Input::Event { version: Some("9".to_owned()) }, NOW);
    assert_eq!((item.publish, item.next), (Publish::Item, Command::Read));
    assert_eq!(after(&mut fsm, Input::Broken(Failure::new("not JSON"))), first_page(true));
    assert_eq!(after(&mut fsm, refused(500, "etcd is away")), first_page(true));
    assert_eq!(fsm.on(page("10", None), NOW).next, watch("10"));
    assert_eq!(after(&mut fsm, refused(410, "too old")), Command::Stream);
    fsm.on(Input::Opened, NOW);
    let end =
        |version: Option<&str>| Input::Bookmark { version: version.map(str::to_owned), initial_end: true };
    assert_eq!(after(&mut fsm, end(None)), first_page(true), "an end without a version is none");
    fsm.on(page("20", None), NOW);
    after(&mut fsm, refused(410, "too old"));
    let decision = fsm.on(Input::Waited, NOW);
    assert_eq!(decision.next, Command::Stream);
    fsm.on(Input::Opened, NOW);
    let decision = fsm.on(end(Some("30")), NOW);
    assert_eq!((decision.publish, decision.next), (Publish::Complete("30".to_owned()), Command::Read));
    assert_eq!(after(&mut fsm, Input::Broken(Failure::new("not JSON"))), watch("30"));
}

#[test]
fn a_server_that_refuses_each_watch_as_too_old_is_reported_until_a_watch_shows_something() {
    let mut fsm = fsm();
    fsm.start(NOW);
    let mut now = NOW;
    let mut told = Vec::new();
    for _ in 0..20 {
        for input in [page("10", None), refused(410, "too old"), Input::Waited] {
            let decision = fsm.on(input, now);
            told.extend(decision.health);
            if let Command::Wait(wait) = decision.next {
                now = now + wait;
            }
        }
    }
    let unhealthy = SourceHealth::Unhealthy { reason: "too old".to_owned(), advice: None };
    assert_eq!(told, [SourceHealth::Healthy, unhealthy], "once, and not with each list");
    fsm.on(page("10", None), now);
    assert_eq!(fsm.on(Input::Opened, now).health, None, "open, and 410 as its first event");
    assert_eq!(
        fsm.on(Input::Event { version: Some("11".to_owned()) }, now).health,
        Some(SourceHealth::Healthy)
    );
}
