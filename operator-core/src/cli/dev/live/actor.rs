//! Executes a scenario, as the cluster's administrator.

use std::time::Duration;

use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams},
    core::TypeMeta,
};
use serde_json::Value;

use super::{Target, fixture::Fixture, play::StepError, stage::Stage, step::Action};
use crate::testing::{self, TestCluster, discovered};

/// The pause between two looks at an object.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Applies the objects of a fixture that was read.
pub(super) async fn apply(
    cluster: &TestCluster,
    namespace: &str,
    fixture: &Fixture,
) -> Result<Vec<DynamicObject>, testing::Error> {
    match &fixture.file {
        None => cluster.apply_yaml(namespace, &fixture.text).await,
        Some(path) => cluster.apply_text(namespace, &path.display().to_string(), &fixture.text).await,
    }
}

impl Stage {
    pub(super) async fn act(&self, action: &Action) -> Result<(), StepError> {
        match action {
            Action::Apply(fixture) => {
                apply(&self.cluster, &self.args.namespace, fixture).await?;
                Ok(())
            }
            Action::Patch(target, patch) => {
                let api = self.api(target).await?;
                let patched = api.patch(&target.name, &PatchParams::default(), &Patch::Merge(patch)).await;
                patched.map(|_| ()).map_err(refused("change", target))
            }
            Action::Delete(target) => {
                let api = self.api(target).await?;
                let deleted = api.delete(&target.name, &DeleteParams::background()).await;
                deleted.map(|_| ()).map_err(refused("delete", target))
            }
        }
    }

    pub(super) async fn uid(&self, target: &Target) -> Result<Option<String>, StepError> {
        let found = self.api(target).await?.get_opt(&target.name).await;
        Ok(found.map_err(refused("read", target))?.and_then(|object| object.metadata.uid))
    }

    /// Returns when `check` succeeds; its last message until then is kept in `seen`.
    pub(super) async fn wait(
        &self,
        target: &Target,
        check: &(dyn Fn(Option<&Value>) -> Result<(), String> + Sync),
        seen: &mut String,
    ) -> Result<(), StepError> {
        let api = self.api(target).await?;
        loop {
            let looked = match api.get_opt(&target.name).await {
                Ok(object) => check(object.and_then(|object| serde_json::to_value(object).ok()).as_ref()),
                Err(error) => Err(error.to_string()),
            };
            match looked {
                Ok(()) => return Ok(()),
                Err(reason) => *seen = reason,
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    async fn api(&self, target: &Target) -> Result<Api<DynamicObject>, StepError> {
        let types = TypeMeta { api_version: target.api_version.clone(), kind: target.kind.clone() };
        let namespace = target.namespace.as_ref().unwrap_or(&self.args.namespace);
        Ok(discovered(&self.client, &types, namespace).await?)
    }
}

fn refused(doing: &'static str, target: &Target) -> impl FnOnce(kube::Error) -> StepError {
    let target = target.clone();
    move |source| StepError::Refused { doing, target, source: Box::new(source) }
}
