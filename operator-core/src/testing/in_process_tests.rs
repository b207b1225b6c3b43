//! A whole operator on the server inside the process, in paused time.

use std::{fmt::Debug, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{NamespaceResourceScope, api::core::v1::ConfigMap};
use kube::{
    Api, Client, CustomResource, CustomResourceExt, Resource, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{InProcessServer, TestOperator};
use crate::{
    controller::Controller,
    environment::WallClock,
    operator::Operator,
    reconciler::{BoxError, Context, Removal, UpdateControl, run::Run, traits::Cleaner},
    resource::ObjectKey,
};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "ex.com", version = "v1", kind = "Greeting", namespaced, status = "GreetingStatus")]
struct GreetingSpec {
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct GreetingStatus {
    said: String,
}

/// Writes the greeting into a config map and says so in the status.
struct Greeter;

impl Cleaner for Greeter {
    type Primary = Greeting;

    async fn reconcile(
        &self,
        greeting: &Greeting,
        context: &mut Context<Greeting>,
    ) -> Result<UpdateControl<Greeting>, BoxError> {
        let mut map = ConfigMap::default();
        (map.metadata.name, map.metadata.namespace) = (Some(greeting.name_any()), greeting.namespace());
        map.data = Some([("text".to_owned(), greeting.spec.text.clone())].into());
        map.metadata.owner_references = Some(greeting.controller_owner_ref(&()).into_iter().collect());
        context.resource_operations().server_side_apply(&map).await?;
        context.put(Said(greeting.spec.text.clone()));
        Ok(UpdateControl::no_update())
    }

    async fn cleanup(&self, _: &Greeting, _: &mut Context<Greeting>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}

/// What was said in this run.
struct Said(String);

fn status(_: &Greeting, run: &Run<Greeting>) -> Option<GreetingStatus> {
    Some(GreetingStatus { said: run.data::<Said>()?.0.clone() })
}

/// A clock that stands still.
#[derive(Debug)]
struct Still;

impl WallClock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_700_000_000).expect("a time")
    }
}

async fn merge<K>(client: &Client, name: &str, patch: Value)
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let api = Api::<K>::namespaced(client.clone(), "default");
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.expect("patched");
}

/// Runs the life of a greeting; the answer is what the operator has written.
async fn life() -> Vec<String> {
    let server = InProcessServer::with_clock(|| Still.now());
    let client = server.client();
    Api::all(client.clone()).create(&PostParams::default(), &Greeting::crd()).await.expect("created");
    let controller = Controller::builder(Greeter).owns::<ConfigMap>().status(status);
    let builder = Operator::builder().config(server.config()).transport(server.clone().into());
    let builder = builder.wall_clock(Arc::new(Still)).register(controller);
    let operator = TestOperator::start(builder).await.expect("it starts");

    let greetings = Api::<Greeting>::namespaced(client.clone(), "default");
    let maps = Api::<ConfigMap>::namespaced(client.clone(), "default");
    let hello = Greeting::new("hello", GreetingSpec { text: "hello".to_owned() });
    greetings.create(&PostParams::default(), &hello).await.expect("created");
    let mut written = operator.settled().await.expect("settles").written();
    let made = greetings.get("hello").await.expect("it is there");
    assert_eq!(made.status.as_ref().map(|status| status.said.as_str()), Some("hello"));
    assert_eq!(made.finalizers().len(), 1);
    let map = maps.get("hello").await.expect("it is there");
    assert_eq!(map.data.as_ref().and_then(|data| data.get("text")).map(String::as_str), Some("hello"));

    // Somebody's change of the config map is undone.
    let defaced = json!({ "data": { "text": "defaced" } });
    merge::<ConfigMap>(&client, "hello", defaced).await;
    written.extend(operator.settled().await.expect("settles").written());
    let map = maps.get("hello").await.expect("it is there");
    assert_eq!(map.data.as_ref().and_then(|data| data.get("text")).map(String::as_str), Some("hello"));

    // A watch is forgotten, and nothing gets lost.
    server.compact();
    merge::<Greeting>(&client, "hello", json!({ "spec": { "text": "bye" } })).await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    written.extend(operator.settled().await.expect("settles").written());
    assert_eq!(
        greetings.get("hello").await.expect("it is there").status.map(|status| status.said),
        Some("bye".into())
    );

    greetings.delete("hello", &DeleteParams::default()).await.expect("deleted");
    let last = operator.settled().await.expect("settles");
    assert_eq!(last.runs_of(&ObjectKey::namespaced("default", "hello")), 1);
    written.extend(last.written());
    assert!(greetings.get_opt("hello").await.expect("an answer").is_none());
    operator.stop().await;
    written
}

#[tokio::test(start_paused = true)]
async fn a_small_operator_lives_on_the_server() {
    let written = Box::pin(life()).await;
    let expected = [
        "PATCH greetings/hello -> 200",
        "PATCH configmaps/hello -> 201",
        "PATCH greetings/hello/status -> 200",
        "PATCH configmaps/hello -> 200",
        "PATCH configmaps/hello -> 200",
        "PATCH greetings/hello/status -> 200",
        "PATCH greetings/hello -> 200",
    ];
    assert_eq!(written, expected);
}
