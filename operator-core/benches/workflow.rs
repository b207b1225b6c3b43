//! Plans of workflows: what is decided about a thousand nodes, with answers that cost nothing.

#[path = "support/cpu.rs"]
mod cpu;
mod support;

use std::{hint::black_box, time::Duration};

use cpu::ThreadCpu;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use operator_core::bench::{Checked, Fate, Graph, Plan, Reconciled, Removed, Step, Swept};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use support::{budget, measured};

const NODES: usize = 1_000;
const LAYER: usize = 50;

/// A graph whose nodes depend on those that `dependencies` says, all of them declared before.
fn graph(mut dependencies: impl FnMut(usize) -> Vec<usize>) -> Graph {
    let name = |node: usize| format!("node-{node}");
    let declarations: Vec<_> = (0..NODES)
        .map(|node| (name(node), dependencies(node).into_iter().map(name).collect::<Vec<_>>()))
        .collect();
    Graph::new(declarations).expect("nodes depend on earlier ones")
}

fn graphs() -> [(&'static str, Graph); 3] {
    let mut random = StdRng::seed_from_u64(1);
    let layered = |node: usize| {
        let layer = node / LAYER * LAYER;
        layer.checked_sub(LAYER).map(|before| (before..layer).collect()).unwrap_or_default()
    };
    let any = |node: usize| match node {
        0 => Vec::new(),
        _ => (0..4).map(|_| random.random_range(0..node)).collect(),
    };
    [
        ("a chain", graph(|node| node.checked_sub(1).into_iter().collect())),
        ("20 layers of 50, each node on the whole layer before", graph(layered)),
        ("a random graph with four dependencies a node", graph(any)),
    ]
}

/// Asks the last step first, so that nothing has to be moved.
fn reconcile(graph: &Graph, steps: &mut Vec<Step>, check: impl Fn(usize) -> Checked) -> usize {
    let mut plan = Plan::reconcile(graph);
    plan.start(steps);
    while let Some(step) = steps.pop() {
        match step {
            Step::Check(node) => plan.checked(node, check(node.index()), steps),
            Step::Judge(node) => plan.judged(node, check(node.index()), steps),
            Step::Reconcile(node) => plan.reconciled(node, Reconciled::Ready, steps),
            Step::Sweep(node) => plan.swept(node, Swept::Done, steps),
            Step::Delete(node) => plan.removed(node, Removed::Gone, steps),
        }
        plan.remove(&[], steps);
    }
    assert!(plan.is_finished());
    plan.fates().filter(|(_, fate)| *fate == Fate::Ready).count()
}

fn cleanup(graph: &Graph, steps: &mut Vec<Step>) -> usize {
    let mut plan = Plan::cleanup(graph);
    plan.start(steps);
    plan.remove(&[], steps);
    while let Some(step) = steps.pop() {
        plan.removed(step.node(), Removed::Gone, steps);
    }
    assert!(plan.is_finished());
    plan.fates().filter(|(_, fate)| *fate == Fate::Gone).count()
}

fn plans(criterion: &mut Criterion<ThreadCpu>) {
    budget(
        "workflow of 1,000 nodes, plan + run with no-op dependents: at most 1 ms; this is the plan's part",
    );
    let mut group = criterion.benchmark_group("workflow");
    group.throughput(Throughput::Elements(NODES as u64)).measurement_time(Duration::from_secs(3));
    let mut steps = Vec::new();
    for (name, graph) in graphs() {
        let edges: usize = graph.nodes().map(|node| graph.dependencies_of(node).count()).sum();
        measured(&format!("{name}: {edges} dependencies, {} deep", graph.depth()));
        group.bench_function(format!("reconcile {name}"), |bencher| {
            bencher.iter(|| assert_eq!(reconcile(&graph, &mut steps, |_| Checked::Run), NODES));
        });
        group.bench_function(format!("remove {name}"), |bencher| {
            bencher.iter(|| assert_eq!(reconcile(&graph, &mut steps, |_| Checked::Remove), 0));
        });
        group.bench_function(format!("hold {name}"), |bencher| {
            bencher.iter(|| black_box(reconcile(&graph, &mut steps, |_| Checked::Hold)));
        });
        group.bench_function(format!("clean up {name}"), |bencher| {
            bencher.iter(|| assert_eq!(cleanup(&graph, &mut steps), NODES));
        });
    }
    group.finish();
}

fn building(criterion: &mut Criterion<ThreadCpu>) {
    budget("none of its own: a graph is built once for a controller, not for each run");
    let mut group = criterion.benchmark_group("workflow");
    group.throughput(Throughput::Elements(NODES as u64)).measurement_time(Duration::from_secs(3));
    group.bench_function("build a chain, names included", |bencher| {
        bencher.iter(|| graph(|node| node.checked_sub(1).into_iter().collect()));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadCpu);
    targets = plans, building
}
criterion_main!(benches);
