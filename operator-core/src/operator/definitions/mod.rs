//! Whether the definitions in the cluster are those that an operator's types were made for.
//!
//! ```text
//! controllers ─▶ primaries ─GET─▶ definition ─▶ compare: scope, kind, served version, status
//!                                                  └─▶ schema: the text of each field, held against the served one
//! ```
//!
//! # Guarantees
//! - All differences of all definitions are reported together, and nothing of the operator has started by then.
//! - One GET for each kind of primaries; nothing is written.
//!
//! - A definition that has more fields or versions than the type doesn't differ from it.

mod compare;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::{Request, params::GetParams};

use super::Error;
use crate::{
    client::Clients,
    controller::{Controller, Mistake, Mistakes},
    resource::ResourceType,
};

/// Fails with all differences between the definitions in the cluster and the primaries of these controllers.
#[expect(
    clippy::mutable_key_type,
    reason = "the plural, which may be learned later, takes no part in comparisons"
)]
pub(super) async fn check(controllers: &[Controller], clients: &Clients) -> Result<(), Error> {
    // Two controllers may have primaries of one kind.
    let mut kinds = BTreeMap::<&ResourceType, Option<CustomResourceDefinition>>::new();
    for controller in controllers {
        let own = kinds.entry(controller.resource_type()).or_default();
        *own = own.take().or_else(|| controller.definition());
    }
    let (mut mistakes, mut forbidden) = (Vec::new(), false);
    for (kind, own) in kinds {
        if own.is_none() && is_built_in(kind) {
            continue;
        }
        let name = kind.full_name();
        match get(&name, clients).await {
            Ok(live) => mistakes.extend(compare::differences(kind, own.as_ref(), &live)),
            // For a kind without a definition of its own, it is unknown whether the kind comes from a definition.
            Err(kube::Error::Api(status)) if status.code == 404 && own.is_none() => {}
            Err(kube::Error::Api(status)) if status.code == 404 => mistakes.push(compare::missing(&name)),
            Err(kube::Error::Api(status)) if status.code == 403 => {
                forbidden = true;
                mistakes.push(Mistake::new(
                    format!("definition `{name}`: the operator may not read it"),
                    status.message,
                    "a rule in a ClusterRole of its account: `apiGroups: [apiextensions.k8s.io]`, `resources: \
                     [customresourcedefinitions]`, `verbs: [get]`; or `.check_definitions_at_start(false)`",
                ));
            }
            Err(error) => mistakes.push(Mistake::new(
                format!("definition `{name}`: it can't be read"),
                error.to_string(),
                "a cluster that answers; `kubectl get customresourcedefinitions` asks the same",
            )),
        }
    }
    Mistakes::check(mistakes).map_err(|mistakes| Error::Definitions { mistakes, forbidden })
}

/// Whether the server has that kind without a definition.
fn is_built_in(kind: &ResourceType) -> bool {
    !kind.group().contains('.')
}

async fn get(name: &str, clients: &Clients) -> Result<CustomResourceDefinition, kube::Error> {
    let path = <CustomResourceDefinition as kube::Resource>::url_path(&(), None);
    let request = Request::new(path).get(name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
    clients.reads.request(request).await
}
