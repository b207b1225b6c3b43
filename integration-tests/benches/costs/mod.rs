//! What one primary costs: the frame of the benches of components and of bundles.
//!
//! One process and one thread, with the API server in it, whose part is in all numbers. Only ratios mean something.

use std::{fmt::Debug, time::Duration};

use allocation_counter::measure;
use anyhow::Result;
use cpu_time::ThreadTime;
use k8s_openapi::NamespaceResourceScope;
use kube::{
    Api, CustomResourceExt, Resource,
    api::{Patch, PatchParams, PostParams},
};
use operator_core::{
    Operator,
    controller::IntoController,
    testing::{TestCluster, TestOperator},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

/// How many runs that change nothing are measured.
const RUNS: u32 = 20;
/// How often each is measured, in turn. The first one warms up.
const ROUNDS: usize = 6;

/// The CPU time of the first run, and of one that changes nothing; the bytes that the operator holds, which its end sets free.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) first: Duration,
    pub(crate) nothing: Duration,
    pub(crate) held: i64,
}

impl Cost {
    const MOST: Self = Self { first: Duration::MAX, nothing: Duration::MAX, held: i64::MAX };

    /// The lesser of each: what else happens on the machine only adds to it.
    fn least(self, other: Self) -> Self {
        let (first, nothing) = (self.first.min(other.first), self.nothing.min(other.nothing));
        Self { first, nothing, held: self.held.min(other.held) }
    }
}

/// Measures each of these some times, and returns the least of each.
pub(crate) fn least<const N: usize>(all: [&dyn Fn() -> Result<Cost>; N]) -> Result<[Cost; N]> {
    let mut costs = [Cost::MOST; N];
    for _ in 0..ROUNDS {
        for (cost, measured) in costs.iter_mut().zip(all) {
            *cost = cost.least(measured()?);
        }
    }
    Ok(costs)
}

/// What this primary costs with this controller.
pub(crate) fn measured<P>(primary: &P, controller: impl IntoController) -> Result<Cost>
where
    P: CustomResourceExt + Clone + Debug + Serialize + DeserializeOwned,
    P: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (running, first, nothing) = runtime.block_on(run(primary, controller))?;
    // What the server remembers is its own.
    let held = -measure(|| {
        runtime.block_on(running.stop());
        drop(running);
    })
    .bytes_current;
    Ok(Cost { first, nothing, held })
}

async fn run<P>(primary: &P, controller: impl IntoController) -> Result<(TestOperator, Duration, Duration)>
where
    P: CustomResourceExt + Clone + Debug + Serialize + DeserializeOwned,
    P: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let cluster = TestCluster::in_process();
    cluster.install_crds([P::crd()]).await?;
    let namespace = cluster.namespace("bench").await?;
    let operator = TestOperator::start(cluster.connect(Operator::builder().register(controller))).await?;
    let primaries: Api<P> = Api::namespaced(cluster.client()?, &namespace);
    let began = ThreadTime::now();
    let name =
        primaries.create(&PostParams::default(), primary).await?.meta().name.clone().unwrap_or_default();
    operator.settled().await?;
    let first = began.elapsed();
    let began = ThreadTime::now();
    for run in 0..RUNS {
        let annotations = json!({ "operator-core.io/requested-at": run.to_string() });
        let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations } }));
        primaries.patch(&name, &PatchParams::default(), &patch).await?;
        operator.settled().await?;
    }
    Ok((operator, first, began.elapsed() / RUNS))
}

/// Prints both ratios, with what they may be at most.
pub(crate) fn print(what: &str, one: &Cost, other: &Cost, limits: [f64; 2]) {
    for (step, one, other, limit) in [
        ("first run", one.first, other.first, limits[0]),
        ("a run that changes nothing", one.nothing, other.nothing, limits[1]),
    ] {
        let ratio = one.as_secs_f64() / other.as_secs_f64();
        println!("{what}, {step}: {one:?} / {other:?} = {ratio:.2} (at most {limit})");
    }
}
