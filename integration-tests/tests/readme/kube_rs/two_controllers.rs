use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ResourceQuota, Service};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Api, Client, Resource, ResourceExt};

const MANAGER: &str = "teams";

fn team(service: &Service) -> Option<&String> {
    service.labels().get("team")
}

fn settings(service: &Service, set: ConfigMap) -> ConfigMap {
    let mut copy = ConfigMap::default();
    copy.metadata.name = Some(format!("{}-settings", service.name_any()));
    copy.metadata.owner_references = service.controller_owner_ref(&()).map(|owner| vec![owner]);
    copy.data = set.data;
    copy
}

fn quota(namespace: &Namespace) -> ResourceQuota {
    let mut quota = ResourceQuota::default();
    quota.metadata.name = Some(format!("{}-quota", namespace.name_any()));
    quota.metadata.owner_references = namespace.controller_owner_ref(&()).map(|owner| vec![owner]);
    let hard = [("pods".to_owned(), k8s_openapi::apimachinery::pkg::api::resource::Quantity("100".to_owned()))];
    quota.spec.get_or_insert_default().hard = Some(hard.into());
    quota
}

async fn settle(service: Arc<Service>, client: Arc<Client>) -> kube::Result<Action> {
    let namespace = service.namespace().unwrap_or_default();
    let copies = Api::<ConfigMap>::namespaced(Client::clone(&client), &namespace);
    let found = match team(&service) {
        Some(team) => Api::<ConfigMap>::namespaced(Client::clone(&client), "teams").get_opt(team).await?,
        None => None,
    };
    let name = format!("{}-settings", service.name_any());
    match found.map(|set| settings(&service, set)) {
        Some(copy) => {
            let apply = PatchParams::apply(MANAGER).force();
            copies.patch(&name, &apply, &Patch::Apply(&copy)).await?;
        }
        None if copies.get_opt(&name).await?.is_some() => {
            copies.delete(&name, &DeleteParams::default()).await?;
        }
        None => {}
    }
    Ok(Action::await_change())
}

async fn limit(namespace: Arc<Namespace>, client: Arc<Client>) -> kube::Result<Action> {
    let quotas = Api::<ResourceQuota>::namespaced(Client::clone(&client), &namespace.name_any());
    let quota = quota(&namespace);
    let apply = PatchParams::apply(MANAGER).force();
    quotas.patch(&quota.name_any(), &apply, &Patch::Apply(&quota)).await?;
    Ok(Action::await_change())
}

fn failed<K: ResourceExt>(object: Arc<K>, error: &kube::Error, _: Arc<Client>) -> Action {
    eprintln!("{}: {error}", object.name_any());
    Action::requeue(Duration::from_secs(5))
}

#[tokio::main]
async fn main() -> kube::Result<()> {
    let client = Client::try_default().await?;
    let everything = watcher::Config::default;
    let services = Controller::new(Api::<Service>::all(client.clone()), everything());
    let known = services.store();
    let of_team = move |set: ConfigMap| {
        let name = set.name_any();
        let mut services = known.state();
        services.retain(|service| team(service) == Some(&name));
        services.into_iter().map(|service| ObjectRef::from_obj(&*service))
    };
    let services = services
        .owns(Api::<ConfigMap>::all(client.clone()), everything())
        .watches(Api::<ConfigMap>::namespaced(client.clone(), "teams"), everything(), of_team)
        .shutdown_on_signal()
        .run(settle, failed, Arc::new(client.clone()))
        .for_each(|_| std::future::ready(()));
    let namespaces = Controller::new(Api::<Namespace>::all(client.clone()), everything())
        .owns(Api::<ResourceQuota>::all(client.clone()), everything())
        .shutdown_on_signal()
        .run(limit, failed, Arc::new(client))
        .for_each(|_| std::future::ready(()));
    tokio::join!(services, namespaces);
    Ok(())
}
