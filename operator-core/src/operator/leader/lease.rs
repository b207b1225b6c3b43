//! The lease at the API server: it is read and written by a separate client, not by `operations`.

use k8s_openapi::{
    api::{
        authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
        coordination::v1::{Lease, LeaseSpec},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Api, Client, api::PostParams};

use super::machine::{Reply, Request};
use crate::client::is_end_of;

/// One lease of one namespace.
pub(super) struct LeaseAccess {
    leases: Api<Lease>,
    reviews: Api<SelfSubjectAccessReview>,
    pub(super) namespace: String,
    name: String,
    /// As in the last answer, with its version and with the metadata that others have set.
    latest: Option<Lease>,
}

impl LeaseAccess {
    pub(super) fn new(client: Client, namespace: String, name: String) -> Self {
        let leases = Api::namespaced(client.clone(), &namespace);
        Self { leases, reviews: Api::all(client), namespace, name, latest: None }
    }

    /// Makes a request, with this `record` if it is a write.
    pub(super) async fn ask(&mut self, request: Request, record: LeaseSpec) -> Result<Reply, kube::Error> {
        let params = PostParams::default();
        let answer = match request {
            Request::Read => self.leases.get(&self.name).await,
            Request::Create => {
                let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
                self.leases.create(&params, &Lease { metadata, spec: Some(record) }).await
            }
            Request::Replace => {
                // With the version in the metadata, the server refuses it if another writer was faster; with the uid,
                // if the lease is gone: a PUT would create it.
                let mut lease = self.latest.clone().unwrap_or_default();
                lease.metadata.managed_fields = None;
                lease.spec = Some(record);
                self.leases.replace(&self.name, &params, &lease).await
            }
        };
        match answer {
            Ok(lease) => {
                let spec = lease.spec.clone().unwrap_or_default();
                self.latest = Some(lease);
                Ok(Reply::Lease(spec))
            }
            // For a creation it means that the namespace is missing.
            Err(kube::Error::Api(status)) if request != Request::Create && is_end_of(&status, &self.name) => {
                Ok(Reply::Absent)
            }
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(Reply::Conflict),
            Err(error) => Err(error),
        }
    }

    /// The rights that are missing, as text.
    pub(super) async fn missing_rights(&self) -> Result<Vec<String>, kube::Error> {
        let mut missing = Vec::new();
        for verb in ["get", "create", "update"] {
            // No rule can allow a creation by its name: the server doesn't look at it.
            let name = (verb != "create").then(|| self.name.clone());
            if !self.may(verb, name).await? {
                missing.push(match verb {
                    "create" => "create leases".to_owned(),
                    verb => format!("{verb} the lease {}", self.name),
                });
            }
        }
        Ok(missing)
    }

    async fn may(&self, verb: &str, name: Option<String>) -> Result<bool, kube::Error> {
        let attributes = ResourceAttributes {
            group: Some("coordination.k8s.io".to_owned()),
            resource: Some("leases".to_owned()),
            verb: Some(verb.to_owned()),
            namespace: Some(self.namespace.clone()),
            name,
            ..ResourceAttributes::default()
        };
        let spec = SelfSubjectAccessReviewSpec {
            resource_attributes: Some(attributes),
            ..SelfSubjectAccessReviewSpec::default()
        };
        let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
        let answer = self.reviews.create(&PostParams::default(), &review).await?;
        Ok(answer.status.is_some_and(|status| status.allowed))
    }
}
