//! Tests of the machine: one candidate by hand, then several under chance.

mod model;

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::LeaseSpec;

use super::{
    LostLeadership,
    configuration::Timing,
    machine::{Decision, Machine, Reply, Request},
};
use crate::environment::Now;

const TIMING: Timing = Timing {
    lease_duration: Duration::from_secs(15),
    renew_deadline: Duration::from_secs(10),
    retry_period: Duration::from_secs(2),
};

fn at(seconds: u64) -> Now {
    Now::at(Duration::from_secs(seconds))
}

fn wall(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + seconds).expect("a time of this century")
}

fn machine() -> Machine {
    Machine::new("me".to_owned(), TIMING)
}

/// A lease that is held, at some moment of its life.
fn held_by(holder: &str, renewed: i64) -> Reply {
    let mut other = Machine::new(holder.to_owned(), TIMING);
    other.answered(Request::Read, at(0), Reply::Absent, at(0));
    Reply::Lease(other.record(wall(renewed)))
}

fn asks(machine: &mut Machine, now: Now) -> Request {
    match machine.next(now) {
        Decision::Ask(request, _) => request,
        other => panic!("asks nothing at {now:?}: {other:?}"),
    }
}

/// The machine asks for this, and its own record comes back.
fn writes(machine: &mut Machine, request: Request, now: Now) -> LeaseSpec {
    assert_eq!(asks(machine, now), request);
    let record = machine.record(wall(0));
    machine.answered(request, now, Reply::Lease(record.clone()), now);
    record
}

/// A machine that leads from the second 0 on.
fn leading() -> Machine {
    let mut machine = machine();
    assert_eq!(asks(&mut machine, at(0)), Request::Read);
    machine.answered(Request::Read, at(0), Reply::Absent, at(0));
    writes(&mut machine, Request::Create, at(0));
    assert_eq!((machine.term(), machine.holder()), (Some(at(10)), Some("me")));
    machine
}

#[test]
fn a_leader_renews_each_retry_period_and_its_term_begins_when_the_request_was_sent() {
    let mut machine = leading();
    assert_eq!(machine.next(at(1)), Decision::Wait(at(2)));
    assert_eq!(machine.next(at(2)), Decision::Ask(Request::Replace, at(7)));
    let record = machine.record(wall(2));
    machine.answered(Request::Replace, at(2), Reply::Lease(record), at(6));
    assert_eq!(machine.term(), Some(at(12)), "not 16: others may have seen it at 2");
}

#[test]
fn each_renewal_is_a_change_whatever_the_wall_clock_says() {
    let mut machine = leading();
    let mut last = machine.record(wall(0));
    machine.answered(Request::Replace, at(1), Reply::Lease(last.clone()), at(1));
    for (moment, seconds) in [(2, 0), (3, -3600), (4, 7), (5, 7)] {
        let record = machine.record(wall(seconds));
        assert!(record.renew_time > last.renew_time, "{record:?} after {last:?}");
        assert_eq!((&record.acquire_time, record.lease_transitions), (&last.acquire_time, Some(0)));
        machine.answered(Request::Replace, at(moment), Reply::Lease(record.clone()), at(moment));
        last = record;
    }
}

#[test]
fn a_term_ends_at_its_deadline_even_if_nobody_has_looked_at_the_clock() {
    let mut machine = leading();
    let record = machine.record(wall(0));
    // Sent in time, answered after the process was stopped for a minute.
    machine.answered(Request::Replace, at(9), Reply::Lease(record), at(70));
    assert_eq!((machine.term(), machine.next(at(70))), (None, Decision::Lost(LostLeadership::NotRenewed)));
    let mut machine = leading();
    assert_eq!(machine.next(at(10)), Decision::Lost(LostLeadership::NotRenewed));
    assert_eq!(machine.next(at(11)), Decision::Lost(LostLeadership::NotRenewed), "for good");
}

#[test]
fn a_leader_whose_requests_fail_tries_until_the_deadline() {
    let mut machine = leading();
    let mut attempts = Vec::new();
    for second in 0..10 {
        if let Decision::Ask(request, until) = machine.next(at(second)) {
            attempts.push((second, request));
            assert!(until <= at(10), "no attempt outlives the term");
            machine.answered(request, at(second), Reply::Failed, at(second));
        }
    }
    let reads = |second| (second, Request::Read);
    assert_eq!(attempts, [(2, Request::Replace), reads(4), reads(6), reads(8)]);
    assert_eq!(machine.term(), Some(at(10)));
    // In the last second it works again.
    machine.answered(Request::Read, at(9), Reply::Lease(machine.record(wall(0))), at(9));
    writes(&mut machine, Request::Replace, at(9));
    assert_eq!(machine.term(), Some(at(19)));
}

