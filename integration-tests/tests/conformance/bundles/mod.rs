//! A function that returns objects of several kinds: they are one node, applied in an order, watched, pruned and removed.

mod book;
mod jobs;
mod kinds;
mod life;
mod many;
mod policies;
mod stages;
mod status;
mod trouble;
mod upgrade;

use integration_tests::prelude::*;
use k8s_openapi::{api::core::v1::Service, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use operator_core::{Objects, testing::Settled};

/// A config map or a secret for each word, by its first letter, and a service account of which nobody knows a status.
fn addon(primary: &TestResource) -> Objects {
    objects_of(&primary.spec.value)
}

fn objects_of(words: &str) -> Objects {
    let mut objects = Objects::new();
    for word in words.split_whitespace() {
        let mut metadata = named(word);
        metadata.annotations = Some([("length".to_owned(), word.len().to_string())].into());
        match word.as_bytes()[0] {
            b'c' => objects.push(ConfigMap { metadata, ..ConfigMap::default() }),
            b's' => objects.push(Secret { metadata, ..Secret::default() }),
            _ => {
                let spec = from_json(&json!({ "ports": [{ "port": 80 }] })).ok();
                objects.push(Service { metadata, spec, ..Service::default() })
            }
        };
    }
    objects
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

/// The writes, in an order of their own. The end of one object may trigger its primary before the watch has delivered another's
/// end, which is then deleted again, in vain.
fn done(settled: &Settled) -> Vec<String> {
    let in_vain = |line: &String| line.starts_with("DELETE") && line.ends_with("-> 404");
    let mut written: Vec<_> = settled.written().into_iter().filter(|line| !in_vain(line)).collect();
    written.sort_unstable();
    written
}
