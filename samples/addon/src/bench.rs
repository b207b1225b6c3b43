//! The parts of `dev` besides the operator: its account and role, an example, commands to try, and the life of an add-on.

use operator_core::cli::dev::{Scenario, Step, Target, Workbench};
use serde_json::{Value, json};

/// The account and the role that the operator runs with.
pub const RBAC: &str = include_str!("../deploy/rbac.yaml");

const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello.yaml");

/// An object of the add-on's kind that the add-on doesn't own.
const GUEST: &str = "
apiVersion: addon.sample.operator-core.io/v1
kind: Channel
metadata: { name: guest }
spec: { greeting: Hi }
";

/// The workbench of `addon dev`.
pub fn workbench() -> Workbench {
    Workbench::new()
        .manifests(RBAC)
        .example_files([HELLO])
        .hint("patch addon hello --type=merge -p '{\"spec\":{\"version\":\"2.0.0\"}}'")
        .hint("get addon hello -o jsonpath='{.status.inventory.kinds}'")
        .hint("delete addon hello")
        .scenario("life", life_of_an_addon())
}

fn life_of_an_addon() -> Scenario {
    Scenario::new()
        .step(
            Step::new("install 62 objects in three waves")
                .apply_files([HELLO])
                .until(addon(), "to be ready", is_ready)
                .until(addon(), "to have 61 objects and no Job", |addon| has_objects(addon, 61))
                .until_gone(Target::new("batch/v1", "Job", "hello-to-1-4-0")),
        )
        .step(
            Step::new("repair what was changed by hand")
                .patch(of("v1", "ConfigMap", "web"), json!({ "data": { "GREETING": "Bye" } }))
                .until(of("v1", "ConfigMap", "web"), "to greet again", |map| {
                    is(map, "/data/GREETING", &json!("Hello"))
                }),
        )
        .step(
            Step::new("repair what was deleted by hand")
                .delete(of("v1", "Service", "api"))
                .until_replaced(of("v1", "Service", "api"))
                .until(addon(), "to be ready again", is_ready),
        )
        .step(
            Step::new("upgrade it to a version with other servers")
                .patch(addon(), json!({ "spec": { "version": "2.0.0" } }))
                .until(of("apps/v1", "Deployment", "audit"), "to have the new version", |audit| {
                    is(audit, "/spec/template/spec/containers/0/image", &json!("example.com/audit:2.0.0"))
                })
                .until_gone(of("apps/v1", "Deployment", "reports"))
                .until_gone(of("v1", "ServiceAccount", "reports"))
                .until(addon(), "to be ready again", is_ready)
                .until(addon(), "to be another revision", |addon| is(addon, "/status/revision", &json!(2))),
        )
        .step(
            Step::new("delete it while somebody else has a channel")
                .apply(GUEST)
                .delete(addon())
                .until(addon(), "to wait for the channel", |addon| reason(addon, "DeletionBlocked"))
                .until(of("apps/v1", "Deployment", "web"), "to serve on", |web| {
                    is(web, "/status/availableReplicas", &json!(1))
                }),
        )
        .step(
            Step::new("delete the channel")
                .delete(Target::new("addon.sample.operator-core.io/v1", "Channel", "guest"))
                .until_gone(addon())
                .until_gone(of("apps/v1", "Deployment", "web"))
                .until_gone(Target::new(
                    "apiextensions.k8s.io/v1",
                    "CustomResourceDefinition",
                    "channels.addon.sample.operator-core.io",
                )),
        )
}

fn addon() -> Target {
    Target::new("sample.operator-core.io/v1", "AddOn", "hello")
}

/// An object of a server.
fn of(api_version: &str, kind: &str, server: &str) -> Target {
    Target::new(api_version, kind, format!("hello-{server}"))
}

fn is_ready(addon: &Value) -> Result<(), String> {
    is(addon, "/status/observedGeneration", &addon["metadata"]["generation"])?;
    is(addon, "/status/state", &json!("Ready"))
}

/// Whether the status counts so many objects.
fn has_objects(addon: &Value, wanted: u64) -> Result<(), String> {
    let kinds = addon["status"]["inventory"]["kinds"].as_object();
    let found: u64 = kinds.into_iter().flatten().filter_map(|(_, count)| count["total"].as_u64()).sum();
    if found == wanted { Ok(()) } else { Err(format!("it has {found}")) }
}

/// Whether the condition `Ready` has that reason.
fn reason(addon: &Value, wanted: &str) -> Result<(), String> {
    let conditions = addon["status"]["conditions"].as_array();
    let Some(ready) = conditions.into_iter().flatten().find(|condition| condition["type"] == "Ready") else {
        return Err("it has no condition yet".to_owned());
    };
    is(ready, "/reason", &json!(wanted)).map_err(|error| format!("{error}: {}", ready["message"]))
}

/// Whether the value at `pointer` is the wanted one; otherwise the actual one.
fn is(object: &Value, pointer: &str, wanted: &Value) -> Result<(), String> {
    match object.pointer(pointer) {
        Some(value) if value == wanted => Ok(()),
        found => Err(format!("{pointer} is {}", found.unwrap_or(&Value::Null))),
    }
}
