//! Behaviour for which the Java Operator SDK has no test, and tests of its version 5.6 that aren't in a list yet.

mod all_events;
mod changes;
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
mod groups;
mod growth;
mod http;
mod immutable;
mod informer_pool;
mod observability;
mod panic_in_reconcile;
mod paused;
mod permanent;
mod primary_gone_during_a_run;
mod records;
mod recreated_primary;
mod seen;
mod starts;
mod status;
mod telling;
mod test_namespaces;
mod transitions;
mod unanswered_create;
mod untouched;
mod waiting;
mod without_namespace;

use integration_tests::prelude::*;
use kube::{
    Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, TypeMeta},
    discovery::{ApiCapabilities, pinned_kind},
};

/// The kind of an object, if the server has it. Only the object's own group is asked for: tests beside this one remove theirs.
async fn served(client: &Client, types: &TypeMeta) -> Result<Option<(ApiResource, ApiCapabilities)>> {
    match pinned_kind(client, &GroupVersionKind::try_from(types)?).await {
        Ok(found) => Ok(Some(found)),
        Err(kube::Error::Discovery(_)) => Ok(None),
        // The server inside the process says of a group that it doesn't have that it is not implemented.
        Err(kube::Error::Api(refusal)) if matches!(refusal.code, 404 | 501) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("ask for the kind {}", types.kind)),
    }
}

/// An object as it is written in a list of many; its node gives it a name.
fn listed(mut object: Value) -> Result<DynamicObject> {
    if object["metadata"].is_null() {
        object["metadata"] = json!({});
    }
    Ok(serde_json::from_value(object)?)
}
