//! The start of every schedule of a simulation: a server with the same history.
//!
//! ```text
//! calm run:   a new server ─▶ its namespaces ─▶ snapshot ─▶ definitions installed ─▶ snapshot
//! schedules:                                    from here ────────────────────────▶ on from here
//! ```
//!
//! What a server does with a definition takes as long as all that an operator does in a short schedule.
//!
//! # Guarantees
//! - A schedule in which something else happened until then, such as a test that writes first, takes no short cut.
//! - The calls that were skipped are in its record.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, ResourceExt};

use super::{
    Oracle,
    record::{Actor, Call, Record},
    world::World,
};
use test_cluster::{InProcessServer, Snapshot, install_crd};

/// The state of the calm run at that point.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    calls: Vec<Call>,
    server: Snapshot,
    at: Duration,
}

/// The states of the calm run at its stages.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    /// The server is running.
    pub(super) served: Stage,
    /// The definitions are installed; `None` if other things were done in the meantime.
    installed: Option<(Vec<CustomResourceDefinition>, Stage)>,
}

impl Stage {
    /// What has happened since the first `calls` calls.
    fn since(calls: usize, record: &Record, server: &InProcessServer) -> Self {
        let calls = record.with_calls(|all| all[calls..].to_vec());
        Self { calls, server: server.snapshot(), at: record.now() }
    }

    /// The server at this stage.
    pub(super) fn server(&self) -> &Snapshot {
        &self.server
    }

    /// Records its calls as if they had been made now.
    pub(super) fn tell(&self, record: &Record) {
        self.calls.iter().cloned().for_each(|call| record.called(call));
    }
}

impl Checkpoint {
    /// The first stage, to which all calls so far belong.
    pub(super) fn served(record: &Record, server: &InProcessServer) -> Self {
        Self { served: Stage::since(0, record, server), installed: None }
    }
}

impl World {
    /// Makes sure that the namespace `default` exists, as it did in the calm run or for the first time.
    pub(super) async fn begin(&self) {
        match self.checkpoint() {
            Some(checkpoint) => checkpoint.served.tell(&self.record),
            None => {
                self.make_default_namespace().await;
                *self.checkpoint.borrow_mut() = Some(Checkpoint::served(&self.record, &self.server));
            }
        }
    }

    async fn make_default_namespace(&self) {
        let mut namespace = k8s_openapi::api::core::v1::Namespace::default();
        namespace.metadata.name = Some("default".to_owned());
        match Api::all(self.client.clone()).create(&kube::api::PostParams::default(), &namespace).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => panic!("the simulated server has no namespace and takes none: {error}"),
            Ok(_) => {}
        }
    }

    /// The start of the calm run; `None` in that run itself.
    pub(super) fn checkpoint(&self) -> Option<&Checkpoint> {
        self.calm.as_ref()?.checkpoint.as_ref()
    }

    /// Installs the definitions of the operator, or continues from the state of the calm run when it had installed
    /// them.
    pub(super) async fn install(&self, crds: &[CustomResourceDefinition]) {
        let is_new = |checkpoint: &Checkpoint| {
            checkpoint.served.server.resource_version() == self.server.resource_version()
        };
        let known = self
            .checkpoint()
            .filter(|checkpoint| is_new(checkpoint))
            .and_then(|checkpoint| checkpoint.installed.as_ref());
        if let Some((_, stage)) =
            known.filter(|(known, stage)| stage.at == self.record.now() && known == crds)
        {
            stage.tell(&self.record);
            return self.server.skip_to(stage.server());
        }
        let is_new = self.checkpoint.borrow().as_ref().is_some_and(is_new);
        let before = self.record.with_calls(<[Call]>::len);
        for crd in crds {
            if let Err(error) = install_crd(&self.client, crd).await {
                self.violated(Oracle::Test, format!("a definition can't be installed: {error}"));
            }
        }
        let stage = Stage::since(before, &self.record, &self.server);
        let ours = |call: &Call| {
            let of_definition = call.target.resource == "customresourcedefinitions";
            let named = |crd: &CustomResourceDefinition| call.target.name.as_ref() == Some(&crd.name_any());
            call.by == Actor::User
                && (!call.target.verb.is_write() || of_definition && crds.iter().any(named))
        };
        if let Some(checkpoint) = self.checkpoint.borrow_mut().as_mut()
            && is_new
            && stage.calls.iter().all(ours)
        {
            checkpoint.installed = Some((crds.to_vec(), stage));
        }
    }
}
