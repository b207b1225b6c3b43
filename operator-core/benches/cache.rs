//! The cache: taking in a list, and finding objects by an index while others change.

#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/server.rs"]
mod server;
mod support;

use std::{
    hint::black_box,
    sync::{Arc, atomic::Ordering},
};

use cpu::ThreadCpu;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures::future;
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use operator_core::{
    ResourceType,
    cache::{Change, ChangeHandler, Informer, InformerConfig},
    environment::Environment,
};
use server::{LIST_VERSION, Server};
use support::{actual, budget, measured};
use tokio::{runtime::Builder, time::Instant};

const LISTED: u64 = 5_000;
const PER_VALUE: u64 = 50;
const INDEX: &str = "instance";

/// Is told of changes and does nothing.
struct Nobody;

impl ChangeHandler<Deployment> for Nobody {
    fn on_change(&self, change: Change<Deployment>) {
        black_box(change);
    }
}

fn informer(server: &Server) -> Informer<Deployment> {
    let config = InformerConfig::new("bench", ResourceType::of::<Deployment>())
        .with_indexer(INDEX, |deployment: &Deployment| {
            deployment.annotations().get(INDEX).cloned().into_iter().collect()
        });
    Informer::new(config, server.client(), Environment::real(), Arc::new(Nobody))
}

/// The deployment of that number, at that version; `PER_VALUE` of them share a value of the index.
fn deployment(number: u64, version: u64) -> serde_json::Value {
    let mut object = actual(&format!("deployment-{number}"), 8, version);
    object["metadata"]["annotations"] = serde_json::json!({ INDEX: (number / PER_VALUE).to_string() });
    object
}

fn ingest(criterion: &mut Criterion<ThreadCpu>) {
    budget(
        "start to first reconcile: initial lists + at most 50 ms; so this, the cost of a list's contents, should be small",
    );
    let items: Vec<_> = (0..LISTED).map(|number| deployment(number, number + 1)).collect();
    let server = Server::with(&items);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut group = criterion.benchmark_group("cache");
    group.throughput(Throughput::Elements(LISTED)).sample_size(10);
    group.bench_function("list of 5,000 deployments, parsed, indexed and stored", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let informer = informer(&server);
                let run = Box::pin(informer.run(future::pending()));
                future::select(run, Box::pin(informer.synced())).await;
                assert_eq!(informer.sizes().store as u64, LISTED);
            });
        });
    });
    group.finish();
}

fn lookup(criterion: &mut Criterion) {
    budget(
        "none of its own; a reconcile that changes nothing makes no API call, so all it costs are such lookups",
    );
    let items: Vec<_> = (0..LISTED).map(|number| deployment(number, number + 1)).collect();
    let mut group = criterion.benchmark_group("cache");
    for busy in [false, true] {
        let server = Server::with(&items)
            .with_events(Arc::new(|version| deployment((version - LIST_VERSION) * 7_919 % LISTED, version)));
        server.busy.store(busy, Ordering::Relaxed);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let informer = runtime.block_on(async { informer(&server) });
        let following = informer.clone();
        runtime.spawn(async move { following.run(future::pending()).await });
        runtime.block_on(informer.synced());
        let (started, before) = (Instant::now(), server.events.load(Ordering::Relaxed));
        let name =
            if busy { "lookup of 50 by index, under writes" } else { "lookup of 50 by index, at rest" };
        let mut value = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                value = (value + 1) % (LISTED / PER_VALUE);
                let found = informer.by_index(INDEX, &value.to_string());
                assert_eq!(found.len() as u64, PER_VALUE);
                found
            });
        });
        let events = server.events.load(Ordering::Relaxed) - before;
        measured(&format!(
            "{:.0} changes/s were taken in beside it",
            events as f64 / started.elapsed().as_secs_f64()
        ));
        // The stream is always ready while it is busy, so that its task would never see its end.
        server.busy.store(false, Ordering::Relaxed);
        runtime.shutdown_background();
    }
    group.finish();
}

criterion_group! {
    name = of_one_thread;
    config = Criterion::default().with_measurement(ThreadCpu);
    targets = ingest
}
// Two threads get in each other's way here, and waiting counts.
criterion_group!(of_two_threads, lookup);
criterion_main!(of_one_thread, of_two_threads);
