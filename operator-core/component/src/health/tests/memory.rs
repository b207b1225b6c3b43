//! Creating and Updating stay until the object is ready.

use super::*;

fn reason(object: &Value, operation: Operation, before: Option<Reason>) -> Reason {
    of(object, operation, before, now()).reason
}

#[test]
fn a_rollout_has_one_word_until_it_has_come_to_an_end() {
    for (first, word) in [(Operation::Created, Reason::Creating), (Operation::Updated, Reason::Updating)] {
        let mut stored = reason(&new_deployment(0), first, Some(Reason::Healthy));
        assert_eq!(stored, word);
        for ready in [0, 1, 2, 2, 1, 2] {
            stored = reason(&new_deployment(ready), Operation::Matched, Some(stored));
            assert_eq!(stored, word, "{ready} ready");
        }
        stored = reason(&deployment(3), Operation::Matched, Some(stored));
        assert_eq!(stored, Reason::Healthy);
        stored = reason(&deployment(2), Operation::Matched, Some(stored));
        assert_eq!(stored, Reason::Scaling, "a replica is lost, and nothing has changed");
        stored = reason(&deployment(2), Operation::Matched, Some(stored));
        assert_eq!(stored, Reason::Scaling);
    }
}

#[test]
fn what_is_changed_before_it_was_ready_is_still_being_created() {
    assert_eq!(reason(&deployment(0), Operation::Updated, Some(Reason::Creating)), Reason::Creating);
    assert_eq!(reason(&deployment(0), Operation::Created, Some(Reason::Updating)), Reason::Creating);
}

/// Where the stored reason is about something worse, or about nothing, the object itself is asked.
#[test]
fn a_stored_reason_that_says_nothing_about_the_object_loses_nothing() {
    let said_nothing = [
        None,
        Some(Reason::Unknown),
        Some(Reason::PrerequisiteNotMet),
        Some(Reason::Disabled),
        Some(Reason::Blocked),
        Some(Reason::TaskRunning),
        Some(Reason::Error),
        Some(Reason::Down),
        Some(Reason::Suspended),
    ];
    for stored in said_nothing {
        let new = new_deployment(0);
        assert_eq!(reason(&new, Operation::Matched, stored), Reason::Creating, "{stored:?}");
        let mut changed = new;
        changed["metadata"]["generation"] = 4.into();
        changed["status"]["observedGeneration"] = 4.into();
        assert_eq!(reason(&changed, Operation::Matched, stored), Reason::Updating, "{stored:?}");
        assert_eq!(
            reason(&deployment(1), Operation::Matched, stored),
            Reason::Scaling,
            "{stored:?}: it was there once"
        );
    }
}

#[test]
fn a_rollout_is_seen_though_another_object_scales() {
    let mut web = new_deployment(1);
    web["metadata"]["generation"] = 4.into();
    web["status"]["observedGeneration"] = 4.into();
    assert_eq!(reason(&web, Operation::Matched, Some(Reason::Scaling)), Reason::Updating);
    assert_eq!(reason(&deployment(1), Operation::Matched, Some(Reason::Scaling)), Reason::Scaling);
    // Replicas that somebody asked for are an update until they are there, though the template is the same.
    assert_eq!(reason(&deployment(1), Operation::Updated, Some(Reason::Healthy)), Reason::Updating);
    assert_eq!(reason(&deployment(1), Operation::Matched, Some(Reason::Updating)), Reason::Updating);
    // Without a deadline for progress a Deployment doesn't say how far it has come.
    let mut silent = deployment(1);
    silent["status"]["conditions"] = json!([condition("Available", "True", "", "")]);
    assert_eq!(reason(&silent, Operation::Matched, Some(Reason::Healthy)), Reason::Scaling);
}

#[test]
fn what_has_no_replicas_does_not_scale() {
    let ready = |status: &str| json!({ "conditions": [condition("Ready", status, "", "")] });
    let thing = object("example.com/v1", "Thing", json!({}), ready("False"));
    let rows = [
        (Operation::Created, None, Reason::Creating),
        (Operation::Matched, Some(Reason::Creating), Reason::Creating),
        (Operation::Updated, Some(Reason::Healthy), Reason::Updating),
        (Operation::Matched, Some(Reason::Updating), Reason::Updating),
        (Operation::Matched, Some(Reason::Healthy), Reason::OperationPending),
        (Operation::Matched, Some(Reason::Scaling), Reason::OperationPending),
    ];
    for (operation, before, expected) in rows {
        assert_eq!(reason(&thing, operation, before), expected, "{operation} {before:?}");
    }
}
