//! What has changed, and when the controllers of the cluster work.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use serde_json::Value;

use super::store::{Path, Resource};

/// When the controllers work that a real cluster has in kube-controller-manager, kube-scheduler and kubelet; see
/// [`ClusterController`](super::ClusterController).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controllers {
    /// Never, as on a cluster that is only an API server.
    Off,
    /// After each request, before the next one: everything that a request causes is done at once.
    #[default]
    AtOnce,
    /// Each step takes some time, up to this, in tokio's time. Times differ from step to step, and are the same in each
    /// run.
    Within(Duration),
    /// When [`InProcessServer::step`](super::InProcessServer::step) is called, one step at a time.
    Stepwise,
}

/// An object that has changed or is gone.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) resource: Resource,
    pub(super) path: Path,
    /// The state before, of an object that was there.
    pub(super) before: Option<Arc<Value>>,
    /// The last state of an object that is gone.
    pub(super) gone: Option<Arc<Value>>,
}

/// Changes that were not processed yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes(VecDeque<Change>);

impl Changes {
    /// Adds the end of an object.
    pub(super) fn end(&mut self, resource: Resource, path: Path, gone: Arc<Value>) {
        self.0.push_back(Change { resource, path, before: None, gone: Some(gone) });
    }

    /// Adds an object to be processed, unless it already waits: it has then changed since the former state.
    pub(super) fn look_at(&mut self, resource: Resource, path: Path, before: Option<Arc<Value>>) {
        let waits =
            |change: &Change| change.gone.is_none() && change.resource == resource && change.path == path;
        if !self.0.iter().any(waits) {
            self.0.push_back(Change { resource, path, before, gone: None });
        }
    }

    pub(super) fn pop(&mut self) -> Option<Change> {
        self.0.pop_front()
    }
}

/// The field manager of the controllers.
pub(super) const MANAGER: &str = "kube-controller-manager";
