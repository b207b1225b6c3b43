//! Sources outside the cluster: another system's resources, polled or pushed, and cached by the primaries that they belong
//! to.
//!
//! ```text
//! other system ◀──fetch── PollingEventSource              one fetch for all primaries, in each period
//!              ◀──fetch── PerResourcePollingEventSource   one for each primary, each with its own timer
//!              ──push───▶ CachingInboundEventSource       and one fetch for each primary, when it is first needed
//!                            │ full set
//!                            ▼
//!                         cache (pure) ──changed, and accepted by the filters──▶ SourceEvents ──▶ run of the primary
//!                            ▲                                                                      │ reads
//!                            └── ExternalStore: created, updated, deleted, fetch_now ◀──────────────┘
//!
//! other system ──wake───▶ SimpleInboundEventSource        nothing is kept, the primary is only triggered
//! ```
//!
//! # Guarantees
//! - A fetch that fails, hangs or panics changes nothing that is known, and stops neither its source nor another.
//! - At most one fetch at a time is in progress for the same resources; an answer that was overtaken by a push, or by
//!   the deletion of its primary, is discarded.
//! - The known resources belong to one start of the controller. Handles outlive it: they can be used before, during and
//!   after.
//! - The sources that fetch for each primary keep nothing about one that is gone. Resources of one fetch for all are kept
//!   as long as the fetch returns them.
//!
//! # Assumptions
//! - Fetch functions can be dropped at any await. They are only called while the controller runs.
//! - Ids are unique among the resources of one primary; of two resources with the same id the last one counts.

mod cache;
mod fetch;
mod inbound;
mod inbound_handle;
mod per_primary;
mod polling;
mod polling_run;
mod resource_polling;
mod schedule;
mod simple;
mod store;
#[cfg(test)]
mod tests;
mod unconfirmed;

pub(crate) use fetch::DEFAULT_FETCH_TIMEOUT;
pub use inbound::CachingInboundEventSource;
pub use inbound_handle::InboundHandle;
#[doc(hidden)]
pub use per_primary::PerPrimaryEventSource;
pub use polling::PollingEventSource;
pub use resource_polling::PerResourcePollingEventSource;
pub use simple::{SimpleInboundEventSource, SimpleInboundHandle};
pub(crate) use store::ExternalSource;
pub use store::{ExternalResource, ExternalStore};
