//! The circuit, by examples and by any order of calls.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;

use crate::{
    dependent::system::circuit::{
        CallEnd::{self, Answered, Failed, Refused},
        Circuit, FAILURES, FIRST_PAUSE, LONGEST_PAUSE, TOLD_FOR, Ticket,
    },
    environment::Now,
};

const fn at(seconds: u64) -> Now {
    Now::at(Duration::from_secs(seconds))
}

fn why() -> Arc<str> {
    "create: no route".into()
}

/// One call from its beginning to its end; whether it was made.
fn call(circuit: &mut Circuit, record: &str, outcome: CallEnd, now: Now) -> bool {
    let Ok(ticket) = circuit.begin(now) else { return false };
    circuit.end(&ticket, record, outcome, &why(), now);
    true
}

/// A circuit that has just opened.
fn open(now: Now) -> Circuit {
    let mut circuit = Circuit::default();
    for record in ["a", "b", "a", "b", "a"] {
        assert!(call(&mut circuit, record, Failed, now));
    }
    assert!(circuit.check(now).is_err());
    circuit
}

#[test]
fn it_opens_after_failures_in_a_row_of_two_records() {
    let mut circuit = Circuit::default();
    for second in 0..100 {
        assert!(call(&mut circuit, "a", Failed, at(second)), "one record says nothing of the others");
    }
    assert_eq!(circuit.down(at(99)), None);
    assert!(call(&mut circuit, "b", Failed, at(100)));
    let (down, _) = circuit.down(at(100)).expect("it is down");
    assert_eq!((down.since, down.failures), (at(0), 101));
    assert_eq!((&*down.last, down.again()), ("create: no route", Some(at(101))));
    let down = down.clone();
    assert_eq!(circuit.begin(at(100)), Err(down));
}

#[test]
fn an_answer_in_between_starts_the_row_again_and_so_does_a_refusal() {
    for answer in [Answered, Refused] {
        let mut circuit = Circuit::default();
        for _ in 0..3 {
            for record in ["a", "b", "a", "b"] {
                assert!(call(&mut circuit, record, Failed, at(0)));
            }
            assert!(call(&mut circuit, "c", answer, at(0)));
        }
        assert_eq!(circuit.down(at(0)), None);
    }
}

