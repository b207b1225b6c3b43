//! The same if no run sees the ends of primaries: nothing has to be cleaned up from time to time.

use integration_tests::prelude::*;

use super::expectation::{gone_with_its_primary, ready_or_late};

#[operator_test]
async fn the_status_says_what_has_become_of_it() -> Result<()> {
    ready_or_late(&Scene::with_workloads("periodic-expectation").await?, |controller| controller).await
}

#[operator_test]
async fn it_goes_with_its_primary() -> Result<()> {
    gone_with_its_primary(&Scene::with_workloads("periodic-expectation-end").await?, |controller| controller)
        .await
}
