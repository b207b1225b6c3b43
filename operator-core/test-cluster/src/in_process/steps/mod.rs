//! The controllers of the cluster: each looks at one object and says what to change next.
//!
//! ```text
//!  put, remove ─▶ changed ─▶ definitions (always, at once)
//!                    └─────▶ route ─▶ queue: (controller, object), each with the moment when it is due
//!                                       │ due
//!                                       ▼
//!                     controller: store, object ─▶ acts (writes) and when to look again ─▶ put, remove
//! ```
//!
//! # Guarantees
//! - A controller is called for an object that has changed, or that something which changed belongs to; nothing is
//!   searched on a request that changes none of its objects.
//! - A controller decides by the store alone, so that a step that comes late does what is right then.
//! - What is due is done in the order of the moments, and of the changes that have caused it, each once, however often
//!   it was caused.
//! - Nothing waits in the background: what has become due is done before the next request is answered, and a watch that
//!   waits sleeps until then.

mod claims;
mod cron_jobs;
mod daemon_sets;
mod deployments;
mod endpoints;
mod events;
mod fates;
mod furnish;
mod jobs;
mod manager;
mod node;
mod perform;
mod pods;
mod queue;
mod replica_sets;
mod revisions;
mod route;
mod run;
mod stateful_sets;
mod times;
mod view;
mod volumes;

use std::time::Duration;

use serde_json::Value;

use events::Said;
pub use fates::{Node, Pods};
pub(super) use furnish::{become_complete, present};
pub(super) use manager::ControllerManager;
pub(super) use node::make_node;

use super::{
    controllers::MANAGER,
    fields::Endpoint,
    store::{Path, Resource},
    write::How,
};

/// A controller of the cluster, as a real one has it in kube-controller-manager, kube-scheduler and kubelet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ClusterController {
    /// Empties namespaces that are being deleted.
    Namespaces,
    /// Creates the service account `default` of each namespace.
    ServiceAccounts,
    /// Creates the ConfigMap `kube-root-ca.crt` of each namespace, if the server is
    /// [complete](super::InProcessServer::complete).
    RootCertificates,
    /// Deletes what belongs to objects that are gone.
    GarbageCollector,
    /// Creates and scales the ReplicaSets of Deployments.
    Deployments,
    /// Creates and deletes the Pods of ReplicaSets.
    ReplicaSets,
    /// Creates and deletes the Pods of StatefulSets, and their claims.
    StatefulSets,
    /// Creates a Pod on each node.
    DaemonSets,
    /// Runs the Pods of Jobs until enough of them have succeeded, or too many have failed.
    Jobs,
    /// Starts the Jobs of CronJobs when it is time.
    CronJobs,
    /// Gives claims of storage a volume, and keeps both for as long as they are used.
    Volumes,
    /// Keeps the addresses behind each Service.
    Endpoints,
    /// Assigns Pods to the node.
    Scheduler,
    /// Starts and ends the Pods of the node.
    Node,
}

/// What a controller does with one object.
#[derive(Debug, Default)]
struct Next {
    /// The changes, in this order. The first one that is refused ends the step.
    acts: Vec<Act>,
    /// When to look again, if nothing changes before.
    again: Option<Duration>,
}

impl Next {
    /// Nothing, until something changes.
    fn nothing() -> Self {
        Self::default()
    }

    fn acts(acts: Vec<Act>) -> Self {
        Self { acts, again: None }
    }

    /// The same, and then another look at once.
    fn first(acts: Vec<Act>) -> Self {
        Self { acts, again: Some(Duration::ZERO) }
    }

    fn act(act: Act) -> Self {
        Self::acts(vec![act])
    }
}

/// A change that a controller makes.
#[derive(Debug)]
enum Act {
    /// A new object; one with only `generateName` gets a name.
    Create { resource: Resource, manager: &'static str, object: Value },
    /// Another state of an object.
    Write { resource: Resource, path: Path, endpoint: Endpoint, manager: &'static str, object: Value },
    /// A Pod gets its node, which no manager's fields show.
    Bind { path: Path, object: Value },
    /// The end of an object.
    Delete { resource: Resource, path: Path, how: How },
    /// An Event about the object that is looked at, if Events are written.
    Say(Said),
}
