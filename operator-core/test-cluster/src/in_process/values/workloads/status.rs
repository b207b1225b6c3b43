//! The counts in the status of workloads.

use serde_json::Value;

use super::STATUS;
use crate::in_process::values::{
    common::{not_negative, number},
    errors::Errors,
    read::{at, int},
};

/// Counts that must not be negative.
pub(super) fn counts(errors: &mut Errors, status: &Value, fields: &[&str]) {
    for field in fields {
        not_negative(errors, &STATUS.child(field), at(status, field));
    }
}

/// Counts that must not be greater than another one.
pub(super) fn at_most(errors: &mut Errors, status: &Value, fields: &[&str], limit: &str, detail: &str) {
    for field in fields {
        let count = number(status, field);
        if count > number(status, limit) {
            errors.invalid(&STATUS.child(field), count, detail);
        }
    }
}

/// A count of collisions only grows.
pub(super) fn collisions(errors: &mut Errors, new: &Value, old: &Value) {
    let (new, old) = (int(new, "collisionCount"), int(old, "collisionCount"));
    let smaller = match (new, old) {
        (None, Some(_)) => true,
        (Some(new), Some(old)) => new < old,
        _ => false,
    };
    if smaller {
        errors.invalid(&STATUS.child("collisionCount"), new.unwrap_or_default(), "cannot be decremented");
    }
}
