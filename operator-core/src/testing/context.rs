//! A context without a cluster.

use crate::{
    reconciler::{Context, Offline, OfflineParts},
    resource::KubeObject,
};

/// The context of a run of `primary` without a cluster, for unit tests of reconcilers, conditions and dependents that
/// only look: it has no secondaries, and a write fails.
///
/// Must be called inside a tokio runtime's context.
#[must_use]
pub fn offline_context<P: KubeObject<DynamicType: Default>>(primary: &P) -> Context<P> {
    Offline::new(OfflineParts::default()).context(primary)
}
