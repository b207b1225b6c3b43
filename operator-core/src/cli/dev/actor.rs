//! Executes a scenario, as the cluster's administrator.

use std::sync::Arc;

use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams},
    core::GroupVersionKind,
    discovery::{self, Scope},
};
use serde_json::Value;
use tokio::sync::Notify;

use super::{
    objects::{informer, value},
    ready::Judge,
    step::{Action, StepError, Target},
};
use crate::{
    cache::{Change, ChangeHandler, InformerSettings, WatchScope},
    environment::Environment,
    resource::{Cluster, ObjectKey, ResourceType},
    testing::TestCluster,
};

/// What a step needs to act and to look.
pub(super) struct Actor<'a> {
    pub(super) cluster: &'a TestCluster,
    pub(super) client: &'a Client,
    pub(super) environment: &'a Environment,
    pub(super) namespace: &'a str,
    pub(super) judge: &'a Judge,
}

impl Actor<'_> {
    pub(super) async fn act(&self, action: &Action) -> Result<(), StepError> {
        match action {
            Action::Apply(yaml) => {
                self.cluster.apply_yaml(self.namespace, yaml).await.map(|_| ()).map_err(StepError::Apply)
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
        let (resource, namespaced) = self.resource(target).await?;
        let mut kind = ResourceType::with::<DynamicObject>(&resource);
        let mut settings = InformerSettings::new(target.to_string(), kind.clone());
        let namespace = namespaced.then(|| self.namespace_of(target));
        match namespace {
            Some(namespace) => settings.scope = WatchScope::Namespaces([namespace.to_owned()].into()),
            None => kind = kind.cluster_scoped(),
        }
        settings.resource_type = kind;
        settings.field_selector = Some(format!("metadata.name={}", target.name));
        let key = ObjectKey::new(Cluster::local(), namespace, &target.name);
        let changed = Arc::new(Notify::new());
        let handler = Arc::new(Changed(Arc::clone(&changed)));
        let (informer, _task) = informer(settings, self.client.clone(), self.environment, handler);
        informer.synced().await;
        loop {
            let object = informer.kept(&key).map(|object| value(&object));
            match check(object.as_ref()) {
                Ok(()) => return Ok(()),
                Err(reason) => *seen = reason,
            }
            // A change since the look is kept, and ends the wait at once.
            changed.notified().await;
        }
    }

    async fn api(&self, target: &Target) -> Result<Api<DynamicObject>, StepError> {
        let (resource, namespaced) = self.resource(target).await?;
        Ok(if namespaced {
            Api::namespaced_with(self.client.clone(), self.namespace_of(target), &resource)
        } else {
            Api::all_with(self.client.clone(), &resource)
        })
    }

    async fn resource(&self, target: &Target) -> Result<(ApiResource, bool), StepError> {
        let (group, version) = target.api_version.split_once('/').unwrap_or(("", &target.api_version));
        if version.is_empty() {
            return Err(StepError::ApiVersion(target.clone()));
        }
        let kind = GroupVersionKind::gvk(group, version, &target.kind);
        let found = discovery::pinned_kind(self.client, &kind).await;
        let (resource, capabilities) = found.map_err(refused("find the kind of", target))?;
        Ok((resource, capabilities.scope == Scope::Namespaced))
    }

    fn namespace_of<'t>(&'t self, target: &'t Target) -> &'t str {
        target.namespace.as_deref().unwrap_or(self.namespace)
    }
}

fn refused(doing: &'static str, target: &Target) -> impl FnOnce(kube::Error) -> StepError {
    let target = target.clone();
    move |source| StepError::Refused { doing, target, source: Box::new(source) }
}

/// Wakes those that wait for an object.
struct Changed(Arc<Notify>);

impl ChangeHandler for Changed {
    fn on_change(&self, _change: Change) {
        self.0.notify_one();
    }
}
