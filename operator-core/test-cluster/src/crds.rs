//! Applies custom resource definitions, and waits until they are served.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams},
    core::GroupVersionKind,
};

use crate::{
    error::Error,
    looks::{Look, until},
};

/// The field manager for server-side apply.
const MANAGER: &str = "test-cluster";

/// How long a CRD may take until it is served. Under load the API server needs several seconds.
const SERVED: Duration = Duration::from_secs(60);

/// Applies a CRD and waits until its objects can be listed in every served version: on any API server.
///
/// # Errors
/// If the API server refuses the CRD, or doesn't serve it within a minute.
pub async fn install_crd(client: &Client, crd: &CustomResourceDefinition) -> Result<(), Error> {
    let name = crd.name_any();
    let crds = Api::<CustomResourceDefinition>::all(client.clone());
    crds.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(crd))
        .await
        .map_err(Error::kube(format!("apply the CRD {name}")))?;
    for version in crd.spec.versions.iter().filter(|version| version.served) {
        let names = &crd.spec.names;
        let kind = GroupVersionKind::gvk(&crd.spec.group, &version.name, &names.kind);
        let api = Api::all_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, &names.plural));
        served(&api, &name).await?;
    }
    Ok(())
}

/// Waits until a list succeeds. It isn't enough that a CRD is `Established`: its path returns 404 for a moment longer,
/// and then 429 as long as its storage is being initialized.
async fn served(api: &Api<DynamicObject>, name: &str) -> Result<(), Error> {
    let look = async || match api.list(&ListParams::default().limit(1)).await {
        Ok(_) => Ok(Look::Found(())),
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 429 | 503) => {
            Ok(Look::NotYet(Some(status.message)))
        }
        Err(error) => Err(Error::kube(format!("list the objects of the CRD {name}"))(error)),
    };
    until(&format!("the CRD {name} is"), SERVED, look).await
}
