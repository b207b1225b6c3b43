//! Fixed points: what operators reach although something interferes with each write, or although the desired state is another one each
//! time. Each test has a server of its own, inside the process and in virtual time.

mod clocks;
mod meddlers;
mod taken_over;

use integration_tests::prelude::*;
use tracing::Level;

/// The writes about objects of this kind, with the second in which each was seen.
async fn writes(operator: &TestOperator, kind: &str) -> Result<Vec<String>> {
    let written = operator.settled().await?.written();
    Ok(written.into_iter().filter(|write| write.contains(kind)).collect())
}

/// What the warnings say that begin with these words, and at which paths.
fn warned(log: &operator_core::testing::LogCapture, words: &str) -> Vec<String> {
    let lines = log.lines(Level::WARN);
    let about = lines.iter().filter(|line| line.field("message").starts_with(words));
    about.map(|line| line.field("paths").to_owned()).collect()
}

/// Something about the primary changes that is no change of its spec.
async fn touch(scene: &Scene, round: usize) -> Result<()> {
    scene.patch("one", json!({ "metadata": { "labels": { "round": round.to_string() } } })).await?;
    Ok(())
}
