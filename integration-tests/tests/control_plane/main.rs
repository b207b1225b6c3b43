//! The control plane on demand, from its start to the end of its last process.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not tests to clippy")]

use std::{future::Future, time::Duration};

mod api;
mod binaries;
mod controllers;
mod life;
mod parts;

/// Far more than anything here takes, also on a loaded machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// Waits until `look` finds something.
async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let search = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(DEADLINE, search).await.unwrap_or_else(|_| panic!("in vain: {what}"))
}