#[test]
fn a_leader_whose_lease_is_taken_emptied_or_deleted_stops_at_once() {
    let taken = |by: Option<&str>| LostLeadership::Taken { by: by.map(str::to_owned) };
    for (seen, lost) in [
        (held_by("other", 3), taken(Some("other"))),
        (Reply::Lease(LeaseSpec::default()), taken(None)),
        (Reply::Absent, LostLeadership::Deleted),
    ] {
        let mut machine = leading();
        assert_eq!(asks(&mut machine, at(2)), Request::Replace);
        machine.answered(Request::Replace, at(2), Reply::Conflict, at(2));
        assert_eq!(asks(&mut machine, at(2)), Request::Read, "at once");
        machine.answered(Request::Read, at(2), seen, at(2));
        assert_eq!((machine.term(), machine.next(at(2))), (None, Decision::Lost(lost)));
    }
    let mut machine = leading();
    machine.answered(Request::Replace, at(2), Reply::Absent, at(2));
    assert_eq!(machine.next(at(2)), Decision::Lost(LostLeadership::Deleted));
}

#[test]
fn a_change_that_leaves_the_holder_alone_costs_a_leader_one_more_request() {
    let mut machine = leading();
    let own = machine.record(wall(0));
    assert_eq!(asks(&mut machine, at(2)), Request::Replace);
    machine.answered(Request::Replace, at(2), Reply::Conflict, at(2));
    machine.answered(Request::Read, at(2), Reply::Lease(own), at(2));
    writes(&mut machine, Request::Replace, at(2));
    assert_eq!(machine.term(), Some(at(12)));
}

#[test]
fn conflicts_without_end_are_no_hot_loop() {
    let mut machine = leading();
    let own = machine.record(wall(0));
    let mut requests = 0;
    for second in 0..10 {
        while let Decision::Ask(request, _) = machine.next(at(second)) {
            requests += 1;
            let answer = match request {
                Request::Read => Reply::Lease(own.clone()),
                Request::Create | Request::Replace => Reply::Conflict,
            };
            machine.answered(request, at(second), answer, at(second));
            assert!(requests < 30, "no time passes");
        }
    }
    assert_eq!(machine.next(at(10)), Decision::Lost(LostLeadership::NotRenewed));
}

#[test]
fn a_candidate_waits_a_lease_duration_after_the_last_change_that_it_has_seen() {
    let mut machine = machine();
    // A wall clock that goes back is a sign of life as well.
    for (second, renewed) in [(100, 0), (102, 0), (104, 2), (106, 2), (110, -7200)] {
        assert_eq!(asks(&mut machine, at(second)), Request::Read);
        machine.answered(Request::Read, at(second), held_by("other", renewed), at(second));
    }
    let (mut now, mut looks) = (at(110), Vec::new());
    loop {
        match machine.next(now) {
            Decision::Wait(until) => now = until,
            Decision::Ask(Request::Read, _) => {
                looks.push(now);
                machine.answered(Request::Read, now, held_by("other", -7200), now);
            }
            other => {
                assert_eq!((now, other), (at(125), Decision::Ask(Request::Replace, at(130))));
                break;
            }
        }
    }
    assert_eq!(looks, [112, 114, 116, 118, 120, 122, 124, 125].map(at));
    let record = writes(&mut machine, Request::Replace, now);
    assert_eq!((record.holder_identity.as_deref(), record.lease_transitions), (Some("me"), Some(1)));
}

#[test]
fn the_time_for_which_a_lease_is_respected_is_the_one_in_it_and_an_hour_at_most() {
    for (seconds, respected) in [(60, 60), (3600, 3600), (3601, 3600), (i32::MAX, 3600)] {
        let mut machine = machine();
        let Reply::Lease(mut lease) = held_by("other", 0) else { panic!("a lease") };
        lease.lease_duration_seconds = Some(seconds);
        machine.answered(Request::Read, at(0), Reply::Lease(lease.clone()), at(0));
        machine.answered(Request::Read, at(respected - 1), Reply::Lease(lease.clone()), at(respected - 1));
        assert_eq!(machine.next(at(respected - 1)), Decision::Wait(at(respected)));
        machine.answered(Request::Read, at(respected), Reply::Lease(lease), at(respected));
        assert_eq!(asks(&mut machine, at(respected)), Request::Replace);
    }
}

