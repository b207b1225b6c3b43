//! The clusters of the tests, which have the definitions of the shared types.

use std::sync::Arc;

use anyhow::Result;
use operator_core::testing::{Error, Part, Profile, TestCluster};
use tokio::sync::OnceCell;

use crate::test_resource::shared_crds;

/// The cluster of this test: inside the process its own, otherwise the control plane that the tests of the binary
/// share.
///
/// # Errors
/// When the control plane doesn't start, which is remembered, or refuses a definition.
pub async fn cluster() -> Result<TestCluster> {
    cluster_with(Profile::default()).await
}

/// The same of another kind. Kinds don't share processes.
///
/// # Errors
/// As [`cluster`].
pub async fn cluster_with(profile: Profile) -> Result<TestCluster> {
    let Some(cluster) = TestCluster::of_this_test() else {
        return Ok(shared(profile).await?.for_another_test());
    };
    cluster.install_crds(shared_crds()).await?;
    Ok(cluster.for_another_test())
}

/// A cluster whose server supports shards of all objects: each one inside the process does, and a real one needs a feature gate.
///
/// # Errors
/// As [`cluster`].
pub async fn cluster_with_shards() -> Result<TestCluster> {
    static SHARED: OnceCell<Result<TestCluster, Arc<Error>>> = OnceCell::const_new();
    if TestCluster::of_this_test().is_some() {
        return cluster().await;
    }
    let start = async || {
        let builder = Profile::ApiServer.builder().crds(shared_crds());
        let builder = builder.flag(Part::ApiServer, "--feature-gates=ShardedListAndWatch=true");
        builder.start_shared().await.map(TestCluster::new).map_err(Arc::new)
    };
    Ok(SHARED.get_or_init(start).await.clone().map_err(Error::Shared)?.for_another_test())
}

/// A control plane whose garbage collector knows the shared types from its start: it learns of others up to half a
/// minute after they were installed.
async fn shared(profile: Profile) -> Result<TestCluster, Error> {
    static SHARED: [OnceCell<Result<TestCluster, Arc<Error>>>; 3] =
        [OnceCell::const_new(), OnceCell::const_new(), OnceCell::const_new()];
    let start = async || {
        let started = profile.builder().crds(shared_crds()).start_shared().await;
        started.map(TestCluster::new).map_err(Arc::new)
    };
    SHARED[profile as usize].get_or_init(start).await.clone().map_err(Error::Shared)
}
