//! A row for each state of a component.

use super::*;

#[test]
fn what_comes_first_counts() {
    let gates = [Err("no version".to_owned()), Ok(false), Ok(true)];
    for gate in gates {
        for not_started in [Some("waits".to_owned()), None] {
            for is_suspended in [true, false] {
                let expected = match (&gate, &not_started, is_suspended) {
                    (Err(_), ..) => "False/FeatureGateError: no version",
                    (Ok(false), ..) => "True/Disabled: Component is disabled.",
                    (Ok(true), Some(_), _) => "False/PrerequisiteNotMet: waits",
                    (Ok(true), None, true) => "True/Suspended: All resources are suspended.",
                    (Ok(true), None, false) => "True/Healthy: Component is healthy.",
                };
                let stage = Stage::of(gate.clone(), not_started.clone(), is_suspended);
                let outcome = judge(&stage, &[], &Before::default(), None, at(0));
                assert_eq!(told(&outcome.row), expected, "{gate:?} {not_started:?} {is_suspended}");
                assert_eq!(outcome, outcome.row.clone().into(), "no clock");
            }
        }
    }
}

#[test]
fn a_disabled_component_has_nothing_left() {
    let leaving = part(Reason::Updating, "being deleted");
    let refused = part(Reason::Error, "forbidden");
    let gone = part(Reason::Disabled, "gone");
    let judge = |parts: &[Part]| judge(&Stage::Off, parts, &Before::default(), None, at(0));
    assert_eq!(told(&judge(&[leaving.clone(), gone.clone()]).row), "False/Updating: being deleted");
    assert_eq!(told(&judge(&[leaving, refused]).row), "False/Error: forbidden");
    assert_eq!(told(&judge(&[gone]).row), "True/Disabled: Component is disabled.");
}

#[test]
fn a_suspended_component_has_nothing_that_runs() {
    let runs = Part { is_auxiliary: true, ..part(Reason::Suspending, "2 replicas") };
    let rests = part(Reason::Suspended, "no replicas");
    let waits = part(Reason::PendingSuspension, "waits for data");
    let failed = part(Reason::Error, "forbidden");
    let fails = part(Reason::Failing, "broken");
    let judge = |parts: &[Part]| told(&judge(&Stage::Suspended, parts, &Before::default(), None, at(0)).row);
    assert_eq!(judge(std::slice::from_ref(&rests)), "True/Suspended: All resources are suspended.");
    assert_eq!(
        judge(&[rests.clone(), runs.clone(), runs.clone()]),
        "True/Suspending: 2 replicas; 2 replicas"
    );
    assert_eq!(judge(&[runs.clone(), waits]), "True/PendingSuspension: waits for data");
    assert_eq!(judge(&[runs, failed]), "False/Error: forbidden");
    assert_eq!(judge(&[rests, fails]), "False/Failing: broken");
}

#[test]
fn an_auxiliary_node_counts_only_while_it_waits() {
    let auxiliary = |reason| Part { is_auxiliary: true, ..part(reason, "exporter") };
    let healthy = part(Reason::Healthy, "");
    for reason in [Reason::Failing, Reason::Error, Reason::Creating, Reason::Healthy] {
        let row =
            judge(&Stage::On, &[healthy.clone(), auxiliary(reason)], &Before::default(), None, at(0)).row;
        assert_eq!(told(&row), "True/Healthy: Component is healthy.", "{reason}");
    }
    let row = judge(&Stage::On, &[healthy, auxiliary(Reason::Blocked)], &Before::default(), None, at(0)).row;
    assert_eq!(told(&row), "False/Blocked: exporter");
}

fn before(reason: Reason, since: Option<i64>) -> Before {
    Before { reason: Some(reason), converging_since: since.map(at), is_of_this_generation: true }
}

#[test]
fn a_word_stays_while_nothing_is_wrong() {
    let rows = [
        (Reason::Creating, Reason::Scaling, Reason::Creating),
        (Reason::Creating, Reason::TaskRunning, Reason::Creating),
        (Reason::Updating, Reason::OperationPending, Reason::Updating),
        (Reason::Scaling, Reason::Updating, Reason::Scaling),
        (Reason::Creating, Reason::Healthy, Reason::Healthy),
        // What is wrong is told at once, and what waits, too.
        (Reason::Creating, Reason::Failing, Reason::Failing),
        (Reason::Updating, Reason::Blocked, Reason::Blocked),
        (Reason::Scaling, Reason::Error, Reason::Error),
        // Those that don't stay.
        (Reason::TaskRunning, Reason::Creating, Reason::Creating),
        (Reason::OperationPending, Reason::TaskPending, Reason::TaskPending),
        (Reason::Blocked, Reason::Creating, Reason::Creating),
        (Reason::Failing, Reason::Scaling, Reason::Scaling),
        // From outside, and from Healthy, it begins anew.
        (Reason::Unknown, Reason::Creating, Reason::Creating),
        (Reason::Disabled, Reason::Creating, Reason::Creating),
        (Reason::FeatureGateError, Reason::Updating, Reason::Updating),
        (Reason::PrerequisiteNotMet, Reason::Creating, Reason::Creating),
        (Reason::Suspended, Reason::Updating, Reason::Updating),
        (Reason::Healthy, Reason::Scaling, Reason::Scaling),
    ];
    for (stored, now, expected) in rows {
        let row = judge(&Stage::On, &[part(now, "text")], &before(stored, Some(0)), None, at(1)).row;
        assert_eq!(row.reason, expected, "{stored}, then {now}");
        if now != Reason::Healthy {
            assert_eq!(row.message, "text", "it is always of now");
        }
    }
}

