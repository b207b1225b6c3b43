//! What a bundle costs beside ordinary nodes: `cargo bench -p integration-tests --bench bundle`, a minute.
//!
//! One process and one thread, with the API server in it, whose part is in all numbers. Prints the CPU time of a first run and of a run
//! that changes nothing, and the bytes that are held then: of one bundle, and of eight nodes with a list of the same objects each; and
//! of a bundle of 500 objects against one of 100. Only the ratios mean something.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::{collections::BTreeMap, time::Duration};

use allocation_counter::measure;
use anyhow::Result;
use cpu_time::ThreadTime;
use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, LimitRange, Secret, ServiceAccount},
    networking::v1::NetworkPolicy,
    rbac::v1::{Role, RoleBinding, RoleRef},
};
use kube::{
    Api, CustomResource, CustomResourceExt, Resource,
    api::{Patch, PatchParams, PostParams},
};
use operator_component::{BundleStatus, HasBundle, bundle, generator::RenderContext};
use operator_core::{
    BoxError, Controller, Objects, Run, Workflow, node,
    testing::{TestCluster, TestOperator},
    workflow::WorkflowBuilder,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A primary with objects of eight kinds.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "bench.example.com", version = "v1", kind = "Pile", namespaced, status = "PileStatus")]
struct PileSpec {
    count: usize,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct PileStatus {
    #[serde(flatten)]
    bundle: BundleStatus,
}

impl HasBundle for PileStatus {
    fn bundle(&self) -> &BundleStatus {
        &self.bundle
    }
}

/// How many runs that change nothing are measured.
const RUNS: u32 = 20;
const KINDS: usize = 8;
/// How often each is measured, one after the other.
const ROUNDS: usize = 5;

/// As many objects of one kind as the primary says; all are made by `fill`.
fn all<K: Resource + Default>(pile: &Pile, fill: fn(usize) -> K) -> Vec<K> {
    let make = |number| {
        let mut made = fill(number);
        made.meta_mut().name = Some(format!("pile-{number}"));
        made
    };
    (0..pile.spec.count / KINDS).map(make).collect()
}

fn text(number: usize) -> BTreeMap<String, String> {
    [("number".to_owned(), number.to_string()), ("text".to_owned(), "x".repeat(400))].into()
}

fn maps(pile: &Pile) -> Vec<ConfigMap> {
    all(pile, |number| ConfigMap { data: Some(text(number)), ..ConfigMap::default() })
}

fn secrets(pile: &Pile) -> Vec<Secret> {
    all(pile, |number| Secret { string_data: Some(text(number)), ..Secret::default() })
}

fn accounts(pile: &Pile) -> Vec<ServiceAccount> {
    all(pile, |_| ServiceAccount::default())
}

fn roles(pile: &Pile) -> Vec<Role> {
    all(pile, |_| Role::default())
}

fn bindings(pile: &Pile) -> Vec<RoleBinding> {
    all(pile, |number| {
        let name = format!("pile-{number}");
        let role_ref =
            RoleRef { api_group: Some("rbac.authorization.k8s.io".into()), kind: "Role".into(), name };
        RoleBinding { role_ref, ..RoleBinding::default() }
    })
}

fn limits(pile: &Pile) -> Vec<LimitRange> {
    all(pile, |_| LimitRange::default())
}

fn policies(pile: &Pile) -> Vec<NetworkPolicy> {
    all(pile, |_| NetworkPolicy::default())
}

fn leases(pile: &Pile) -> Vec<Lease> {
    all(pile, |_| Lease::default())
}

fn of_lists() -> WorkflowBuilder<Pile> {
    Workflow::builder().nodes((
        node(maps),
        node(secrets),
        node(accounts),
        node(roles),
        node(bindings),
        node(limits),
        node(policies),
        node(leases),
    ))
}

fn objects(pile: &Pile) -> Objects {
    let mut objects = Objects::new();
    objects.extend(maps(pile));
    objects.extend(secrets(pile));
    objects.extend(accounts(pile));
    objects.extend(roles(pile));
    objects.extend(bindings(pile));
    objects.extend(limits(pile));
    objects.extend(policies(pile));
    objects.extend(leases(pile));
    objects
}

fn pile() -> operator_component::Bundle<Pile> {
    let generate = |cx: &RenderContext<'_, Pile>| -> Result<Objects, BoxError> { Ok(objects(cx.primary())) };
    bundle("pile", generate)
}

fn of_a_bundle() -> WorkflowBuilder<Pile> {
    Workflow::builder().nodes((pile(),))
}

/// The CPU time of the first run, and of one that changes nothing; the bytes that the operator holds, which its end sets free.
struct Cost {
    first: Duration,
    nothing: Duration,
    held: i64,
}

impl Cost {
    /// The lesser of each: what else happens on the machine only adds to it.
    fn least(&self, other: &Self) -> Self {
        let (first, nothing) = (self.first.min(other.first), self.nothing.min(other.nothing));
        Self { first, nothing, held: self.held.min(other.held) }
    }
}

fn measured(
    count: usize,
    workflow: WorkflowBuilder<Pile>,
    status: fn(&Pile, &Run<Pile>) -> PileStatus,
) -> Result<Cost> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (running, first, nothing) = runtime.block_on(run(count, workflow, status))?;
    // What the server remembers is its own.
    let held = -measure(|| {
        runtime.block_on(running.stop());
        drop(running);
    })
    .bytes_current;
    Ok(Cost { first, nothing, held })
}

