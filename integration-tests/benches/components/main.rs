//! What components cost, and many nodes of one kind: `cargo bench -p integration-tests --bench components`, a minute.
//!
//! One process and one thread, with the API server in it, whose part is in all numbers. Prints the CPU time of a first run and of a run
//! that changes nothing, and their ratios: 20 components of 5 nodes against the same 100 nodes without, and 400 nodes of one kind
//! against 100. Only the ratios mean something.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "../costs/mod.rs"]
mod costs;

use anyhow::Result;
use costs::{least, measured, print};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use operator_component::{Components, HasComponents, component};
use operator_core::{
    Controller, Run, Workflow, node,
    status::conditions::{ConditionUpdate, set},
    workflow::WorkflowBuilder,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A primary with many children.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "bench.example.com", version = "v1", kind = "Crowd", namespaced, status = "CrowdStatus")]
struct CrowdSpec {}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct CrowdStatus {
    #[serde(flatten)]
    components: Components,
}

impl HasComponents for CrowdStatus {
    fn components(&self) -> &Components {
        &self.components
    }
}

const NODES: usize = 100;
const OF_A_COMPONENT: usize = 5;

/// A function that makes a config map, with a name of its own.
macro_rules! child {
    ($number:expr) => {{
        let number = $number;
        let child = move |_: &Crowd| ConfigMap {
            data: Some([("number".to_owned(), number.to_string())].into()),
            ..ConfigMap::default()
        };
        node(child).named(format!("child-{number}"))
    }};
}

fn plain(count: usize) -> WorkflowBuilder<Crowd> {
    (0..count).fold(Workflow::builder(), |builder, number| builder.nodes((child!(number),)))
}

fn in_components(count: usize) -> WorkflowBuilder<Crowd> {
    (0..count).step_by(OF_A_COMPONENT).fold(Workflow::builder(), |builder, at| {
        let nodes = (child!(at), child!(at + 1), child!(at + 2), child!(at + 3), child!(at + 4));
        builder.nodes((component(&format!("part-{at}"), nodes),))
    })
}

fn with_components(crowd: &Crowd, run: &Run<Crowd>) -> CrowdStatus {
    CrowdStatus { components: Components::of(crowd, run) }
}

/// With as many conditions by hand as components have: the server's part grows with the status.
fn without(crowd: &Crowd, run: &Run<Crowd>) -> CrowdStatus {
    let mut conditions = run.conditions(crowd);
    for at in (0..NODES).step_by(OF_A_COMPONENT) {
        let names: Vec<_> = (at..at + OF_A_COMPONENT).map(|number| format!("child-{number}")).collect();
        let update = ConditionUpdate {
            r#type: &format!("Part{at}Ready"),
            status: true.into(),
            reason: "Healthy",
            message: &names.join("; "),
            observed_generation: crowd.metadata.generation,
        };
        set(&mut conditions, &update, run.now());
    }
    CrowdStatus { components: Components { conditions, ..Components::default() } }
}

fn main() -> Result<()> {
    let crowd = Crowd::new("one", CrowdSpec {});
    let of_plain = |count| Controller::of::<Crowd>().workflow(plain(count)).status(without);
    let [plain_ones, components, many] = least([
        &|| measured(&crowd, of_plain(NODES)),
        &|| {
            let workflow = in_components(NODES);
            measured(&crowd, Controller::of::<Crowd>().workflow(workflow).status(with_components))
        },
        &|| measured(&crowd, of_plain(4 * NODES)),
    ])?;
    print("20 components of 5 nodes against 100 nodes", &components, &plain_ones, [1.1, 1.25]);
    print("400 nodes of one kind against 100", &many, &plain_ones, [5.0, 5.0]);
    Ok(())
}
