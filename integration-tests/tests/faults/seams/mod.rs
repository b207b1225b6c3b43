//! Behaviour at the seams between the parts: tests that play a scenario step by step and judge the steps, not only the end.
//!
//! Each test has a server of its own, inside the process and in virtual time (those of `drift` share a real
//! one, which validates), and an operator with default settings if the test isn't about them.

mod activation;
mod cleanup;
mod deletions;
mod drift;
mod echoes;
mod ends;
mod finalizers;
mod gates;
mod glue;
mod jobs;
mod lists;
mod marks;
mod not_found;
mod options;
mod outage;
mod panics;
mod parts;
mod rebased;
mod results;
mod sources;
mod statuses;
mod targets;
mod undecodable;
mod unread;
mod unwatched;
mod verdicts;

use integration_tests::prelude::*;

use super::simulated::{pass, saying, scene, two_maps, under};

/// What the status says.
async fn message(scene: &Scene, name: &str) -> Result<Option<String>> {
    Ok(scene.resources.get(name).await?.status.and_then(|status| status.message))
}

/// After how many of these hours (0: five minutes) the primary was gone.
async fn gone_after(scene: &Scene, name: &str) -> Result<Option<u64>> {
    pass(300).await;
    for hours in 0..30 {
        if scene.resources.get_opt(name).await?.is_none() {
            return Ok(Some(hours));
        }
        pass(3600).await;
    }
    Ok(None)
}
