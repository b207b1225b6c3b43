//! The parts of `dev` besides the operator: its account and role, an example, and the life of a schema as a scenario.

use operator_core::cli::dev::{Scenario, Step, Target, Workbench};
use serde_json::json;

/// The file with the account and the role that the operator runs with.
pub const RBAC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/rbac.yaml");

const ORDERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/orders.yaml");

/// The workbench of `mysql-schema dev`.
pub fn workbench() -> Workbench {
    let orders = Target::new("sample.operator-core.io/v1", "MySqlSchema", "orders");
    let secret = Target::new("v1", "Secret", "orders-credentials");
    let life = Scenario::new()
        .step(Step::new("create a schema").apply_files([ORDERS]).until_ready(orders.clone()))
        .step(
            Step::new("change its encoding")
                .patch(orders.clone(), json!({ "spec": { "encoding": "latin1" } }))
                .until(orders.clone(), "to be seen", |orders| {
                    let seen = &orders["status"]["observedGeneration"];
                    if *seen == orders["metadata"]["generation"] {
                        Ok(())
                    } else {
                        Err(format!("{seen} is seen"))
                    }
                })
                .until_ready(orders.clone()),
        )
        .step(
            Step::new("replace user and password")
                .delete(secret.clone())
                .until_replaced(secret.clone())
                .until_ready(orders.clone()),
        )
        .step(
            Step::new("drop the schema with its resource")
                .delete(orders.clone())
                .until_gone(orders)
                .until_gone(secret),
        );
    Workbench::new()
        .manifest_files([RBAC])
        .example_files([ORDERS])
        .hint("get secret orders-credentials -o yaml")
        .hint("delete secret orders-credentials")
        .hint(r#"patch mysqlschema orders --type merge -p '{"spec": {"encoding": "latin1"}}'"#)
        .scenario("life", life)
}