#[test]
fn what_was_given_back_is_free_and_what_was_emptied_by_hand_is_not() {
    let Reply::Lease(lease) = held_by("other", 0) else { panic!("a lease") };
    let emptied = LeaseSpec { holder_identity: Some(String::new()), ..lease.clone() };
    let released = Machine::release(lease, wall(1));
    assert_eq!(released.renew_time.as_ref().map(|time| time.0), Some(wall(1)), "when it was given back");
    for (lease, is_free) in [(LeaseSpec::default(), true), (released, true), (emptied, false)] {
        let mut machine = machine();
        machine.answered(Request::Read, at(0), Reply::Lease(lease.clone()), at(0));
        assert_eq!(matches!(machine.next(at(0)), Decision::Ask(Request::Replace, _)), is_free, "{lease:?}");
        assert_eq!(machine.holder(), None);
    }
}

#[test]
fn a_lease_that_is_gone_counts_as_held_by_all_who_have_seen_it() {
    let mut machine = machine();
    machine.answered(Request::Read, at(0), held_by("other", 0), at(0));
    machine.answered(Request::Read, at(2), Reply::Absent, at(2));
    assert_eq!(machine.next(at(2)), Decision::Wait(at(4)));
    for second in [4, 6, 8, 10, 12, 14, 16] {
        assert_eq!(asks(&mut machine, at(second)), Request::Read);
        machine.answered(Request::Read, at(second), Reply::Absent, at(second));
    }
    assert_eq!(machine.next(at(16)), Decision::Wait(at(17)), "others may have held it since 0");
    machine.answered(Request::Read, at(17), Reply::Absent, at(17));
    writes(&mut machine, Request::Create, at(17));
    assert_eq!(machine.term(), Some(at(27)));
}

#[test]
fn a_lease_that_is_gone_again_after_a_while_without_a_look_counts_as_just_gone() {
    let mut machine = machine();
    machine.answered(Request::Read, at(0), held_by("other", 0), at(0));
    machine.answered(Request::Read, at(2), Reply::Absent, at(2));
    machine.answered(Request::Read, at(20), Reply::Absent, at(20));
    assert_eq!(machine.next(at(20)), Decision::Wait(at(22)), "it may have been made and deleted meanwhile");
}

#[test]
fn a_look_each_two_retry_periods_is_often_enough() {
    let mut machine = machine();
    machine.answered(Request::Read, at(0), held_by("other", 0), at(0));
    for second in [2, 6, 10, 14, 17] {
        machine.answered(Request::Read, at(second), Reply::Absent, at(second));
    }
    assert_eq!(asks(&mut machine, at(17)), Request::Create);
}

#[test]
fn a_candidate_whose_lease_is_deleted_while_it_takes_it_goes_on() {
    let mut machine = machine();
    machine.answered(Request::Read, at(0), Reply::Lease(LeaseSpec::default()), at(0));
    assert_eq!(asks(&mut machine, at(0)), Request::Replace);
    machine.answered(Request::Replace, at(0), Reply::Absent, at(0));
    assert_eq!(machine.next(at(0)), Decision::Wait(at(2)), "nothing was held that could be lost");
    assert_eq!(asks(&mut machine, at(2)), Request::Read);
}

#[test]
fn the_own_name_is_somebody_else_s_before_this_machine_leads() {
    let mut machine = machine();
    machine.answered(Request::Read, at(0), held_by("me", 0), at(0));
    assert_eq!(machine.next(at(0)), Decision::Wait(at(2)), "another process of this name may still write");
    assert_eq!(machine.term(), None);
}

#[test]
fn a_candidate_whose_takeover_is_answered_too_late_does_not_lead() {
    let mut machine = machine();
    machine.answered(Request::Read, at(0), Reply::Absent, at(0));
    let record = machine.record(wall(0));
    machine.answered(Request::Create, at(0), Reply::Lease(record.clone()), at(10));
    assert_eq!((machine.term(), machine.next(at(10))), (None, Decision::Wait(at(12))));
    machine.answered(Request::Read, at(24), Reply::Lease(record.clone()), at(24));
    assert_eq!(machine.next(at(24)), Decision::Wait(at(25)));
    machine.answered(Request::Read, at(25), Reply::Lease(record), at(25));
    writes(&mut machine, Request::Replace, at(25));
    assert_eq!(machine.term(), Some(at(35)));
}

#[test]
fn a_candidate_never_gives_up() {
    let mut machine = machine();
    let mut now = at(0);
    let mut attempts = 0;
    while now < at(3600) {
        match machine.next(now) {
            Decision::Wait(until) => now = until,
            Decision::Ask(request, _) => {
                attempts += 1;
                machine.answered(request, now, Reply::Failed, now);
            }
            Decision::Lost(lost) => panic!("{lost}"),
        }
    }
    assert_eq!(attempts, 1800);
    machine.answered(Request::Read, now, Reply::Absent, now);
    writes(&mut machine, Request::Create, now);
    assert!(machine.term().is_some());
}
