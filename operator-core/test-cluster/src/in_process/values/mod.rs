//! The values of Kubernetes' own kinds: what an object may be, and what of it may change, in the real server's words.
//!
//! ```text
//!  defaults, what an endpoint doesn't write ─▶ metadata ─▶ here: the kind's checks ─▶ admission that only looks ─▶ store
//! ```
//!
//! An object comes here after it has been read: each field has its type, absent fields have their defaults. So checks
//! ask what is inside of the types only. They run at each write and must be cheap: a path is written only for errors.
//!
//! # Guarantees
//! - The causes of a refusal are those of the real server, in its order.

mod addresses;
mod claim;
mod common;
mod conditions;
mod errors;
mod internal;
pub(super) mod metadata;
pub(super) mod names;
mod path;
mod paths;
mod quantity;
pub(super) mod read;
mod resources;
pub(super) mod warnings;
pub(super) mod workloads;

use serde_json::Value;

use self::errors::Errors;
pub(super) use self::errors::{json, quoted};
pub(super) use self::quantity::amount;
pub(super) use self::resources::{
    allocated as wrong_address, initial as addresses_of_new, needs_health_port,
};
use super::{failure::Cause, fields::Endpoint, kinds::Kind};

/// A check of a new object.
type OfNew = fn(&Value, &mut Errors);
/// A check of a changed object: the new one and the live one.
type OfChanged = fn(&Value, &Value, &mut Errors);

/// What is checked of one kind. The errors are added in the order of the real server.
#[derive(Clone, Copy, Debug)]
struct Checks {
    /// A new object.
    create: OfNew,
    /// A changed object: the new one and the live one. It asks of the new one what its creation asks, if that is so on the
    /// real server.
    update: OfChanged,
    /// A changed status: the new object, which has nothing else that is new, and the live one.
    status: OfChanged,
}

/// For kinds whose status may be anything.
fn anything(_new: &Value, _old: &Value, _errors: &mut Errors) {}

/// What is wrong with a new object.
pub(super) fn of_new(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut errors = Errors::default();
    if let Some(checks) = checks_of(kind) {
        (checks.create)(object, &mut errors);
    }
    errors.into_causes()
}

/// What is wrong with a changed object, or a changed status.
pub(super) fn of_changed(kind: &Kind, endpoint: Endpoint, new: &Value, live: &Value) -> Vec<Cause> {
    let mut errors = Errors::default();
    if let Some(checks) = checks_of(kind) {
        match endpoint {
            Endpoint::Main | Endpoint::Other(_) => (checks.update)(new, live, &mut errors),
            Endpoint::Status => (checks.status)(new, live, &mut errors),
        }
    }
    errors.into_causes()
}

fn checks_of(kind: &Kind) -> Option<Checks> {
    let (group, name) = (kind.group.as_str(), kind.kind.as_str());
    if kind.is_custom() {
        return None;
    }
    workloads::checks(group, name).or_else(|| resources::checks(group, name))
}
