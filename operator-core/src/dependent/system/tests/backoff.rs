//! The pauses of records.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;

use crate::{
    dependent::system::{
        CallKind::{self, Create, Delete, Find, Observe, Update},
        backoff::{Backoff, LONGEST_PAUSE},
        circuit::CallEnd::{self, Answered, Failed, Refused},
    },
    environment::Now,
};

const fn at(seconds: u64) -> Now {
    Now::at(Duration::from_secs(seconds))
}

fn end(backoff: &mut Backoff, record: &str, kind: CallKind, outcome: CallEnd, now: Now) {
    backoff.end(record, kind, outcome, &Arc::from("create: no route"), now);
}

/// How long the record waits.
fn pause(backoff: &Backoff, record: &str, now: Now) -> u64 {
    backoff.check(record, now).err().map_or(0, |paused| paused.again.since(now).as_secs())
}

#[test]
fn the_pauses_of_a_record_grow_and_are_its_own() {
    let mut backoff = Backoff::default();
    let (mut now, mut pauses) = (at(0), Vec::new());
    for _ in 0..9 {
        end(&mut backoff, "a/record", Create, Failed, now);
        pauses.push(pause(&backoff, "a/record", now));
        now = now + Duration::from_secs(*pauses.last().unwrap());
        assert_eq!(pause(&backoff, "a/record", now), 0);
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 120, 120]);
    end(&mut backoff, "a/record", Create, Failed, now);
    assert_eq!(pause(&backoff, "a/other", now), 0);
    end(&mut backoff, "a/record", Create, Answered, now);
    assert!(backoff.0.is_empty());
}

#[test]
fn a_read_that_goes_well_does_not_end_the_pauses_of_a_change_that_never_does() {
    let mut backoff = Backoff::default();
    let record = "a/record";
    let mut pauses = Vec::new();
    for second in [0, 10, 20] {
        end(&mut backoff, record, Observe, Answered, at(second));
        end(&mut backoff, record, Update, Failed, at(second));
        pauses.push(pause(&backoff, record, at(second)));
    }
    assert_eq!(pauses, [1, 2, 4]);
    end(&mut backoff, record, Observe, Failed, at(30));
    end(&mut backoff, record, Observe, Answered, at(40));
    end(&mut backoff, record, Update, Failed, at(40));
    assert_eq!(pause(&backoff, record, at(40)), 16);
    end(&mut backoff, record, Delete, Answered, at(60));
    assert!(backoff.0.is_empty());
    end(&mut backoff, record, Observe, Failed, at(60));
    end(&mut backoff, record, Observe, Answered, at(70));
    assert!(backoff.0.is_empty(), "those of reads end with a read");
}

#[test]
fn a_refusal_waits_as_long_as_a_first_failure() {
    let mut backoff = Backoff::default();
    let record = "a/record";
    for second in [0, 10, 20] {
        end(&mut backoff, record, Create, Failed, at(second));
    }
    assert_eq!(pause(&backoff, record, at(20)), 4);
    for second in [30, 40] {
        end(&mut backoff, record, Create, Refused, at(second));
        assert_eq!(pause(&backoff, record, at(second)), 1);
    }
}

#[test]
fn a_failure_long_after_the_last_is_the_first_again() {
    let mut backoff = Backoff::default();
    let record = "a/record";
    end(&mut backoff, record, Create, Failed, at(0));
    end(&mut backoff, record, Create, Failed, at(1) + LONGEST_PAUSE);
    assert_eq!(pause(&backoff, record, at(1) + LONGEST_PAUSE), 1);
}

const KINDS: [CallKind; 5] = [Observe, Find, Create, Update, Delete];
const READS: usize = 3;

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn a_pause_has_a_bound_and_only_records_that_failed_are_kept(
        steps in prop::collection::vec((0..3u8, 0..3u8, 0..5usize, 0..200u64), 1..80),
    ) {
        let mut backoff = Backoff::default();
        let mut now = Now::START;
        let mut failed = std::collections::BTreeSet::new();
        for (name, outcome, kind, seconds) in steps {
            now = now + Duration::from_secs(seconds);
            let record = &*format!("{name}/record");
            let outcome = [Answered, Refused, Failed][usize::from(outcome)];
            end(&mut backoff, record, KINDS[kind], outcome, now);
            if outcome == Answered {
                prop_assert!(kind < READS || backoff.check(record, now).is_ok(), "a change was answered");
                if kind >= READS {
                    failed.remove(&name);
                }
            } else {
                failed.insert(name);
                let again = backoff.check(record, now).expect_err("it has failed just now").again;
                prop_assert!(again.since(now) <= LONGEST_PAUSE);
            }
            let kept = backoff.0.len();
            prop_assert!(kept <= failed.len(), "{kept} of {failed:?}");
        }
        for name in 0..3u8 {
            end(&mut backoff, &format!("{name}/record"), Update, Answered, now);
        }
        prop_assert!(backoff.0.is_empty());
    }
}