#[test]
fn one_call_finds_out_in_each_pause_and_the_pauses_grow() {
    let mut circuit = open(at(0));
    let (mut now, mut pauses) = (at(0), Vec::new());
    for _ in 0..7 {
        let again = circuit.down(now).and_then(|(down, _)| down.again()).expect("no call is in progress");
        pauses.push(again.since(now).as_secs());
        now = again;
        let ticket = circuit.begin(now).expect("the pause is over");
        let refused = circuit.begin(now).expect_err("one at a time");
        assert_eq!(refused.again(), None, "it is being called");
        assert!(circuit.end(&ticket, "c", Failed, &why(), now));
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
    let now = now + LONGEST_PAUSE;
    let ticket = circuit.begin(now).expect("the pause is over");
    assert!(circuit.end(&ticket, "c", Answered, &why(), now), "it is told that it is back");
    assert_eq!((circuit.check(now), circuit.down(now)), (Ok(()), None));
}

#[test]
fn what_began_before_closes_it_by_an_answer_and_says_nothing_new_by_a_failure() {
    let early = || {
        let mut circuit = Circuit::default();
        let tickets = [(); 2].map(|()| circuit.begin(at(0)).expect("it is closed"));
        for record in ["a", "b", "a", "b", "a"] {
            assert!(call(&mut circuit, record, Failed, at(0)));
        }
        (circuit, tickets)
    };
    let (mut circuit, [one, other]) = early();
    assert!(!circuit.end(&one, "c", Failed, &why(), at(0)));
    let (down, _) = circuit.down(at(0)).expect("it is down");
    assert_eq!((down.failures, down.again()), (6, Some(at(1))), "it is tried as soon as before");
    // While another call finds out.
    let probe = circuit.begin(at(1)).expect("the pause is over");
    assert!(circuit.end(&other, "d", Answered, &why(), at(1)));
    assert_eq!(circuit.check(at(1)), Ok(()));
    assert!(!circuit.end(&probe, "e", Failed, &why(), at(2)), "one failure is no outage");
    assert_eq!(circuit.check(at(2)), Ok(()));
}

#[test]
fn the_probe_of_an_earlier_outage_is_none_of_this_one() {
    let mut circuit = open(at(0));
    let old = circuit.begin(at(1)).expect("the pause is over");
    let early = Circuit::default().begin(at(0)).expect("it is closed");
    circuit.end(&early, "z", Answered, &why(), at(1));
    for record in ["a", "b", "a", "b", "a"] {
        assert!(call(&mut circuit, record, Failed, at(1)));
    }
    let new = circuit.begin(at(2)).expect("the pause is over");
    assert!(!circuit.end(&old, "c", Failed, &why(), at(2)));
    assert!(circuit.begin(at(60)).is_err(), "the new one is still in progress");
    assert!(circuit.end(&new, "d", Failed, &why(), at(60)));
}

#[test]
fn an_outage_that_no_one_has_asked_about_for_long_is_not_told_and_still_tried() {
    let mut circuit = open(at(0));
    let (_, until) = circuit.down(at(0)).expect("it is down");
    assert_eq!(until, at(1) + TOLD_FOR);
    assert!(circuit.down(at(600)).is_some());
    assert_eq!(circuit.down(until), None);
    let ticket = circuit.begin(until).expect("the pause is over");
    assert!(circuit.down(until).is_some(), "somebody asks again");
    assert!(circuit.begin(until).is_err());
    assert!(circuit.end(&ticket, "a", Failed, &why(), until));
    assert!(circuit.down(until).is_some());
}

#[derive(Clone, Debug)]
enum Step {
    Begin(u8),
    /// The call at this position of those in progress ends.
    End(usize, CallEnd),
    Passes(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..4u8).prop_map(Step::Begin),
        4 => (0..8usize).prop_map(|position| Step::End(position, Failed)),
        1 => ((0..8usize), prop_oneof![Just(Answered), Just(Refused)])
            .prop_map(|(position, outcome)| Step::End(position, outcome)),
        2 => (0..40_000u64).prop_map(Step::Passes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..crate::properties::daily() })]

    #[test]
    fn nothing_is_refused_without_reason_and_an_outage_is_called_rarely(
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut circuit = Circuit::default();
        let (mut now, mut in_progress) = (Now::START, Vec::<(Ticket, u8, bool)>::new());
        // The failures since the last answer, and when the last call was let through that is to find out.
        let (mut failures, mut records, mut probed) = (0_u32, Vec::<u8>::new(), None::<Now>);
        for step in steps {
            let was_down = circuit.down(now).is_some();
            match step {
                Step::Begin(record) => match circuit.begin(now) {
                    Ok(ticket) => {
                        let is_probe = failures >= FAILURES && records.len() > 1;
                        if is_probe {
                            let probing = in_progress.iter().any(|(_, _, is_probe)| *is_probe);
                            prop_assert!(!probing, "one at a time");
                            let pause = probed.map_or(FIRST_PAUSE, |probed| now.since(probed));
                            prop_assert!(pause >= FIRST_PAUSE, "one in each pause");
                            probed = Some(now);
                        }
                        in_progress.push((ticket, record, is_probe));
                    }
                    Err(down) => {
                        prop_assert!(failures >= FAILURES && records.len() > 1, "there is a reason");
                        prop_assert_eq!(down.failures, failures);
                        let probing = in_progress.iter().any(|(_, _, is_probe)| *is_probe);
                        prop_assert_eq!(down.again().is_none(), probing);
                        let again = down.again().unwrap_or(now);
                        prop_assert!(again.since(now) <= LONGEST_PAUSE);
                    }
                },
                Step::End(position, outcome) if !in_progress.is_empty() => {
                    let (ticket, record, _) = in_progress.remove(position % in_progress.len());
                    let told = circuit.end(&ticket, &record.to_string(), outcome, &why(), now);
                    if outcome == Failed {
                        failures += 1;
                        if !records.contains(&record) {
                            records.push(record);
                        }
                    } else {
                        (failures, probed) = (0, None);
                        records.clear();
                        for call in &mut in_progress {
                            call.2 = false;
                        }
                        prop_assert_eq!(circuit.check(now), Ok(()), "an answer closes it");
                    }
                    prop_assert!(told || was_down == circuit.down(now).is_some(), "each change is told");
                }
                Step::End(..) => {}
                Step::Passes(milliseconds) => now = now + Duration::from_millis(milliseconds),
            }
        }
        // A pause is over some time, and then the next call is let through, unless one is finding out.
        for (ticket, record, _) in in_progress {
            circuit.end(&ticket, &record.to_string(), Failed, &why(), now);
        }
        prop_assert!(circuit.begin(now + LONGEST_PAUSE).is_ok());
    }
}
