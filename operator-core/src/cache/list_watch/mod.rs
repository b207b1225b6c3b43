//! Follows one collection: a list, page by page, then a watch from the list's version on, forever.
//!
//! ```text
//!            page                     last page            opened
//!   Empty ───────────▶ Listing ─────────────────▶ Listed ─────────▶ Watching
//!     ▲  ▲                │ 410: list again         ▲   ended, silent │
//!     │  └────────────────┘                         └─────────────────┤
//!     └────────────────── 410: the version is too old ────────────────┘
//!   any failure: wait (800 ms … 30 s), then the same request again
//!
//!            opened               all were shown
//!   Empty ───────────▶ Streaming ────────────────▶ Watching         with streaming lists
//!     ▲                    │ ended, failed: the next list comes in pages
//!     └────────────────────┘
//! ```
//!
//! [`fsm`] decides (pure), [`shell`] makes the requests and reads the lines, [`decode`] parses them, [`request`] builds
//! the requests. The states are those of kube's `watcher`, which hides the versions of lists and the bookmarks that the
//! overlay needs, and fails a whole list on one item.
//!
//! # Trouble
//! [`backoff`] decides how long to wait, [`health`] when it is reported. The known objects stay readable in the
//! meantime, and a list that isn't complete deletes nothing, whether it comes in pages or as a stream.

mod backoff;
pub(super) mod decode;
pub(super) mod failure;
mod fsm;
mod health;
pub(super) mod request;
mod sharded;
mod shell;
mod unreadable;

pub(in crate::cache) mod barrier;
#[cfg(test)]
mod decode_tests;
pub(in crate::cache) mod feed;
pub(in crate::cache) mod fetch;
#[cfg(test)]
mod fsm_tests;

pub(crate) use backoff::LONGEST_RETRY_AFTER;
pub(super) use decode::Identity;
pub(super) use request::Collection;
pub(crate) use sharded::knows_shards;
pub(super) use shell::{Progress, fetch, follow, words};
pub(super) use unreadable::PANICKED;
pub(crate) use unreadable::words as unreadable_words;
