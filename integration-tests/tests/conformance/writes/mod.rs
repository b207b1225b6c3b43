//! Guarantees of writes beyond the original's tests.

mod api_calls;
mod deadline;
mod dependent_creation;
mod foreign_ownership;
mod partial_apply;
mod replaced_primary;
mod terminating_namespace;
mod workflow_calls;
