//! Random courses, judged by what has to hold in each of their runs.

use proptest::prelude::*;

use super::{at, reason, stored};
use crate::bundle::{
    BundleState, BundleStatus, Inventory,
    course::{Outcome, Sight},
};

/// A run: how long after the one before, the content, and what has come of it.
fn any_run() -> impl Strategy<Value = (i64, u8, u8)> {
    (0_i64..90, 0_u8..3, 0_u8..6)
}

fn outcome(of: u8) -> Outcome {
    let text = String::new;
    match of {
        0 => Outcome::NotReached(text()),
        1 => Outcome::Suspended(text()),
        2 => Outcome::Waiting(text()),
        3 => Outcome::Processing(text()),
        4 => Outcome::Ready(text()),
        _ => Outcome::Failed(text()),
    }
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn a_course_keeps_its_promises(runs in proptest::collection::vec(any_run(), 1..40)) {
        let (mut status, mut now) = (BundleStatus::default(), 0);
        // Since when the content is wanted without having been ready.
        let (mut content, mut since) = (None, 0);
        let mut contents = Vec::new();
        for (after, digest, of) in runs {
            now += after;
            if content != Some(digest) {
                (content, since) = (Some(digest), now);
                contents.push(digest);
            }
            let sight = Sight {
                generation: 1,
                digest: Some(digest.to_string()),
                outcome: outcome(of),
                inventory: Inventory::default(),
                now: at(now),
                timeout: std::time::Duration::from_secs(60),
            };
            let (next, again) = stored(&status, sight.clone());
            let (twice, _) = stored(&next, sight);
            prop_assert_eq!(&twice.revision, &next.revision, "the same run twice is one revision");
            prop_assert!(next.revision >= status.revision && next.revision <= Some(contents.len() as i64));
            let state = next.state.expect("each run has one");
            prop_assert_eq!(state == BundleState::Ready, of == 4);
            prop_assert_eq!(reason(&next).starts_with("True"), state == BundleState::Ready);
            if state == BundleState::Ready {
                prop_assert_eq!(&next.last_processing_digest, &Some(digest.to_string()));
                prop_assert_eq!((&next.processing_since, again), (&None, None));
            }
            let is_over = reason(&next).ends_with("Timeout");
            if is_over {
                prop_assert!(now - since >= 60, "{} since {}", now, since);
            }
            if let Some(again) = again {
                prop_assert!(again.as_secs() <= 60);
            }
            status = next;
        }
    }
}
