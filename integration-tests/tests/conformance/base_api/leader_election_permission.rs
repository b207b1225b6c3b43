//! Without the rights for its lease an operator doesn't start, and its error names these rights.

use integration_tests::prelude::*;
use operator_core::{
    Error, LeaderElection,
    operator::{LeaderElectionError, Leadership},
};

fn leases(verbs: &[&str], names: &[&str]) -> Value {
    json!({
        "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": verbs, "resourceNames": names,
    })
}

/// The result of the start.
async fn refusal(operator: &Operator) -> Result<LeaderElectionError> {
    match operator.start().await {
        Err(Error::LeaderElection(refusal)) => Ok(refusal),
        Err(other) => bail!("{other}"),
        Ok(()) => bail!("it starts"),
    }
}

#[operator_test]
async fn an_operator_without_rights_for_its_lease_does_not_start_and_says_why() -> Result<()> {
    let scene = Scene::new("leader-election").await?;
    let user = format!("{}-operator", scene.namespace);
    let primaries = json!({
        "apiGroups": [GROUP],
        "resources": ["testresources"],
        "verbs": ["get", "list", "watch"],
    });
    scene.grant("primaries", &user, &primaries).await?;
    let script = Script::<TestResource>::idle();
    let election = LeaderElection::new("web").namespace(&scene.namespace).identity("only");
    let builder = scene.operator().config(scene.cluster.config_as(&user, &[])).leader_election(election);
    let controller = scene.controller(&script);
    let operator = builder.register(controller).build()?;

    let namespace = scene.namespace.clone();
    let missing = |missing: &[&str]| LeaderElectionError::Forbidden {
        missing: missing.iter().map(|&right| right.to_owned()).collect(),
        namespace: namespace.clone(),
    };
    let refused = refusal(&operator).await?;
    assert_eq!(refused, missing(&["get the lease web", "create leases", "update the lease web"]));
    let words = refused.to_string();
    for part in [&*namespace, "coordination.k8s.io", "leases", "[get, create, update]"] {
        assert!(words.contains(part), "{words}");
    }
    assert_eq!(operator.leadership().await, None, "it doesn't run");

    // Rights for this name count, and those that are still missing are named.
    scene.grant("lease", &user, &leases(&["get", "update"], &["web", "another"])).await?;
    eventually("one right to be missing", async || {
        Ok((refusal(&operator).await? == missing(&["create leases"])).then_some(()))
    })
    .await?;
    scene.grant("creation", &user, &leases(&["create"], &[])).await?;
    eventually("the start", async || Ok(operator.start().await.is_ok().then_some(()))).await?;
    eventually("a leader", async || {
        Ok((operator.leadership().await == Some(Leadership::Leading)).then_some(()))
    })
    .await?;
    scene.create("one", "value").await?;
    operator.settled(Default::default()).await.context("it works")?;
    assert_eq!(script.runs.count(), 1);
    operator.stop().await;
    Ok(())
}
