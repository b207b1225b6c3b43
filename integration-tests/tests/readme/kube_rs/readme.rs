use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Api, Client, CustomResource, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Greeting", namespaced)]
struct GreetingSpec {
    text: String,
}

fn map(greeting: &Greeting) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(format!("{}-map", greeting.name_any()));
    map.metadata.owner_references = greeting.controller_owner_ref(&()).map(|owner| vec![owner]);
    map.data = Some([("text".to_owned(), greeting.spec.text.clone())].into());
    map
}

async fn reconcile(greeting: Arc<Greeting>, client: Arc<Client>) -> kube::Result<Action> {
    let namespace = greeting.namespace().unwrap_or_default();
    let maps = Api::<ConfigMap>::namespaced(Client::clone(&client), &namespace);
    let map = map(&greeting);
    let apply = PatchParams::apply("greetings").force();
    maps.patch(&map.name_any(), &apply, &Patch::Apply(&map)).await?;
    Ok(Action::await_change())
}

fn failed(greeting: Arc<Greeting>, error: &kube::Error, _: Arc<Client>) -> Action {
    eprintln!("{}: {error}", greeting.name_any());
    Action::requeue(Duration::from_secs(5))
}

#[tokio::main]
async fn main() -> kube::Result<()> {
    let client = Client::try_default().await?;
    Controller::new(Api::<Greeting>::all(client.clone()), watcher::Config::default())
        .owns(Api::<ConfigMap>::all(client.clone()), watcher::Config::default())
        .shutdown_on_signal()
        .run(reconcile, failed, Arc::new(client))
        .for_each(|_| std::future::ready(()))
        .await;
    Ok(())
}
