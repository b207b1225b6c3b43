//! For tests that begin without a definition, change it, or delete it.

use anyhow::Result;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, CustomResourceExt,
    api::{DeleteParams, ListParams},
};
use tokio::sync::{Mutex, MutexGuard};

use crate::{LateTestResource, Scene, cluster, eventually};

/// A test's turn with the definition of [`LateTestResource`]: the next one's begins when this is dropped.
#[derive(Debug)]
#[must_use = "the turn is over when this is dropped"]
pub struct Turn {
    _guard: Option<MutexGuard<'static, ()>>,
}

impl Scene<LateTestResource> {
    /// Sets the scene for the test called `name`, on a cluster that doesn't have the definition.
    ///
    /// A definition exists for all tests of a control plane or for none, so tests about it take turns. Inside the
    /// process they have nothing in common.
    ///
    /// # Errors
    /// When the control plane can't be started, or the definition that was left by another test doesn't go.
    pub async fn late(name: &str) -> Result<(Turn, Self)> {
        static TURN: Mutex<()> = Mutex::const_new(());
        let cluster = cluster().await?;
        let guard = if cluster.is_in_process() { None } else { Some(TURN.lock().await) };
        let scene = Self::on(cluster, name).await?;
        scene.remove_definition().await?;
        Ok((Turn { _guard: guard }, scene))
    }

    async fn remove_definition(&self) -> Result<()> {
        let definitions = Api::<CustomResourceDefinition>::all(self.client.clone());
        let (name, objects) =
            (LateTestResource::crd_name(), Api::<LateTestResource>::all(self.client.clone()));
        eventually("the end of the definition", async || {
            match definitions.delete(name, &DeleteParams::default()).await {
                Ok(_) => return Ok(None),
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(error.into()),
            }
            // It is served a moment longer than it exists.
            let refused = objects.list(&ListParams::default()).await.err();
            Ok(matches!(refused, Some(kube::Error::Api(status)) if status.code == 404).then_some(()))
        })
        .await
    }
}
