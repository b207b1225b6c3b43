//! Custom resource definitions: applied, and waited for until they are served.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams},
    core::GroupVersionKind,
};

use super::Error;

/// Whose fields these are, for server-side apply.
pub(super) const MANAGER: &str = "operator-core-testing";

/// How long a CRD may take until it is served. Under load the API server needs several seconds.
const SERVED: Duration = Duration::from_secs(60);

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(50);

/// Applies a CRD and waits until its objects can be listed in every served version.
pub(super) async fn install(client: &Client, crd: &CustomResourceDefinition) -> Result<(), Error> {
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

/// Waits until a list succeeds. That a CRD is `Established` isn't enough: its path is 404 for a moment longer, and then
/// 429 as long as its storage is being initialized.
async fn served(api: &Api<DynamicObject>, name: &str) -> Result<(), Error> {
    let mut last = None;
    let wait = async {
        loop {
            match api.list(&ListParams::default().limit(1)).await {
                Ok(_) => return Ok(()),
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 429 | 503) => {
                    last = Some(status.message.clone());
                }
                Err(error) => return Err(Error::kube(format!("list the objects of the CRD {name}"))(error)),
            }
            tokio::time::sleep(INTERVAL).await;
        }
    };
    match tokio::time::timeout(SERVED, wait).await {
        Ok(result) => result,
        Err(_) => {
            Err(Error::NotReady { what: format!("the CRD {name} is"), seconds: SERVED.as_secs(), last })
        }
    }
}
