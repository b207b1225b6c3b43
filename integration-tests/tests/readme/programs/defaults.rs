use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use operator_core::{ResourceType, prelude::*};

fn operator() -> OperatorBuilder {
    Operator::builder()
        .max_concurrent_reconciles(100) // runs of all controllers together
        .use_ssa_for_dependents(true) // the default
        .default_non_ssa_resources([ResourceType::of::<ConfigMap>(), ResourceType::of::<Secret>()])
        .check_definitions_at_start(true) // .register(controller)
}
