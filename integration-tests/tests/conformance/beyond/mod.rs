//! Behaviour for which the Java Operator SDK has no test, and tests of its version 5.6 that aren't in a list yet.

mod all_events;
mod cleaner_keeps_finalizer;
mod crd_installed_while_waiting;
mod crd_missing_at_start;
mod defaults;
mod definitions_checked;
mod deserialisation_problem;
mod detect_api_version_change;
mod event_recorder;
mod external_sources;
mod external_state_in_status;
mod fixed_point;
mod forbidden_secondary;
mod growth;
mod http;
mod immutable;
mod informer_pool;
mod observability;
mod panic_in_reconcile;
mod permanent;
mod primary_gone_during_a_run;
mod records;
mod recreated_primary;
mod status;
mod test_namespaces;
mod unanswered_create;
mod untouched;

use integration_tests::prelude::*;
use kube::api::DynamicObject;

/// An object as it is written in a list of many; its node gives it a name.
fn listed(mut object: Value) -> Result<DynamicObject> {
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    Ok(serde_json::from_value(object)?)
}
