//! What components cost, and many nodes of one kind: `cargo bench -p integration-tests --bench components`, a minute.
//!
//! One process and one thread, with the API server in it, whose part is in all numbers. Prints the CPU time of a first run and of a run
//! that changes nothing, and their ratios: 20 components of 5 nodes against the same 100 nodes without, and 400 nodes of one kind
//! against 100. Only the ratios mean something.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::Duration;

use anyhow::Result;
use cpu_time::ThreadTime;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, CustomResource, CustomResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use operator_component::{Components, HasComponents, component};
use operator_core::{
    Controller, Run, Workflow, node,
    status::conditions::{ConditionUpdate, set},
    testing::{TestCluster, TestOperator},
    workflow::WorkflowBuilder,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

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

/// How many runs that change nothing are measured.
const RUNS: u32 = 20;
/// How often each is measured, one after the other.
const ROUNDS: usize = 5;
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

/// The CPU time of the first run, and of one that changes nothing.
struct Cost {
    first: Duration,
    nothing: Duration,
}

async fn measured(
    workflow: WorkflowBuilder<Crowd>,
    status: fn(&Crowd, &Run<Crowd>) -> CrowdStatus,
) -> Result<Cost> {
    let cluster = TestCluster::in_process();
    cluster.install_crds([Crowd::crd()]).await?;
    let namespace = cluster.namespace("bench").await?;
    let controller = Controller::of::<Crowd>().workflow(workflow).status(status);
    let builder = cluster.connect(operator_core::Operator::builder().register(controller));
    let operator = TestOperator::start(builder).await?;
    let crowds: Api<Crowd> = Api::namespaced(cluster.client()?, &namespace);
    let began = ThreadTime::now();
    crowds.create(&PostParams::default(), &Crowd::new("one", CrowdSpec {})).await?;
    operator.settled().await?;
    let first = began.elapsed();
    let began = ThreadTime::now();
    for run in 0..RUNS {
        let annotations = json!({ "operator-core.io/requested-at": run.to_string() });
        let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations } }));
        crowds.patch("one", &PatchParams::default(), &patch).await?;
        operator.settled().await?;
    }
    let nothing = began.elapsed() / RUNS;
    operator.stop().await;
    Ok(Cost { first, nothing })
}

impl Cost {
    /// The lesser of each: what else happens on the machine only adds to it.
    fn least(&self, other: &Self) -> Self {
        Self { first: self.first.min(other.first), nothing: self.nothing.min(other.nothing) }
    }
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

fn print(what: &str, one: &Cost, other: &Cost, limits: [f64; 2]) {
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    for (step, one, other, limit) in [
        ("first run", one.first, other.first, limits[0]),
        ("a run that changes nothing", one.nothing, other.nothing, limits[1]),
    ] {
        println!("{what}, {step}: {one:?} / {other:?} = {:.2} (at most {limit})", ratio(one, other));
    }
}

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // The first one warms up.
        let mut plain_ones = measured(plain(NODES), without).await?;
        let mut components = measured(in_components(NODES), with_components).await?;
        let mut many = measured(plain(4 * NODES), without).await?;
        for _ in 0..ROUNDS {
            plain_ones = plain_ones.least(&measured(plain(NODES), without).await?);
            components = components.least(&measured(in_components(NODES), with_components).await?);
            many = many.least(&measured(plain(4 * NODES), without).await?);
        }
        print("20 components of 5 nodes against 100 nodes", &components, &plain_ones, [1.1, 1.25]);
        print("400 nodes of one kind against 100", &many, &plain_ones, [5.0, 5.0]);
        Ok(())
    })
}
