//! A controller of kube-rs alone, tested without a cluster: each `Greeting` gets a ConfigMap with its text.
//!
//! `cargo run -p test-cluster --example plain_kube` runs it on the cluster of the current kubeconfig;
//! `cargo test -p test-cluster --example plain_kube` runs its tests, on an API server inside the process.

use std::{error::Error, sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, CustomResource, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{Controller, controller::Action, watcher},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What somebody wants to be greeted with.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Greeting", namespaced, status = "GreetingStatus")]
pub(crate) struct GreetingSpec {
    pub(crate) text: String,
}

/// What was said last.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub(crate) struct GreetingStatus {
    pub(crate) said: String,
}

/// Applies the ConfigMap and says so in the status.
async fn reconcile(greeting: Arc<Greeting>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let (name, namespace) = (greeting.name_any(), greeting.namespace().unwrap_or_default());
    let apply = PatchParams::apply("greeter").force();

    let mut map = ConfigMap::default();
    (map.metadata.name, map.metadata.namespace) = (Some(name.clone()), Some(namespace.clone()));
    map.metadata.owner_references = greeting.controller_owner_ref(&()).map(|owner| vec![owner]);
    map.data = Some([("text".to_owned(), greeting.spec.text.clone())].into());
    let maps = Api::<ConfigMap>::namespaced(Client::clone(&client), &namespace);
    maps.patch(&name, &apply, &Patch::Apply(&map)).await?;

    let status = json!({
        "apiVersion": Greeting::api_version(&()),
        "kind": Greeting::kind(&()),
        "status": GreetingStatus { said: greeting.spec.text.clone() },
    });
    let greetings = Api::<Greeting>::namespaced(Client::clone(&client), &namespace);
    greetings.patch_status(&name, &apply, &Patch::Apply(&status)).await?;
    Ok(Action::await_change())
}

/// Runs the controller for as long as it is polled.
pub(crate) async fn run(client: Client) {
    let greetings = Api::<Greeting>::all(client.clone());
    let maps = Api::<ConfigMap>::all(client.clone());
    let again = |_: Arc<Greeting>, _: &kube::Error, _: Arc<Client>| Action::requeue(Duration::from_secs(1));
    Controller::new(greetings, watcher::Config::default())
        .owns(maps, watcher::Config::default())
        .run(reconcile, again, Arc::new(client))
        .for_each(async |_| {})
        .await;
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    run(Client::try_default().await?).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use kube::{
        CustomResourceExt,
        api::{DeleteParams, PostParams},
        runtime::wait::{Condition, await_condition},
    };
    use serde::de::DeserializeOwned;
    use test_cluster::{Gate, InProcessServer, eventually, install_crd};
    use tokio::time::timeout;

    use super::*;

    /// A server of the test's own, on which the controller runs.
    struct Scene {
        server: InProcessServer,
        greetings: Api<Greeting>,
        maps: Api<ConfigMap>,
    }

    impl Scene {
        async fn new() -> Result<Self, Box<dyn Error>> {
            let server = InProcessServer::new();
            let client = server.client();
            install_crd(&client, &Greeting::crd()).await?;
            tokio::spawn(run(client.clone()));
            let (greetings, maps) =
                (Api::default_namespaced(client.clone()), Api::default_namespaced(client));
            Ok(Self { server, greetings, maps })
        }

        async fn greet(&self, text: &str) -> Result<(), Box<dyn Error>> {
            let greeting = Greeting::new("hello", GreetingSpec { text: text.to_owned() });
            self.greetings.create(&PostParams::default(), &greeting).await?;
            until(&self.maps, says(text)).await
        }
    }

    /// Waits for the object `hello`. The clock is paused, so the deadline costs no time.
    async fn until<K>(api: &Api<K>, condition: impl Condition<K>) -> Result<(), Box<dyn Error>>
    where
        K: Resource + Clone + std::fmt::Debug + DeserializeOwned + Send + 'static,
    {
        timeout(Duration::from_secs(60), await_condition(api.clone(), "hello", condition)).await??;
        Ok(())
    }

    fn says(text: &str) -> impl Condition<ConfigMap> {
        move |map: Option<&ConfigMap>| {
            map.and_then(|map| map.data.as_ref()?.get("text")).is_some_and(|found| found == text)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_greeting_is_said_in_a_map_and_in_the_status() -> Result<(), Box<dyn Error>> {
        let scene = Scene::new().await?;
        scene.greet("hello").await?;
        let is_said = |greeting: Option<&Greeting>| {
            greeting
                .and_then(|greeting| greeting.status.as_ref())
                .is_some_and(|status| status.said == "hello")
        };
        until(&scene.greetings, is_said).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_defaced_map_is_mended() -> Result<(), Box<dyn Error>> {
        let scene = Scene::new().await?;
        scene.greet("hello").await?;
        let defaced = Patch::Merge(json!({ "data": { "text": "goodbye" } }));
        scene.maps.patch("hello", &PatchParams::default(), &defaced).await?;
        until(&scene.maps, says("hello")).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_of_a_version_that_is_forgotten_begins_anew() -> Result<(), Box<dyn Error>> {
        let scene = Scene::new().await?;
        scene.greet("hello").await?;
        scene.server.compact();
        let again = Patch::Merge(json!({ "spec": { "text": "good morning" } }));
        scene.greetings.patch("hello", &PatchParams::default(), &again).await?;
        until(&scene.maps, says("good morning")).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_deleted_greeting_takes_its_map_along() -> Result<(), Box<dyn Error>> {
        let scene = Scene::new().await?;
        scene.greet("hello").await?;
        scene.greetings.delete("hello", &DeleteParams::default()).await?;
        until(&scene.maps, |map: Option<&ConfigMap>| map.is_none()).await
    }

    /// Without the helpers of kube-rs: for what no condition says.
    #[tokio::test(start_paused = true)]
    async fn a_greeting_that_changes_while_it_is_said_is_said_again() -> Result<(), Box<dyn Error>> {
        let scene = Scene::new().await?;
        scene.greet("hello").await?;
        let gate = Gate::new();
        let meanwhile = tokio::spawn({
            let (gate, greetings) = (gate.clone(), scene.greetings.clone());
            async move {
                gate.pass().await;
                let again = Patch::Merge(json!({ "spec": { "text": "good evening" } }));
                greetings.patch("hello", &PatchParams::default(), &again).await
            }
        });
        gate.arrived().await?;
        gate.let_through(1);
        meanwhile.await??;
        let said = eventually("the new text", async || {
            let text = scene.maps.get("hello").await?.data.and_then(|data| data.get("text").cloned());
            Ok(text.filter(|text| text == "good evening"))
        });
        assert_eq!(said.await?, "good evening");
        Ok(())
    }

    /// Rights count for whoever isn't the administrator, as they do in a cluster.
    #[tokio::test(start_paused = true)]
    async fn somebody_without_rights_is_refused() -> Result<(), Box<dyn Error>> {
        let scene = Scene::new().await?;
        let greetings = Api::<Greeting>::default_namespaced(scene.server.acting_as("bob", &[]).client());
        let refused = greetings.get("hello").await;
        assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 403));
        Ok(())
    }
}