#[test]
fn a_new_generation_has_its_own_word() {
    let rows = [
        (Reason::Scaling, Reason::Updating, Reason::Updating),
        (Reason::Updating, Reason::Scaling, Reason::Scaling),
        (Reason::Creating, Reason::Updating, Reason::Creating),
    ];
    for (stored, now, expected) in rows {
        let stored = Before { is_of_this_generation: false, ..before(stored, Some(0)) };
        let outcome = judge(&Stage::On, &[part(now, "")], &stored, None, at(9));
        assert_eq!((outcome.row.reason, outcome.converging_since), (expected, Some(at(9))), "{stored:?}");
    }
}

const GRACE: Option<Duration> = Some(Duration::from_secs(300));

#[test]
fn the_clock_starts_runs_and_goes() {
    let fresh = Some(at(100));
    let kept = Some(at(0));
    let rows = [
        (None, Reason::Creating, fresh),
        (Some(Reason::Healthy), Reason::Scaling, fresh),
        (Some(Reason::Disabled), Reason::Creating, fresh),
        (Some(Reason::PrerequisiteNotMet), Reason::Creating, fresh),
        (Some(Reason::FeatureGateError), Reason::Creating, fresh),
        (Some(Reason::Suspended), Reason::Updating, fresh),
        (Some(Reason::Unknown), Reason::Creating, fresh),
        (Some(Reason::Creating), Reason::Creating, kept),
        (Some(Reason::Blocked), Reason::Creating, kept),
        (Some(Reason::Error), Reason::Creating, kept),
        (Some(Reason::Failing), Reason::Scaling, kept),
        (Some(Reason::Creating), Reason::Error, kept),
        (Some(Reason::Creating), Reason::Healthy, None),
        (Some(Reason::Healthy), Reason::Error, None),
    ];
    for (stored, now, expected) in rows {
        let stored = Before { reason: stored, converging_since: kept, is_of_this_generation: true };
        let outcome = judge(&Stage::On, &[part(now, "")], &stored, GRACE, at(100));
        assert_eq!(outcome.converging_since, expected, "{stored:?}, then {now}");
        let left = match expected {
            Some(since) if now != Reason::Error => {
                Some(Duration::from_secs(if Some(since) == kept { 200 } else { 300 }))
            }
            _ => None,
        };
        assert_eq!(outcome.again_in, left, "{stored:?}, then {now}");
    }
    for stage in
        [Stage::Off, Stage::Suspended, Stage::NotStarted(String::new()), Stage::GateFailed(String::new())]
    {
        let outcome =
            judge(&stage, &[part(Reason::Updating, "")], &before(Reason::Creating, Some(0)), GRACE, at(100));
        assert_eq!((outcome.converging_since, outcome.again_in), (None, None), "{stage:?}");
    }
}

#[test]
fn a_clock_that_goes_wrong_makes_no_period_longer() {
    // Somebody has put the clock back: what is stored lies in the future.
    let outcome =
        judge(&Stage::On, &[part(Reason::Creating, "")], &before(Reason::Creating, Some(1000)), GRACE, at(0));
    assert_eq!((outcome.converging_since, outcome.again_in), (Some(at(0)), GRACE));
    // Parts of a second aren't stored, so that another process sees the same end.
    let now = at(0) + Duration::from_millis(900);
    let outcome = judge(&Stage::On, &[part(Reason::Creating, "")], &Before::default(), GRACE, now);
    assert_eq!(outcome.converging_since, Some(at(0)));
    assert_eq!(outcome.again_in, Some(Duration::from_millis(299_100)));
}

/// What is told at the end of the period about these parts: the reason, what it counts as, the text.
fn graded(parts: &[(Reason, Option<Reason>, &str)]) -> Outcome {
    let part = |(reason, after_grace, text): &(Reason, Option<Reason>, &str)| Part {
        after_grace: *after_grace,
        ..part(*reason, text)
    };
    let parts: Vec<Part> = parts.iter().map(part).collect();
    let stored = before(Reason::Creating, Some(0));
    let early = judge(&Stage::On, &parts, &stored, GRACE, at(299));
    assert_eq!(early.again_in, Some(Duration::from_secs(1)));
    assert!(early.warnings.is_empty());
    let late = judge(&Stage::On, &parts, &stored, GRACE, at(300));
    assert_eq!((late.again_in, late.converging_since), (None, Some(at(0))));
    late
}

