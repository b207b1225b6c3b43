//! Every write to the API server.
//!
//! ```text
//! ResourceOperations  user code's writes        ┐     ┌ Intent     what is to be written
//! DependentWriter     a dependent's, removals   ├────▶│ Target     where: the object, and the source that learns
//! PrimaryWriter       finalizer, object, status ┘     │            the answer
//!                                                     └ WriteMode  how: matched, locked, filtered
//!                                                        │
//!                                                        ▼
//! known state as desired? ──yes──▶ no request      Target::write, one for all
//!    │no
//!    ▼
//! filter window opens ─▶ WriteRequest, locked to a version ─▶ Writer
//!    │                      │ conflict: a secondary is written again, without lock and window; a primary again,
//!    │                      └ locked to the live version
//!    ▼
//! answer into the cache: the next read sees it; its echo triggers nothing
//! ```
//!
//! `live` is the only read: it bypasses the caches if an answer, or none, leaves open what exists now, and before an
//! object that has lost its owner gets it back (`owning`).
//!
//! `events` writes Events of Kubernetes beside all this, through the same `Writer`.
//!
//! # Guarantees
//! - A write whose watch event is filtered carries the version it builds on. So the version in its answer can't be one
//!   that someone else has made, and filtering it can't hide anyone else's change.
//! - Each write to a primary carries its uid: a primary that was deleted doesn't come back, and one that was replaced
//!   doesn't get its predecessor's status.
//! - Managed fields are never sent, except for our own entries: after a patch has restored what an apply couldn't, and
//!   if a retired field manager of ours has applied something.
//! - No value of a Secret gets into an error, even if a server's message repeats it.
//!
//! # Assumptions
//! - The informer that a write goes through watches the object that is written; an object outside its selectors is
//!   written without match and filter.

pub(crate) mod matcher;

mod annotation;
mod dependent;
mod error;
mod events;
mod findings;
mod mend;
mod own_status;
mod primary;
mod resource;
mod send;

pub(crate) use self::mend::put_back::PutBack;
pub(crate) use self::mend::removal::Removed;
pub(crate) use self::mend::retired::Inheritance;
pub use self::send::applied::Applied;
pub(crate) use self::send::live::live;
pub use self::send::mode::WriteMode;
pub(crate) use self::send::request::Writer;
pub(crate) use self::send::target::WritingRun;
pub(crate) use dependent::DependentWriter;
pub use error::Error;
pub(crate) use error::is_servers;
pub use events::Events;
pub(crate) use events::{About, Recorder, access as access_to_events};
pub(crate) use findings::Findings;
pub(crate) use matcher::Look;
pub(crate) use matcher::seen::{Desired, Seen};
pub(crate) use own_status::{at, put_at};
pub(crate) use primary::{FinalizerAdded, PrimaryWriter, has_finalizer};
pub use resource::ResourceOperations;
