//! Runs of workflows: plan, conditions, calls of dependents that do nothing, and the result of each node.

#[path = "support/cpu.rs"]
mod cpu;
mod support;

use std::{sync::Arc, time::Duration};

use cpu::ThreadCpu;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use k8s_openapi::api::core::v1::ConfigMap;
use operator_core::{
    Workflow,
    testing::{idle_node, offline_context},
};
use support::budget;

const NODES: usize = 1_000;
const LAYER: usize = 50;

/// A workflow whose nodes depend on those that `dependencies` says.
fn workflow(dependencies: impl Fn(usize) -> Vec<usize>) -> Workflow<ConfigMap> {
    let node = |node: usize| idle_node::<ConfigMap>(&format!("node-{node}"));
    let builder = (0..NODES).fold(Workflow::builder(), |builder, at| {
        let wired = dependencies(at).into_iter().fold(node(at), |wired, on| wired.after(&node(on)));
        builder.nodes((wired,))
    });
    builder.build().expect("nodes depend on earlier ones")
}

fn runs(criterion: &mut Criterion<ThreadCpu>) {
    budget("workflow of 1,000 nodes, plan + run with no-op dependents: at most 1 ms");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let _entered = runtime.enter();
    let mut primary = ConfigMap::default();
    (primary.metadata.name, primary.metadata.namespace) = (Some("one".into()), Some("shop".into()));
    let context = offline_context(&primary);
    let primary = Arc::new(primary);
    let layered = |node: usize| {
        let layer = node / LAYER * LAYER;
        layer.checked_sub(LAYER).map(|before| (before..layer).collect()).unwrap_or_default()
    };
    let all = [
        ("independent nodes", workflow(|_| Vec::new())),
        ("a chain", workflow(|node| node.checked_sub(1).into_iter().collect())),
        ("20 layers of 50, each node on the whole layer before", workflow(layered)),
    ];
    let mut group = criterion.benchmark_group("workflow run");
    group.throughput(Throughput::Elements(NODES as u64)).measurement_time(Duration::from_secs(3));
    for (name, workflow) in &all {
        group.bench_function(*name, |bencher| {
            bencher.iter(|| {
                let result = runtime.block_on(workflow.reconcile(&primary, &context));
                assert!(result.all_ready());
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadCpu);
    targets = runs
}
criterion_main!(benches);