async fn run(
    count: usize,
    workflow: WorkflowBuilder<Pile>,
    status: fn(&Pile, &Run<Pile>) -> PileStatus,
) -> Result<(TestOperator, Duration, Duration)> {
    let cluster = TestCluster::in_process();
    cluster.install_crds([Pile::crd()]).await?;
    let namespace = cluster.namespace("bench").await?;
    let controller = Controller::of::<Pile>().workflow(workflow).status(status);
    let builder = cluster.connect(operator_core::Operator::builder().register(controller));
    let operator = TestOperator::start(builder).await?;
    let piles: Api<Pile> = Api::namespaced(cluster.client()?, &namespace);
    let began = ThreadTime::now();
    piles.create(&PostParams::default(), &Pile::new("one", PileSpec { count })).await?;
    operator.settled().await?;
    let first = began.elapsed();
    let began = ThreadTime::now();
    for run in 0..RUNS {
        let annotations = json!({ "operator-core.io/requested-at": run.to_string() });
        let patch = Patch::Merge(json!({ "metadata": { "annotations": annotations } }));
        piles.patch("one", &PatchParams::default(), &patch).await?;
        operator.settled().await?;
    }
    Ok((operator, first, began.elapsed() / RUNS))
}

fn of_the_bundle(primary: &Pile, run: &Run<Pile>) -> PileStatus {
    PileStatus { bundle: pile().of(primary, run) }
}

fn without(primary: &Pile, run: &Run<Pile>) -> PileStatus {
    PileStatus { bundle: BundleStatus { conditions: run.conditions(primary), ..BundleStatus::default() } }
}

fn print(what: &str, one: &Cost, other: &Cost, limits: [f64; 2]) {
    for (step, one, other, limit) in [
        ("first run", one.first, other.first, limits[0]),
        ("a run that changes nothing", one.nothing, other.nothing, limits[1]),
    ] {
        let ratio = one.as_secs_f64() / other.as_secs_f64();
        println!("{what}, {step}: {one:?} / {other:?} = {ratio:.2} (at most {limit})");
    }
}

fn main() -> Result<()> {
    // The first ones warm up.
    let mut lists = measured(496, of_lists(), without)?;
    let mut whole = measured(496, of_a_bundle(), of_the_bundle)?;
    let mut small = measured(96, of_a_bundle(), of_the_bundle)?;
    for _ in 0..ROUNDS {
        lists = lists.least(&measured(496, of_lists(), without)?);
        whole = whole.least(&measured(496, of_a_bundle(), of_the_bundle)?);
        small = small.least(&measured(96, of_a_bundle(), of_the_bundle)?);
    }
    print("a bundle of 496 objects against eight lists", &whole, &lists, [f64::INFINITY, 1.3]);
    let mut kept = None;
    let pile = Pile::new("one", PileSpec { count: 496 });
    let size = measure(|| kept = Some(objects(&pile))).bytes_current;
    let more = whole.held - lists.held;
    println!("it holds {more} bytes more; the objects that it keeps have {size}, and 65536 may be added");
    print("a bundle of 496 objects against one of 96", &whole, &small, [6.0, 6.0]);
    Ok(())
}
