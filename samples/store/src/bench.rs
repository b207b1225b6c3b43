//! The parts of `dev` besides the operator: its account and role, an example, and commands to try.

use operator_core::cli::dev::Workbench;

/// The account and the role that the operator runs with.
pub const RBAC: &str = include_str!("../deploy/rbac.yaml");

/// The workbench of `store dev`.
pub fn workbench() -> Workbench {
    Workbench::new()
        .manifests(RBAC)
        .example(include_str!("../examples/sessions.yaml"))
        .hint("scale store sessions --replicas=2")
        .hint("describe store sessions")
        .hint("delete store sessions")
}
