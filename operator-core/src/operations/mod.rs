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
//! `live` and `first_live` are the only reads. They bypass the caches: `live` if an answer, or none, leaves open what exists now,
//! and before an object that has lost its owner gets it back; `first_live` before objects go that may be other people's.
//!
//! `events` writes Events of Kubernetes beside all this, through the same `Writer`.
//!
//! # Guarantees
//! - A write whose watch event is filtered carries the version it builds on. So the version in its answer can't be one
//!   that someone else has made, and filtering it can't hide anyone else's change.
//! - Each write to a primary carries its uid: a primary that was deleted doesn't come back, and one that was replaced
//!   doesn't get its predecessor's status.
//! - User code takes back nothing of what the framework writes on a primary: its annotations, finalizer and ids.
//! - Managed fields are never sent, except for our own entries after a patch has restored what an apply couldn't.
//! - No value of a Secret gets into an error, even if a server's message repeats it.
//!
//! # Assumptions
//! - The informer that a write goes through watches the object that is written; an object outside its selectors is
//!   written without match and filter.

mod dependent;
mod error;
mod events;
pub(crate) mod matcher;
mod mend;
mod primary;
mod resource;
mod send;
mod undeclared;

#[cfg(feature = "testing")]
pub(crate) use dependent::note_digest;
pub(crate) use dependent::{DependentWriter, Removed};
pub use error::Error;
pub(crate) use error::{is_servers, says_misfit};
pub use events::Events;
pub(crate) use events::{About, Receiver, Recorder, access as access_to_events};
pub(crate) use kube::api::PropagationPolicy;
pub(crate) use matcher::{Desired, Seen};
pub(crate) use mend::PutBack;
pub(crate) use primary::{FinalizerAdded, PrimaryWriter, at, has_finalizer, has_set_finalizer, put_at};
pub use resource::{Applied, ResourceOperations};
pub use send::intent::WriteMode;
pub(crate) use send::{
    first_live, live,
    request::{Findings, Writer, WritingRun, records_manager},
};
pub(crate) use undeclared::TRIED_AGAIN_AFTER;
