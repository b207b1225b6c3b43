//! The parts of `dev` besides the operator: its account and role, an example, commands to try, and the life of a shop.

use operator_core::cli::dev::{Scenario, Step, Target, Workbench};
use serde_json::{Value, json};

/// The account and the role that the operator runs with.
pub const RBAC: &str = include_str!("../deploy/rbac.yaml");

const BOOKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/books.yaml");

/// A place for its data.
const VOLUME: &str = include_str!("../examples/volume.yaml");

/// The workbench of `shop dev`.
pub fn workbench() -> Workbench {
    Workbench::new()
        .manifests(RBAC)
        .manifests(VOLUME)
        .example_files([BOOKS])
        .hint("patch shop books --type=merge -p '{\"spec\":{\"suspended\":true}}'")
        .hint("get shop books -o jsonpath='{.status.conditions}'")
        .hint("delete shop books")
        .scenario("life", life_of_a_shop())
}

fn life_of_a_shop() -> Scenario {
    let spec = |spec: Value| json!({ "spec": spec });
    let says = |of: &'static str, reason: &'static str| move |shop: &Value| has(shop, of, reason);
    Scenario::new()
        .step(Step::new("open a shop, one component after the other").apply_files([BOOKS]).until(
            shop(),
            "to be healthy",
            says("Ready", "Healthy"),
        ))
        .step(
            Step::new("upgrade it, after its migration")
                .patch(shop(), spec(json!({ "version": "2.0.0" })))
                .until(deployment("books-api"), "to have the new image", |api| {
                    is(api, "/spec/template/spec/containers/0/image", &json!("example.com/api:2.0.0"))
                })
                .until(shop(), "to be healthy again", says("Ready", "Healthy")),
        )
        .step(
            Step::new("repair a deleted deployment")
                .delete(deployment("books-api"))
                .until_replaced(deployment("books-api"))
                // Pods that the next step may leave running.
                .until(deployment("books-api"), "to have its pods again", |api| {
                    is(api, "/status/availableReplicas", &json!(2))
                }),
        )
        .step(
            Step::new("roll out an image that can't be pulled")
                .patch(shop(), spec(json!({ "image": "broken" })))
                .until(shop(), "to be degraded when its grace is over", says("ApiReady", "Degraded")),
        )
        .step(Step::new("take it back").patch(shop(), spec(json!({ "image": null }))).until(
            shop(),
            "to be healthy again",
            says("Ready", "Healthy"),
        ))
        .step(
            Step::new("suspend it")
                .patch(shop(), spec(json!({ "suspended": true })))
                .until(shop(), "to be suspended", says("Ready", "Suspended"))
                .until(deployment("books-api"), "to have no pods", |api| {
                    is(api, "/spec/replicas", &json!(0))
                }),
        )
        .step(
            Step::new("resume it without metrics")
                .patch(shop(), spec(json!({ "suspended": false, "metrics": false })))
                .until(shop(), "to have no metrics", says("MetricsReady", "Disabled"))
                .until(shop(), "to be healthy again", says("ApiReady", "Healthy"))
                .until_gone(deployment("books-exporter")),
        )
        .step(Step::new("close it").delete(shop()).until_gone(shop()).until_gone(deployment("books-api")))
}

fn shop() -> Target {
    Target::new("sample.operator-core.io/v1", "Shop", "books")
}

fn deployment(name: &str) -> Target {
    Target::new("apps/v1", "Deployment", name)
}

/// Whether the condition has that reason, for the present generation.
fn has(shop: &Value, of: &str, reason: &str) -> Result<(), String> {
    let conditions = shop["status"]["conditions"].as_array();
    let Some(found) = conditions.into_iter().flatten().find(|condition| condition["type"] == of) else {
        return Err(format!("{of} is not there"));
    };
    let is_new = found["observedGeneration"] == shop["metadata"]["generation"];
    match found["reason"] == reason && is_new {
        true => Ok(()),
        false => Err(format!("{of} is {}: {}", found["reason"], found["message"])),
    }
}

/// Whether the value at `pointer` is the wanted one; otherwise the actual one.
fn is(object: &Value, pointer: &str, wanted: &Value) -> Result<(), String> {
    match object.pointer(pointer) {
        Some(value) if value == wanted => Ok(()),
        found => Err(format!("{pointer} is {}", found.unwrap_or(&Value::Null))),
    }
}
