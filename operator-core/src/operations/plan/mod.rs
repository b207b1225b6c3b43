//! Whether writes are sent, or only planned.
//!
//! ```text
//! Writer ─▶ WriteRequest ─▶ Mode::Apply ─▶ API server ─┐
//!                    └────▶ Mode::Plan ──▶ Planner ────┴─▶ answer: the object as it is stored, or a refusal
//!                                            └ `answer` (pure) makes it from the known object
//! ```
//!
//! # Guarantees
//! - In mode plan nothing is sent, whoever writes: `Writer` is the only way out.
//! - All that comes before and after is the same in both modes.

#[cfg(feature = "testing")]
mod answer;
#[cfg(feature = "testing")]
mod apply;
#[cfg(feature = "testing")]
mod lists;
#[cfg(all(test, feature = "testing"))]
mod tests;

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::StatusCode;
use kube::core::Status;

use super::send::request::WriteRequest;

#[cfg(feature = "testing")]
pub(crate) use self::{
    answer::{Answered, Moment, answer, has_generation},
    apply::made_by,
};

/// What becomes of writes.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    /// They are sent.
    Apply,
    /// They are noted, and answered as a server would answer them.
    #[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "so far, only dry runs plan"))]
    Plan(Arc<dyn Planner>),
}

/// Takes writes instead of a server.
pub(crate) trait Planner: fmt::Debug + Send + Sync {
    /// Notes a write by `manager`. Returns the code and the body of the answer, or the refusal.
    fn plan(&self, write: &WriteRequest<'_>, manager: &str) -> Result<(StatusCode, Bytes), Box<Status>>;
}
