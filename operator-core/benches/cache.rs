//! The cache: taking in a list, reading one object, and finding objects by an index while others change.

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
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{Resource, ResourceExt};
use operator_core::{
    ResourceType,
    bench::{BareInformer, InformerSettings},
    environment::Environment,
    resource::KubeObject,
};
use serde_json::{Value, json};
use server::{LIST_VERSION, Server};
use support::{actual, budget, measured};
use tokio::{runtime::Builder, time::Instant};

const LISTED: u64 = 5_000;
/// So few that they are still built when they are looked up again.
const FEW: u64 = 500;
const PER_VALUE: u64 = 50;
const INDEX: &str = "instance";

fn informer(server: &Server) -> BareInformer<Deployment> {
    let settings = InformerSettings::new("bench", ResourceType::of::<Deployment>());
    let indexer =
        |deployment: &Deployment| deployment.annotations().get(INDEX).cloned().into_iter().collect();
    let access = (server.client(), Environment::real());
    BareInformer::new(settings, None, Some((INDEX, indexer)), access, |change| {
        black_box(change);
    })
}

/// The deployment of that number, at that version; `PER_VALUE` of them share a value of the index.
fn deployment(number: u64, version: u64) -> Value {
    let mut object = actual(&format!("deployment-{number}"), 8, version);
    object["metadata"]["annotations"] = json!({ INDEX: (number / PER_VALUE).to_string() });
    object["metadata"]["uid"] = json!(format!("1f0a7c3e-55aa-4d2b-9d0e-{number:012}"));
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

/// Reads of one object of about 4 KB by user code: one that somebody holds decoded, and one that nobody has read before.
fn reads(criterion: &mut Criterion<ThreadCpu>) {
    budget(
        "a read of a cached object of 4 KB: decoded before 0.5 us; not yet, a config map 20 us, a deployment 50 us",
    );
    let deployments: Vec<Value> =
        (0..LISTED).map(|number| actual(&format!("deployment-{number}"), 64, number + 1)).collect();
    read::<Deployment>(criterion, "a deployment", &deployments);
    let value = "key=value\n".repeat(50);
    let data: Value = (0..8).map(|key| (format!("application-{key}.properties"), value.clone())).collect();
    let maps: Vec<Value> = (0..LISTED)
        .map(|number| {
            let (name, uid) = (format!("map-{number}"), format!("1f0a7c3e-55aa-4d2b-9d0e-{number:012}"));
            let version = (number + 1).to_string();
            let metadata =
                json!({ "name": name, "namespace": "shop", "resourceVersion": version, "uid": uid });
            json!({ "metadata": metadata, "data": data })
        })
        .collect();
    read::<ConfigMap>(criterion, "a config map", &maps);
}

fn read<K: KubeObject + Resource<DynamicType = ()>>(
    criterion: &mut Criterion<ThreadCpu>,
    what: &str,
    items: &[Value],
) {
    let server = Server::with(items);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let informer = runtime.block_on(async {
        let settings = InformerSettings::new("bench", ResourceType::of::<K>());
        let informer =
            BareInformer::<K>::new(settings, None, None, (server.client(), Environment::real()), |_| {});
        {
            let run = Box::pin(informer.run(future::pending()));
            future::select(run, Box::pin(informer.synced())).await;
        }
        informer
    });
    let keys = informer.keys();
    let mut group = criterion.benchmark_group("cache");
    let held = informer.get(&keys[0]).expect("it was listed");
    group.bench_function(format!("read of {what}, decoded before"), |bencher| {
        bencher.iter(|| informer.get(&keys[0]));
    });
    drop(held);
    // One after the other, so that each was read so long ago that it is kept no more.
    let mut at = 0;
    group.bench_function(format!("read of {what}, not decoded yet"), |bencher| {
        bencher.iter(|| {
            at = (at + 1) % keys.len();
            informer.get(&keys[at])
        });
    });
    group.finish();
}

fn lookup(criterion: &mut Criterion) {
    budget(
        "none of its own; a reconcile that changes nothing makes no API call, so all it costs are such lookups",
    );
    let mut group = criterion.benchmark_group("cache");
    let (built, at_rest) = ("decoded before", "at rest");
    for (of, busy, name) in [(FEW, false, built), (LISTED, false, at_rest), (LISTED, true, "under writes")] {
        let items: Vec<_> = (0..of).map(|number| deployment(number, number + 1)).collect();
        let server = Server::with(&items)
            .with_events(Arc::new(move |version| deployment((version - LIST_VERSION) * 7_919 % of, version)));
        server.busy.store(busy, Ordering::Relaxed);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let informer = runtime.block_on(async { informer(&server) });
        let following = informer.clone();
        runtime.spawn(async move { following.run(future::pending()).await });
        runtime.block_on(informer.synced());
        let (started, before) = (Instant::now(), server.events.load(Ordering::Relaxed));
        let mut value = 0;
        group.bench_function(format!("lookup of 50 by index, {name}"), |bencher| {
            bencher.iter(|| {
                value = (value + 1) % (of / PER_VALUE);
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
    targets = ingest, reads
}
// Two threads get in each other's way here, and waiting counts.
criterion_group!(of_two_threads, lookup);
criterion_main!(of_one_thread, of_two_threads);