#[test]
fn after_the_period_the_worst_part_is_told() {
    let (healthy, degraded, down) = (Some(Reason::Healthy), Some(Reason::Degraded), Some(Reason::Down));
    let creating = Reason::Creating;
    type Parts<'p> = &'p [(Reason, Option<Reason>, &'p str)];
    let rows: [(Parts<'_>, &str); 11] = [
        (&[(creating, down, "0/2")], "False/Down: Component is down: 0/2"),
        (&[(creating, degraded, "1/2")], "False/Degraded: Component is degraded: 1/2"),
        (&[(creating, degraded, "1/2"), (creating, down, "0/1")], "False/Down: Component is down: 0/1"),
        (
            &[(creating, degraded, "1/2"), (creating, degraded, "1/3"), (Reason::Healthy, healthy, "ok")],
            "False/Degraded: Component is degraded: 1/2; 1/3",
        ),
        // Those that can't tell don't count beside one that can.
        (
            &[(creating, degraded, "1/2"), (Reason::TaskRunning, None, "runs")],
            "False/Degraded: Component is degraded: 1/2",
        ),
        (
            &[(Reason::Healthy, healthy, "ok"), (Reason::TaskRunning, None, "runs")],
            "False/Degraded: Component is degraded: runs",
        ),
        (
            &[(Reason::Completed, None, "ok"), (Reason::TaskRunning, None, "runs")],
            "False/Down: Component is down: runs",
        ),
        (&[(Reason::Failing, None, "broken")], "False/Down: Component is down: broken"),
        (
            &[(Reason::Blocked, healthy, "waits for data"), (creating, degraded, "1/2")],
            "False/Down: Component is down: waits for data",
        ),
        // Their own words.
        (&[(Reason::Degraded, None, "slow")], "False/Degraded: Component is degraded: slow"),
        (
            &[(creating, healthy, "0/1"), (Reason::OperationPending, None, "no address")],
            "False/Down: Component is down: no address",
        ),
    ];
    for (parts, expected) in rows {
        let outcome = graded(parts);
        assert_eq!(told(&outcome.row), expected);
        assert!(outcome.warnings.is_empty());
    }
}

#[test]
fn a_part_that_counts_as_healthy_and_is_not_is_a_contradiction() {
    let healthy = Some(Reason::Healthy);
    let outcome = graded(&[(Reason::Scaling, healthy, "1/2"), (Reason::Healthy, healthy, "2/2")]);
    assert_eq!(told(&outcome.row), "False/Creating: 1/2", "the word of before stays");
    assert_eq!(outcome.warnings, ["server counts as healthy after the grace period, but is Scaling: 1/2"]);
    let quiet = Part { after_grace: healthy, is_quiet: true, ..part(Reason::Scaling, "1/2") };
    let outcome = judge(&Stage::On, &[quiet], &before(Reason::Creating, Some(0)), GRACE, at(300));
    assert_eq!(told(&outcome.row), "False/Creating: 1/2");
    assert!(outcome.warnings.is_empty());
}

#[test]
fn without_a_period_it_never_ends() {
    for grace in [None, Some(Duration::ZERO)] {
        let stored = before(Reason::Creating, Some(0));
        let outcome = judge(&Stage::On, &[part(Reason::Creating, "0/1")], &stored, grace, at(1_000_000));
        assert_eq!(told(&outcome.row), "False/Creating: 0/1");
        assert_eq!(
            (outcome.converging_since, outcome.again_in),
            (Some(at(0)), None),
            "people can still see since when"
        );
    }
}

#[test]
fn what_was_stored_is_read_from_the_conditions() {
    let mut conditions = Vec::new();
    let row = Row::new(Reason::Creating, "");
    operator_core::status::conditions::set(&mut conditions, &row.update("WebReady", Some(3)), at(0));
    let of = |r#type, generation| Before::of(&conditions, r#type, Some(at(0)), Some(generation));
    assert_eq!(of("WebReady", 3), before(Reason::Creating, Some(0)));
    assert_eq!(
        of("WebReady", 4),
        Before { is_of_this_generation: false, ..before(Reason::Creating, Some(0)) }
    );
    let nothing = Before { reason: None, converging_since: Some(at(0)), is_of_this_generation: false };
    assert_eq!(of("DatabaseReady", 3), nothing);
    conditions[0].reason = "AsExpected".to_owned();
    assert_eq!(Before::of(&conditions, "WebReady", None, Some(3)).reason, None, "somebody else's");
}
