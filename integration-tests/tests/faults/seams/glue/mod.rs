//! The short lines between the parts, which a reader may overlook: a deletion carries a uid, a failed read
//! is repeated, a primary to which the cache relates nothing yet is still found.

mod deletions;
mod dispatch;
mod external;
mod nodes;
mod own_writes;
mod relations;
mod terms;

use integration_tests::prelude::*;
use operator_core::testing::faults::LineFault;

use super::{Scene, gone_after, message, pass, scene, under};

/// From the first event on, the watch of these is an hour late: the operator only knows what it has written or read
/// itself.
fn late(plural: &str) -> Rule {
    Rule::watch(plural).nth(1).event(LineFault::Delay(Duration::from_secs(3600)))
}

/// The uid of a config map.
async fn uid_of(scene: &Scene, name: &str) -> Result<Option<String>> {
    Ok(scene.api::<ConfigMap>().get_opt(name).await?.and_then(|map| map.metadata.uid))
}

/// Nothing goes wrong.
fn calm() -> Faults {
    Faults::none()
}
