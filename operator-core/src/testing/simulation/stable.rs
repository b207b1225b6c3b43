//! The shortest simulation.

use kube::Resource;

use super::{FaultPlan, Sim, check};
use crate::{operator::OperatorBuilder, resource::KubeObject};

/// The number of schedules, in addition to the crashes at every write.
const SCHEDULES: u64 = 50;

/// Runs an operator and one resource under bad luck, and panics with the story if the end state differs from that
/// without: a crash before and after every write, and fifty storms. `declare` is called for each start of the operator.
///
/// ```no_run
/// # async fn test(declare: fn() -> operator_core::OperatorBuilder) {
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_core::testing::simulation::assert_eventually_stable;
///
/// let mut primary = ConfigMap::default();
/// primary.metadata.name = Some("a".to_owned());
/// assert_eventually_stable(declare, primary).await;
/// # }
/// ```
///
/// # Panics
/// If a schedule violates an [`Oracle`](super::Oracle).
pub async fn assert_eventually_stable<K>(
    declare: impl Fn() -> OperatorBuilder + Clone + Sync + 'static,
    resource: K,
) where
    K: KubeObject<DynamicType: Default> + Resource,
{
    let name =
        format!("{} {}", K::kind(&K::DynamicType::default()), resource.meta().name.as_deref().unwrap_or("?"));
    let test = async |sim: Sim| {
        sim.operator(declare.clone());
        sim.faults(FaultPlan::storm().crash_at_every_write());
        let resource = resource.clone();
        sim.user(async move |user| drop(user.apply(resource).await));
        sim.settle().await;
        sim.assert_same_as_calm_run();
    };
    check(&name, SCHEDULES, test);
}
