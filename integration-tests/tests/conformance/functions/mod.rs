//! Dependents that are functions, wired without names.

mod asynchronous;
mod bulk;
mod calls;
mod conditions;
mod definitions;
mod derived;
mod ending;
mod failing;
mod invoked;
mod jobs;
mod kinds;
mod names;
mod only_if;
mod order;
mod own;
mod reads;
mod standing;
mod state;
mod unwanted;

use integration_tests::prelude::*;
use operator_core::testing::Settled;

/// Whether the value of the primary has this word.
fn says(primary: &TestResource, word: &str) -> bool {
    primary.spec.value.split(' ').any(|said| said == word)
}

/// A config map with the value of the primary; its node names it.
fn a_map(primary: &TestResource) -> ConfigMap {
    let data = BTreeMap::from([("value".to_owned(), primary.spec.value.clone())]);
    ConfigMap { data: Some(data), ..ConfigMap::default() }
}

/// A secret whose content is always the same.
fn a_secret() -> Secret {
    let data = BTreeMap::from([("token".to_owned(), "t".to_owned())]);
    Secret { string_data: Some(data), ..Secret::default() }
}

/// The writes. The end of one object may trigger its primary before the watch has delivered another's end, which is
/// then deleted again: that has no effect, and isn't listed.
fn done(settled: &Settled) -> Vec<String> {
    let in_vain = |write: &String| {
        write.starts_with("DELETE") && (write.ends_with("-> 404") || write.ends_with("-> 409"))
    };
    settled.written().into_iter().filter(|write| !in_vain(write)).collect()
}
