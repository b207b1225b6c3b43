//! A context without a cluster.

use crate::{
    reconciler::{Context, Offline, OfflineParts},
    resource::KubeObject,
};

/// The context of a run of `primary` without a cluster, for unit tests of reconcilers, conditions and dependents that
/// only read: it has no secondaries, and writes fail.
///
/// Must be called inside a tokio runtime's context.
#[must_use]
pub fn offline_context<P: KubeObject<DynamicType: Default>>(primary: &P) -> Context<P> {
    Offline::new(OfflineParts::default()).context(primary)
}
