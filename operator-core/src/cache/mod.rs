//! The operator's view of the cluster: a list-watch loop, a store, indexes, and the operator's own writes on top.
//!
//! ```text
//! API server ──list/watch──▶ list_watch (fsm pure, shell) ──item──▶ feed ──▶ store, indexers   (of each informer)
//!                                                                              │ old and new
//!      operations ──AnyWrite──▶ overlay (pure) ◀───────────────────────────────┘
//!                                 │ unless it is the echo of an own write
//!                                 ▼
//!                             ChangeHandler
//!
//! get, list, by_index:  overlay first, then store
//! fetch:                overlay, then store, then, if a bounded store doesn't hold it, the API server
//! ```
//!
//! An informer follows one type of object. JOSDK: `InformerManager` with its `TemporaryResourceCache` and
//! `EventFilterSupport`. `SecondaryIndex` relates secondaries and primaries. JOSDK: `DefaultPrimaryToSecondaryIndex`.
//!
//! # Guarantees
//! - Changes are handed to the `ChangeHandler` in order, under one lock; a change that was seen has been handed over,
//!   unless an own write to that object is still in progress.
//! - After one of the operator's own writes was answered, [`ResourceCache::get`] never returns an older version of the
//!   object. An object whose deletion was seen doesn't come back through a late answer.
//! - The echo of the operator's own write is not handed to the handler. A foreign change always is, by itself or as
//!   part of a later one; so is every deletion, every deletion timestamp, and every change that a list found after a gap.
//! - A follower is notified of all stored objects, and from then on of each state that is stored, the operator's own
//!   writes included.
//! - An object that vanished while no watch was open is reported as deleted. One that was replaced under its name is
//!   reported as deleted, then as added.
//! - An object that can't be decoded is reported and skipped; an older version of it stays, with its new metadata if
//!   that is configured. The others are not affected. No message about it contains any of its values.
//! - Once the watch has passed it, nothing is kept about an object that is gone, nor about one that the operator has
//!   written and the selectors don't match.
//! - While a watch is broken, the memory for the operator's own writes is limited: the newest state of each written
//!   object, and ten thousand versions of a collection; the echo of an older one counts as foreign.
//! - A list that was interrupted, in pages or as a stream, counts for nothing: no object is deleted by it, and the
//!   informer is not reported as synced.
//! - A bounded informer reports the same changes in the same order as an unbounded one, though the old half of a change
//!   may be a minimal object. Its reads from the server hide no change from the handler.
//! - Trouble is reported as health: at once before the first watch is open, and from then on when it lasts about 15 s.
//! - Reads take no lock that is held while changes are handed over; a handler may read.
//!
//! # Assumptions
//! - A write made under an `AnyWrite` carries an optimistic lock on the resourceVersion of `AnyWrite::base`.
//! - A `ChangeHandler` doesn't write: it must not begin, answer or drop an `AnyWrite`, or it blocks forever.
//! - Versions of one collection are numbers that grow. If they are not, the operator's own writes are neither
//!   remembered nor filtered, and everything else works.

mod bounds;
mod change;
pub(crate) mod config;
pub(crate) mod scopes;
pub(crate) mod shard;

mod list_watch;

mod indexers;
mod secondary_index;
mod store;

mod overlay;

mod engine;
mod error;
pub(crate) mod informer;
mod resource_cache;

#[cfg(test)]
pub(crate) mod tests;
mod text;

pub use bounds::Bounds;
pub(crate) use bounds::{AnyBounds, KeySet};
pub(crate) use change::{Change, ChangeHandler, ChangeKind, Follower};
pub use config::InitialList;
pub(crate) use config::{InformerSettings, Transform};
pub(crate) use engine::AnyWrite;
pub use error::Error;
pub(crate) use indexers::{AnyIndexer, Indexer, opening};
pub(crate) use informer::{HeldObjects, Informer, InformerPlan, Unopened, WhyUnopened};
pub(crate) use list_watch::feed::{InformerPool, Selects, Share};
pub(crate) use list_watch::fetch::{Unread, WhyUnread, read_live};
pub(crate) use list_watch::{LONGEST_RETRY_AFTER, knows_shards};
pub use resource_cache::ResourceCache;
pub(crate) use scopes::{WatchScope, wrong_namespace};
pub(crate) use secondary_index::SecondaryIndex;
pub(crate) use shard::Shard;
pub(crate) use text::{
    Answer, AnyKind, Applied, TextObject, Verdict, View, kind_of, range_within, transformed_kind,
};
