//! The parts of `dev` besides the operator: its account and role, an example, and the life of a shop as a scenario.

use operator_core::cli::dev::{Scenario, Step, Target, Workbench};
use serde_json::{Value, json};

/// The file with the account and the role that the operator runs with.
pub const RBAC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/rbac.yaml");

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/shop.yaml");

/// The workbench of `tomcat dev`.
pub fn workbench() -> Workbench {
    Workbench::new()
        .manifest_files([RBAC])
        .example_files([SHOP])
        .hint("get webapps")
        .hint(r#"patch tomcat shop --type merge -p '{"spec": {"replicas": 0}}'"#)
        .hint("delete webapp checkout")
        .scenario("life", life_of_a_shop())
}

fn life_of_a_shop() -> Scenario {
    let of = |kind: &str, name: &str| Target::new("sample.operator-core.io/v1", kind, name);
    let (shop, catalogue, checkout) =
        (of("Tomcat", "shop"), of("Webapp", "catalogue"), of("Webapp", "checkout"));
    let (deployment, service) =
        (Target::new("apps/v1", "Deployment", "shop"), Target::new("v1", "Service", "shop"));
    let war = Target::new("v1", "ConfigMap", "checkout-war");
    let new = "https://example.com/catalogue-2.0.war";
    Scenario::new()
        .step(
            Step::new("create a tomcat and two webapps")
                .apply_files([SHOP])
                .until_ready(shop.clone())
                .until_ready(catalogue.clone())
                .until_ready(checkout.clone())
                .until(deployment.clone(), "to download two wars", |deployment| downloads(deployment, 2)),
        )
        .step(
            Step::new("roll out a new version of a webapp")
                .patch(catalogue.clone(), json!({ "spec": { "url": new } }))
                .until(shop.clone(), "to have it", move |shop| {
                    is(&shop["status"]["wars"]["/catalogue"]["url"], &json!(new))
                })
                .until_ready(catalogue.clone()),
        )
        .step(
            Step::new("take a webapp away")
                .delete(checkout.clone())
                .until_gone(checkout)
                .until_gone(war)
                .until(deployment.clone(), "to download one war", |deployment| downloads(deployment, 1)),
        )
        .step(
            Step::new("delete everything")
                .delete(catalogue.clone())
                .delete(shop.clone())
                .until_gone(catalogue)
                .until_gone(shop)
                .until_gone(deployment)
                .until_gone(service),
        )
}

fn downloads(deployment: &Value, number: usize) -> Result<(), String> {
    let containers = deployment.pointer("/spec/template/spec/initContainers").and_then(Value::as_array);
    is(&json!(containers.map_or(0, Vec::len)), &json!(number))
}

fn is(value: &Value, wanted: &Value) -> Result<(), String> {
    if value == wanted { Ok(()) } else { Err(format!("it is {value}")) }
}
