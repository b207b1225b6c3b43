use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, ResourceExt};
use operator_core::{ControllerBuilder, OperatorBuilder, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Greeting")]
#[kube(namespaced, status = "GreetingStatus")]
struct GreetingSpec {
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct GreetingStatus {
    #[serde(default)]
    conditions: Vec<Condition>,
}

/// The page that shows the text.
fn page(greeting: &Greeting) -> ConfigMap {
    let html = format!("<h1>{}</h1>\n", greeting.spec.text);
    ConfigMap { data: Some([("index.html".to_owned(), html)].into()), ..ConfigMap::default() }
}

/// The server, which mounts the config map of `page`.
fn web(greeting: &Greeting) -> Result<Deployment> {
    let labels = json!({ "greeting": greeting.name_any() });
    Ok(serde_json::from_value(json!({
        "spec": {
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "containers": [{
                        "name": "nginx",
                        "image": "nginxinc/nginx-unprivileged:1.29",
                        "volumeMounts": [{ "name": "page", "mountPath": "/usr/share/nginx/html" }],
                    }],
                    "volumes": [{ "name": "page", "configMap": { "name": format!("{}-page", greeting.name_any()) } }],
                },
            },
        },
    }))?)
}

/// The status, at the end of every run.
fn status(greeting: &Greeting, run: &Run<Greeting>) -> GreetingStatus {
    GreetingStatus { conditions: run.conditions(greeting) }
}

fn greetings() -> ControllerBuilder<impl Reconciler<Primary = Greeting>> {
    Controller::of::<Greeting>().workflow((page, web.after(page))).status(status)
}

fn operator() -> OperatorBuilder {
    Operator::builder().register(greetings())
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    operator().main().await
}
