//! A whole operator on the server, in paused time.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, CustomResource, CustomResourceExt, Resource, ResourceExt, api::PostParams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::{
    controller::Controller,
    operations,
    operator::Operator,
    reconciler::{Cleaner, Context, DeleteControl, Reconciler, UpdateControl},
    resource::ObjectKey,
    testing::TestOperator,
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

impl Reconciler for Greeter {
    type Primary = Greeting;
    type Error = operations::Error;

    async fn reconcile(
        &self,
        greeting: Arc<Greeting>,
        context: &Context<Greeting>,
    ) -> Result<UpdateControl<Greeting>, operations::Error> {
        let mut map = ConfigMap::default();
        (map.metadata.name, map.metadata.namespace) = (Some(greeting.name_any()), greeting.namespace());
        map.data = Some([("text".to_owned(), greeting.spec.text.clone())].into());
        map.metadata.owner_references = Some(greeting.controller_owner_ref(&()).into_iter().collect());
        context.resource_operations().server_side_apply(&map).await?;
        Ok(UpdateControl::patch_status(GreetingStatus { said: greeting.spec.text.clone() }))
    }
}

impl Cleaner for Greeter {
    async fn cleanup(
        &self,
        _: Arc<Greeting>,
        _: &Context<Greeting>,
    ) -> Result<DeleteControl, operations::Error> {
        Ok(DeleteControl::default_delete())
    }
}

/// Runs the life of a greeting; the answer is what the operator has written.
async fn life() -> Vec<String> {
    let scene = Scene::new();
    let definition = serde_json::to_value(Greeting::crd()).expect("a definition");
    assert_eq!(scene.post(CRDS, definition).await.0, 201);
    let controller = Controller::builder(Greeter).with_cleaner().owns::<ConfigMap>();
    let builder = Operator::builder().config(scene.server.config()).transport(scene.server.hook());
    let builder = builder.wall_clock(Arc::new(Still)).register(controller).expect("a declaration");
    let operator = TestOperator::start(builder).await.expect("it starts");

    let greetings = Api::<Greeting>::namespaced(scene.client.clone(), "default");
    let maps = Api::<ConfigMap>::namespaced(scene.client.clone(), "default");
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
    scene.patch(&format!("{MAPS}/hello"), MERGE, defaced).await;
    written.extend(operator.settled().await.expect("settles").written());
    let map = maps.get("hello").await.expect("it is there");
    assert_eq!(map.data.as_ref().and_then(|data| data.get("text")).map(String::as_str), Some("hello"));

    // A watch is forgotten, and nothing gets lost.
    scene.server.compact();
    scene
        .patch(
            "/apis/ex.com/v1/namespaces/default/greetings/hello",
            MERGE,
            json!({ "spec": { "text": "bye" } }),
        )
        .await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    written.extend(operator.settled().await.expect("settles").written());
    assert_eq!(
        greetings.get("hello").await.expect("it is there").status.map(|status| status.said),
        Some("bye".into())
    );

    greetings.delete("hello", &kube::api::DeleteParams::default()).await.expect("deleted");
    let last = operator.settled().await.expect("settles");
    assert_eq!(last.runs_of(&ObjectKey::namespaced("default", "hello")), 1);
    written.extend(last.written());
    assert!(greetings.get_opt("hello").await.expect("an answer").is_none());
    operator.stop().await;
    written
}

#[tokio::test(start_paused = true)]
async fn a_small_operator_lives_on_the_server() {
    let written = life().await;
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

#[tokio::test]
async fn the_same_life_gives_the_same_calls() {
    let calls = async || {
        let scene = Scene::new();
        for name in ["a", "b"] {
            scene.post(MAPS, json!({ "metadata": { "name": name } })).await;
        }
        scene.delete(&format!("{MAPS}/a"), Value::Null).await;
        (scene.get(MAPS).await, scene.server.audit())
    };
    let (first, second) = (calls().await, calls().await);
    assert_eq!(first, second);
    let verbs: Vec<String> = first.1.iter().map(|event| format!("{} {}", event.verb, event.code)).collect();
    assert_eq!(verbs, ["create 201", "create 201", "delete 200", "list 200"]);
}
