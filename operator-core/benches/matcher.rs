//! The matcher, on objects of three sizes that match.

#[path = "support/cpu.rs"]
mod cpu;
mod support;

use std::hint::black_box;

use cpu::ThreadCpu;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry};
use operator_core::{bench::matches_owned_fields, dependent::matcher::Match};
use serde_json::Value;
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

fn matching(criterion: &mut Criterion<ThreadCpu>) {
    budget("an object of 4 KB that matches, on parsed values: at most 10 µs");
    let mut group = criterion.benchmark_group("matcher");
    for kilobytes in [1, 4, 32] {
        let variables = variables_for(kilobytes * 1024);
        let (desired, mut actual) = (desired("web", variables), actual("web", variables, 1));
        let managed = actual["metadata"]["managedFields"].take();
        let managed: Vec<ManagedFieldsEntry> =
            serde_json::from_value(managed).expect("the bench writes managed fields as the server does");
        let matches = || matches_owned_fields(&desired, &actual, &managed, MANAGER, None);
        assert_eq!(matches(), Match::Equal, "the bench measures the usual answer");
        let id = BenchmarkId::from_parameter(format!("{kilobytes} KB"));
        group.bench_function(id, |bencher| bencher.iter(|| black_box(matches())));
        // As the cache holds them: the first entry, which is the manager's own, with its fields as text.
        let as_text = |entry: &ManagedFieldsEntry| ManagedFieldsEntry {
            fields_v1: entry.fields_v1.as_ref().map(|fields| FieldsV1(Value::String(fields.0.to_string()))),
            ..entry.clone()
        };
        let cached: Vec<_> = managed.first().map(as_text).into_iter().collect();
        let matches = || matches_owned_fields(&desired, &actual, &cached, MANAGER, None);
        assert_eq!(matches(), Match::Equal, "the form makes no difference");
        let id = BenchmarkId::from_parameter(format!("{kilobytes} KB, owned fields as the cache holds them"));
        group.bench_function(id, |bencher| bencher.iter(|| black_box(matches())));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadCpu);
    targets = matching
}
criterion_main!(benches);
