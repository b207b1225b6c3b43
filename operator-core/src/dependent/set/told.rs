//! What is told on the objects of a set: Events, which `kubectl describe` shows beside those on the primary.
//!
//! ```text
//!  an object is made, changed, deleted ──▶ Normal:  Created, Updated, Deleted
//!  a write of an object that is there fails ──▶ Warning: WriteError, and why
//! ```
//!
//! Nothing is told unless the controller records Events, nor if the primary's annotation `disable-events` is `true`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::engine::SetEngine;
use crate::{
    dependent::{Asked, object::Managed},
    observe::error_chain,
    reconciler::BoxError,
    resource::ObjectKey,
    results::{Operation, Secondary},
};

/// The name of the primary's annotation, without its prefix.
const DISABLE_EVENTS: &str = "disable-events";

impl SetEngine {
    /// Whether anything is told on the objects of this primary.
    fn tells(&self, asked: Asked<'_>) -> bool {
        let key = format!("{}/{DISABLE_EVENTS}", self.rules(asked).prefix);
        let says = asked.primary.meta().annotations.as_ref().and_then(|all| all.get(&key));
        asked.context.shared().events.declared && says.is_none_or(|says| says != "true")
    }

    /// Tells on an object what was done with it, or what has failed and why. Its `key` is asked for only then.
    pub(super) fn tell(
        &self,
        asked: Asked<'_>,
        managed: &Managed,
        key: impl FnOnce() -> ObjectKey,
        done: &Result<Option<(Operation, Secondary)>, BoxError>,
    ) {
        let events = |meta: &ObjectMeta| asked.context.events().on(&managed.kind, meta);
        match done {
            Ok(None | Some((Operation::Matched, _))) => {}
            _ if !self.tells(asked) => {}
            Ok(Some((operation, object))) => {
                let mut reason = operation.to_string();
                reason[..1].make_ascii_uppercase();
                let primary = asked.context.shared().primary.resource_type().kind();
                let text = format!("{operation} for {primary} {}", asked.context.primary_key());
                if let Some(meta) = object.meta() {
                    events(meta).normal(reason, text);
                }
            }
            Err(error) => {
                let own = managed.of_primary(asked).ok();
                if let Some(object) = own.and_then(|own| own.there(&key()).ok()?) {
                    events(object.meta()).warn("WriteError", error_chain(&**error));
                }
            }
        }
    }
}
