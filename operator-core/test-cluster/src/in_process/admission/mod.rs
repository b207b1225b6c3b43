//! Admission: what the server adds to objects that are created, and what it refuses although it is valid.
//!
//! ```text
//!  new object ─▶ mutate: limits' defaults, account, priority, tolerations, default classes
//!                   │                                     changed object
//!                   ▼ (the values are checked)                  ▼ (the values are checked)
//!                validate: limits, sizes of claims, quotas ─▶ 403
//!                   │
//!                   ▼
//!                quotas: used ─▶ stored
//! ```
//!
//! # Guarantees
//! - What is added here has no field manager, as on the real server.
//!
//! # Assumptions
//! - The plugin `ServiceAccount` is off unless it is asked for, as it is in [`ControlPlane`](crate::ControlPlane): it
//!   refuses pods until their account exists.

mod accounts;
mod amount;
mod classes;
mod limits;
mod pods;
mod quota;
mod total;

pub(super) use quota::sync_quotas;

use serde_json::Value;

use super::{
    api::{ApiServer, Counters},
    failure::Failure,
    fields::Endpoint,
    kinds::Kind,
    store::{Path, Store},
};

/// The namespaces that can't be deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];

/// What of admission can be turned on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Admission {
    /// Whether new pods get an account and its token.
    service_accounts: bool,
}

impl Admission {
    /// Adds to a new object what the server decides, before its values are checked.
    pub(super) fn admit(
        &self,
        store: &Store,
        counters: &mut Counters,
        kind: &Kind,
        path: &Path,
        object: &mut Value,
    ) -> Result<(), Failure> {
        let refused = |why: String| Failure::forbidden(kind, path.name(), &why);
        match (kind.group.as_str(), kind.kind.as_str()) {
            ("", "Pod") => {
                limits::default_limits(store, path, object);
                self.give_account(store, counters, path, object).map_err(refused)?;
                pods::prioritize(store, object).map_err(refused)?;
                pods::check_overhead(object).map_err(refused)?;
                pods::tolerate(object);
            }
            ("", "PersistentVolumeClaim") => classes::default_storage_class(store, object),
            ("networking.k8s.io", "Ingress") => classes::default_ingress_class(store, object),
            _ => {}
        }
        Ok(())
    }
}

/// Adds to a changed object what the server decides, before its values are checked.
pub(super) fn add_to_change(kind: &Kind, endpoint: Endpoint, object: &mut Value) {
    if kind.group.is_empty() && kind.kind == "Pod" && endpoint == Endpoint::Main {
        pods::tolerate(object);
    }
}

/// Refuses a new object that is valid, but more than is allowed.
pub(super) fn admit_values(
    api: &mut ApiServer,
    kind: &Kind,
    path: &Path,
    object: &Value,
    dry_run: bool,
) -> Result<(), Failure> {
    let refused = |why: String| Failure::forbidden(kind, path.name(), &why);
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Pod" | "PersistentVolumeClaim") => {
            limits::within_limits(&api.store, kind, path, object).map_err(refused)?;
        }
        ("scheduling.k8s.io", "PriorityClass") => {
            pods::one_default_priority(&api.store, path, object).map_err(refused)?
        }
        _ => {}
    }
    charge(api, kind, path, object, None, dry_run)
}

/// Refuses a change that is valid, but more than is allowed.
pub(super) fn admit_change(
    api: &mut ApiServer,
    kind: &Kind,
    path: &Path,
    (old, object): (&Value, &Value),
    endpoint: Endpoint,
    dry_run: bool,
) -> Result<(), Failure> {
    let refused = |why: String| Failure::forbidden(kind, path.name(), &why);
    match (kind.group.as_str(), kind.kind.as_str(), endpoint) {
        ("", "PersistentVolumeClaim", Endpoint::Main) => {
            if old["metadata"]["deletionTimestamp"].is_null() {
                limits::within_limits(&api.store, kind, path, object).map_err(refused)?;
            }
            classes::may_grow(&api.store, old, object).map_err(refused)?;
        }
        ("scheduling.k8s.io", "PriorityClass", _) => {
            pods::one_default_priority(&api.store, path, object).map_err(refused)?
        }
        _ => {}
    }
    charge(api, kind, path, object, Some((old, endpoint)), dry_run)
}

/// Counts a write in the quotas of its namespace, or refuses it. `old` is what is changed, and where.
fn charge(
    api: &mut ApiServer,
    kind: &Kind,
    path: &Path,
    object: &Value,
    old: Option<(&Value, Endpoint)>,
    dry_run: bool,
) -> Result<(), Failure> {
    let used = quota::within_quotas(&api.store, api.now, kind, path, object, old);
    let used = used.map_err(|why| Failure::forbidden(kind, path.name(), &why))?;
    if !dry_run {
        quota::use_quotas(api, used);
    }
    Ok(())
}

/// Refuses the deletion of what every cluster needs.
pub(super) fn admit_deletion(kind: &Kind, path: &Path) -> Result<(), Failure> {
    if kind.is_namespace() && IMMORTAL.contains(&path.name()) {
        return Err(Failure::forbidden(kind, path.name(), "this namespace may not be deleted"));
    }
    Ok(())
}
