//! Each state, and what leads to it.

use std::time::Duration;

use super::{at, reason, sight, stored};
use crate::bundle::{
    BundleState, BundleStatus, Count, Inventory,
    course::{Outcome, Sight},
};

fn text(word: &str) -> String {
    word.to_owned()
}

#[test]
fn a_bundle_is_installed_changed_and_deleted() {
    let steps = [
        (0, "a", Outcome::NotReached(text("waits")), "Unknown FirstSeen", Some(1)),
        (1, "a", Outcome::Processing(text("1/2 ready")), "Unknown Processing", Some(1)),
        (2, "a", Outcome::Ready(text("2/2 ready")), "True Ready", Some(1)),
        (3, "b", Outcome::Processing(text("1/2 ready")), "Unknown Restarting", Some(2)),
        (9, "b", Outcome::Processing(text("1/2 ready")), "Unknown Processing", Some(2)),
        (10, "b", Outcome::Waiting(text("for a licence")), "Unknown Retrying", Some(2)),
        (11, "b", Outcome::Failed(text("refused")), "False Error", Some(2)),
        (12, "b", Outcome::Suspended(text("suspended")), "Unknown Suspended", Some(2)),
        (13, "b", Outcome::Ready(text("2/2 ready")), "True Ready", Some(2)),
    ];
    let mut status = BundleStatus::default();
    for (seconds, digest, outcome, expected, revision) in steps {
        status = stored(&status, sight(seconds, digest, outcome)).0;
        assert_eq!((reason(&status).as_str(), status.revision), (expected, revision), "at {seconds}");
    }
    assert_eq!(status.applied_generation, Some(1));
    assert_eq!(status.last_applied_at, Some(at(13).to_string()));
    assert_eq!(status.last_processing_digest.as_deref(), Some("b"));

    let deletion = |seconds, outcome| Sight { digest: None, ..sight(seconds, "", outcome) };
    for (seconds, outcome, expected, state) in [
        (20, Outcome::Blocked(text("a Page")), "Unknown DeletionBlocked", BundleState::Deleting),
        (21, Outcome::Deleting(text("2 left")), "Unknown DeletionProcessing", BundleState::Deleting),
        (
            22,
            Outcome::DeletionFailed(text("refused")),
            "Unknown DeletionRetrying",
            BundleState::DeletionPending,
        ),
    ] {
        status = stored(&status, deletion(seconds, outcome)).0;
        assert_eq!((reason(&status).as_str(), status.state), (expected, Some(state)));
        assert_eq!((&status.processing_since, &status.processing_digest), (&None, &None));
    }
}

#[test]
fn the_time_is_over_and_starts_anew_with_other_content_only() {
    let processing = || Outcome::Processing(text("0/1 ready"));
    let (status, again) = stored(&BundleStatus::default(), sight(0, "a", processing()));
    assert_eq!((reason(&status).as_str(), again), ("Unknown Processing", Some(Duration::from_secs(60))));
    let (status, again) = stored(&status, sight(59, "a", processing()));
    assert_eq!((reason(&status).as_str(), again), ("Unknown Processing", Some(Duration::from_secs(1))));
    let (status, again) = stored(&status, sight(60, "a", processing()));
    assert_eq!((reason(&status).as_str(), again), ("False Timeout", None));
    let (waiting, _) = stored(&status, sight(61, "a", Outcome::Waiting(text("for it"))));
    assert_eq!(reason(&waiting), "Unknown Timeout");
    let (failed, _) = stored(&status, sight(61, "a", Outcome::Failed(text("it"))));
    assert_eq!(reason(&failed), "False Timeout");
    let (other, again) = stored(&status, sight(62, "b", processing()));
    assert_eq!((reason(&other).as_str(), again), ("Unknown Restarting", Some(Duration::from_secs(60))));
}

#[test]
fn a_run_that_finds_nothing_new_writes_nothing_and_progress_is_written_from_time_to_time() {
    let progress = |seconds, ready| {
        let kinds = [("ConfigMap".to_owned(), Count { total: 9, ready })].into();
        let inventory = Inventory { kinds, objects: Vec::new() };
        let outcome = Outcome::Processing(format!("{ready}/9 ready"));
        Sight { inventory, ..sight(seconds, "a", outcome) }
    };
    let (first, _) = stored(&BundleStatus::default(), progress(0, 1));
    let (same, _) = stored(&first, progress(30, 1));
    assert_eq!(same, first, "the time alone is no reason to write");
    let (soon, again) = stored(&first, progress(2, 2));
    assert_eq!((soon, again), (first.clone(), Some(Duration::from_secs(3))), "progress has to wait");
    let (later, _) = stored(&first, progress(5, 3));
    assert_eq!(later.inventory.kinds["ConfigMap"].ready, 3);
    assert_eq!(later.last_observed_at, Some(at(5).to_string()));
    let (ready, _) = stored(&first, sight(2, "a", Outcome::Ready(text("9/9 ready"))));
    assert_eq!(reason(&ready), "True Ready", "another state is written at once");
}
