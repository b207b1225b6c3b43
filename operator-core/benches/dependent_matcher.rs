//! The matchers of dependents, on objects of three sizes: as they are, and with one difference.

#[path = "support/cpu.rs"]
mod cpu;
mod support;

use std::hint::black_box;

use cpu::ThreadCpu;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use operator_core::{
    bench::{merged, still_owned},
    dependent::matcher::{GenericMatcher, Match},
};
use serde_json::{Value, json};
use support::{MANAGER, actual, budget, desired};

/// The number of variables that makes the actual object, without its managed fields, at least so many bytes of JSON.
fn variables_for(bytes: usize) -> usize {
    let size = |variables| {
        let mut object = actual("web", variables, 1);
        object["metadata"].as_object_mut().expect("metadata is an object").remove("managedFields");
        object.to_string().len()
    };
    (0..).find(|variables| size(*variables) >= bytes).expect("each variable makes it bigger")
}

/// A desired object that the server spells differently: each match goes through the sanitizers.
fn respelled(desired: &Value) -> Value {
    let mut desired = desired.clone();
    let container = &mut desired["spec"]["template"]["spec"]["containers"][0];
    container["resources"]["limits"]["cpu"] = json!("0.5");
    desired
}

fn different(desired: &Value) -> Value {
    let mut desired = desired.clone();
    desired["spec"]["template"]["spec"]["containers"][0]["image"] =
        json!("registry.example.com/shop/web:1.2.4");
    desired
}

fn matching(criterion: &mut Criterion<ThreadCpu>) {
    budget("an object of 4 KB that matches: at most 10 µs on parsed values");
    let mut group = criterion.benchmark_group("dependent_matcher");
    for kilobytes in [1, 4, 32] {
        let variables = variables_for(kilobytes * 1024);
        let (wanted, actual) = (desired("web", variables), actual("web", variables, 1));
        let managed: Vec<ManagedFieldsEntry> =
            serde_json::from_value(actual["metadata"]["managedFields"].clone())
                .expect("the bench writes managed fields as the server does");
        let generic = GenericMatcher::new();
        for (name, desired, is_equal) in [
            ("equal", wanted.clone(), true),
            ("respelled", respelled(&wanted), true),
            ("different", different(&wanted), false),
        ] {
            assert_eq!(generic.matches(&desired, &actual).is_equal(), is_equal, "{name}");
            let size = format!("{kilobytes} KB");
            group.bench_function(BenchmarkId::new(format!("generic, {name}"), &size), |bencher| {
                bencher.iter(|| black_box(generic.matches(&desired, &actual)));
            });
        }

        let owned = || still_owned(&wanted, &managed, MANAGER);
        assert_eq!(owned(), Match::Equal, "the bench measures the usual answer");
        group.bench_function(BenchmarkId::new("owned", format!("{kilobytes} KB")), |bencher| {
            bencher.iter(|| black_box(owned()));
        });
        group.bench_function(BenchmarkId::new("merged", format!("{kilobytes} KB")), |bencher| {
            bencher.iter(|| black_box(merged(&actual, &wanted)));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadCpu);
    targets = matching
}
criterion_main!(benches);
