//! The options of a declaration: the effect of each one is seen by what runs, and by what doesn't.

mod capabilities;
mod external_filters;
mod informers;
mod limits;
mod primary_filters;
mod reads;
mod results;
mod retries;
mod secondary_filters;

use integration_tests::prelude::*;

use super::{TestResource, gone_after, message, pass, scene, under};

/// In which second after `begin` each run of the primary called `name` began.
fn seconds(runs: &RunRecord, name: &str, begin: Instant) -> Vec<u64> {
    let instants = runs.instants(name).into_iter();
    instants.map(|at| (at - begin + Duration::from_millis(500)).as_secs()).collect()
}

/// Nothing goes wrong.
fn calm() -> Faults {
    Faults::none()
}
