//! The parts of `dev` besides the operator: its account and role, an example, and the life of a page as a scenario.

use operator_core::cli::dev::{Scenario, Step, Target, Workbench};
use serde_json::{Value, json};

/// The file with the account and the role that the operator runs with.
pub const RBAC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/rbac.yaml");

const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello.yaml");
const BROKEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/broken.yaml");

/// The workbench of `webpage dev`.
pub fn workbench() -> Workbench {
    Workbench::new()
        .manifest_files([RBAC])
        .example_files([HELLO])
        .hint("edit webpage hello")
        .hint("delete deployment hello")
        .hint(r#"patch webpage hello --type merge -p '{"spec": {"exposed": true}}'"#)
        .hint(r#"patch webpage hello --type merge -p '{"spec": {"html": "an error"}}'"#)
        .scenario("life", life_of_a_page())
        .scenario("trouble", trouble_with_a_page())
}

/// A page that nobody can serve, and that is repaired.
fn trouble_with_a_page() -> Scenario {
    let broken = Target::new("sample.operator-core.io/v1", "WebPage", "broken");
    let html = json!({ "spec": { "html": "<h1>Repaired</h1>" } });
    Scenario::new()
        .step(Step::new("create a page with an error").apply_files([BROKEN]).until(
            broken.clone(),
            "to say so in its status",
            says_its_error,
        ))
        .step(Step::new("repair it").patch(broken.clone(), html).until_ready(broken))
}

fn says_its_error(page: &Value) -> Result<(), String> {
    is(page, "/status/ready", &json!(false))?;
    match page.pointer("/status/errorMessage") {
        Some(_) => Ok(()),
        None => Err(format!("status {}", page["status"])),
    }
}

fn life_of_a_page() -> Scenario {
    let html = |html: &str| json!({ "spec": { "html": html } });
    let exposed = |exposed: bool| json!({ "spec": { "exposed": exposed } });
    Scenario::new()
        .step(Step::new("create a page").apply_files([HELLO]).until_ready(page()))
        .step(
            Step::new("edit the html, which rolls the pods")
                .patch(page(), html("<h1>Hello again</h1>"))
                .until(config_map(), "to hold the new html", |map| {
                    is(map, "/data/index.html", &json!("<h1>Hello again</h1>"))
                })
                .until(deployment(), "to be rolled out a second time", |deployment| {
                    is(deployment, "/status/observedGeneration", &json!(2))?;
                    is(deployment, "/status/updatedReplicas", &json!(1))
                })
                .until_ready(page()),
        )
        .step(Step::new("repair a deleted service").delete(service()).until_replaced(service()))
        .step(
            Step::new("repair an edited config map")
                .patch(config_map(), json!({ "data": { "index.html": "defaced" } }))
                .until(config_map(), "to hold the page's html", |map| {
                    is(map, "/data/index.html", &json!("<h1>Hello again</h1>"))
                }),
        )
        .step(Step::new("expose the page").patch(page(), exposed(true)).until(
            ingress(),
            "to lead to the service",
            |ingress| is(ingress, "/spec/rules/0/http/paths/0/backend/service/name", &json!("hello")),
        ))
        .step(Step::new("hide the page").patch(page(), exposed(false)).until_gone(ingress()))
        .step(Step::new("refuse html with an error in it").patch(page(), html("an error")).until(
            page(),
            "to say so in its status",
            says_its_error,
        ))
        .step(Step::new("recover").patch(page(), html("<h1>Fine</h1>")).until_ready(page()))
        .step(
            Step::new("delete the page, and its children with it")
                .delete(page())
                .until_gone(page())
                .until_gone(config_map())
                .until_gone(deployment())
                .until_gone(service()),
        )
}

fn page() -> Target {
    Target::new("sample.operator-core.io/v1", "WebPage", "hello")
}

fn config_map() -> Target {
    Target::new("v1", "ConfigMap", "hello-html")
}

fn deployment() -> Target {
    Target::new("apps/v1", "Deployment", "hello")
}

fn service() -> Target {
    Target::new("v1", "Service", "hello")
}

fn ingress() -> Target {
    Target::new("networking.k8s.io/v1", "Ingress", "hello")
}

/// Whether the value at `pointer` is the wanted one; otherwise the actual one.
fn is(object: &Value, pointer: &str, wanted: &Value) -> Result<(), String> {
    match object.pointer(pointer) {
        Some(value) if value == wanted => Ok(()),
        Some(value) => Err(format!("{pointer} is {value}")),
        None => Err(format!("{pointer} is not there")),
    }
}
