//! Replicas of one operator, and their writes.

use http::header::USER_AGENT;
use integration_tests::prelude::*;
use k8s_openapi::{NamespaceResourceScope, api::coordination::v1::Lease};
use operator_core::{LeaderElection, environment::Environment, operator::Leadership, testing::AuditEvent};

/// The lease of all replicas of a test.
pub(crate) const LEASE: &str = "operator";

/// The election that the replica called `name` takes part in.
pub(crate) fn election<K: TestObject>(scene: &Scene<K>, name: &str) -> LeaderElection {
    LeaderElection::new(LEASE).namespace(&scene.namespace).identity(name)
}

/// The replica called `name`, without controllers yet.
pub(crate) fn declared<K>(scene: &Scene<K>, name: &str, election: LeaderElection) -> Result<OperatorBuilder>
where
    K: TestObject + Resource<Scope = NamespaceResourceScope>,
{
    let mut config = scene.cluster.config();
    config.headers.push((USER_AGENT, name.parse()?));
    let builder = scene.operator().config(config).leader_election(election);
    // Waits are spread by chance, which is the same each time.
    Ok(builder.environment(|| Environment::real().with_seed(1)))
}

/// Waits until the operator leads.
pub(crate) async fn until_leading(operator: &Operator) -> Result<()> {
    eventually("a leader", async || {
        Ok((operator.leadership().await == Some(Leadership::Leading)).then_some(()))
    })
    .await
}

/// Whether the operator stands by.
pub(crate) async fn stands_by(operator: &TestOperator) -> bool {
    matches!(operator.operator().leadership().await, Some(Leadership::Standby { .. }))
}

/// The holder and the number of transitions.
pub(crate) async fn lease<K>(scene: &Scene<K>) -> Result<(String, i32)>
where
    K: TestObject + Resource<Scope = NamespaceResourceScope>,
{
    let spec = scene.api::<Lease>().get(LEASE).await?.spec.context("a spec")?;
    Ok((spec.holder_identity.unwrap_or_default(), spec.lease_transitions.unwrap_or_default()))
}

/// All writes in the test's namespace, in the order of the API server.
pub(crate) fn all_writes<K: TestObject>(scene: &Scene<K>) -> Result<Vec<AuditEvent>> {
    let mut log = scene.cluster.audit()?;
    let writes = |verb: &str| matches!(verb, "create" | "update" | "patch" | "delete");
    log.retain(|event| {
        event.namespace == scene.namespace && writes(&event.verb) && (200..300).contains(&event.code)
    });
    Ok(log)
}

/// The replicas that have written, one after the other, leases not counted.
pub(crate) fn writers<K: TestObject>(scene: &Scene<K>, replicas: &[&str]) -> Result<Vec<String>> {
    let mut writers: Vec<String> = Vec::new();
    for event in all_writes(scene)? {
        let is_replica = replicas.contains(&event.user_agent.as_str()) && event.resource != "leases";
        if is_replica && writers.last() != Some(&event.user_agent) {
            writers.push(event.user_agent);
        }
    }
    Ok(writers)
}
