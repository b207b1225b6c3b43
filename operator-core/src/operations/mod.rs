//! Every write to the API server.
//!
//! ```text
//! desired ──matches what we applied before?──yes──▶ no request
//!    │no
//!    ▼
//! filter window opens ─▶ apply, locked to the version we know ──409──▶ apply again, without lock and window
//!    │                                   │200
//!    ▼                                   ▼
//! answer into the cache: the next read sees it; its echo wakes nobody
//! ```
//!
//! # Guarantees
//! - A write whose echo is filtered carries the version it builds upon. So the version in its answer can't be one that
//!   somebody else has made, and filtering it can't hide anybody else's change.
//! - Each write to a primary carries its uid: a primary that was deleted doesn't come back, and one that was replaced
//!   doesn't get its predecessor's status.
//! - Managed fields are never sent.
//!
//! # Assumptions
//! - The informer that a write goes through watches the object that is written; an object outside its selectors is
//!   written without match and filter.

pub mod matcher;

mod body;
mod error;
mod primary;
mod secondary;
mod writer;

pub use error::Error;
pub(crate) use primary::{FinalizerAdded, PrimaryWriter, has_finalizer};
pub use secondary::ResourceOperations;
pub(crate) use writer::{ClientHandle, Writer};
