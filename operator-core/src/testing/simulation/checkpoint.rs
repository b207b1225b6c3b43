//! The start of every schedule of a simulation: definitions that are installed already.
//!
//! ```text
//! calm run:   a new server ─▶ its namespaces ─▶ definitions installed ─▶ snapshot
//! schedules:  a new server ─▶ its namespaces ──────────────────────────▶ on from here
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
    record::{Actor, Call},
    world::World,
};
use test_cluster::{Snapshot, install_crd};

/// The calm run when its definitions were installed.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    crds: Vec<CustomResourceDefinition>,
    /// The calls that installed them.
    calls: Vec<Call>,
    server: Snapshot,
    at: Duration,
}

impl World {
    /// Makes sure that the namespace `default` exists.
    pub(super) async fn begin(&self) {
        let mut namespace = k8s_openapi::api::core::v1::Namespace::default();
        namespace.metadata.name = Some("default".to_owned());
        match Api::all(self.client.clone()).create(&kube::api::PostParams::default(), &namespace).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => panic!("the simulated server has no namespace and takes none: {error}"),
            Ok(_) => {}
        }
        self.first_version.set(self.server.resource_version());
    }

    /// Installs the definitions of the operator, or continues from the state of the calm run when it had installed
    /// them.
    pub(super) async fn install(&self, crds: &[CustomResourceDefinition]) {
        let is_new = self.first_version.get() == self.server.resource_version();
        let known = self.calm.as_ref().map_or(&self.given, |calm| &calm.checkpoint).as_ref();
        let known = known.filter(|known| is_new && known.at == self.record.now() && known.crds == crds);
        if let Some(known) = known {
            known.calls.iter().cloned().for_each(|call| self.record.called(call));
            *self.checkpoint.borrow_mut() = self.is_calm().then(|| known.clone());
            return self.server.skip_to(&known.server);
        }
        let before = self.record.with_calls(<[Call]>::len);
        for crd in crds {
            if let Err(error) = install_crd(&self.client, crd).await {
                self.violated(Oracle::Test, format!("a definition can't be installed: {error}"));
            }
        }
        let calls = self.record.with_calls(|all| all[before..].to_vec());
        let ours = |call: &Call| {
            let of_definition = call.target.resource == "customresourcedefinitions";
            let named = |crd: &CustomResourceDefinition| call.target.name.as_ref() == Some(&crd.name_any());
            call.by == Actor::User
                && (!call.target.verb.is_write() || of_definition && crds.iter().any(named))
        };
        if is_new && calls.iter().all(ours) {
            let (server, at) = (self.server.snapshot(), self.record.now());
            *self.checkpoint.borrow_mut() = Some(Checkpoint { crds: crds.to_vec(), calls, server, at });
        }
    }
}
