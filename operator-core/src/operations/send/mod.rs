//! How a write leaves the operator: what is written, where, how, and the one way out.
//!
//! ```text
//! Intent  what ───┐
//! Target  where ──┼─▶ Target::write ──▶ WriteRequest ──▶ Writer::send ──▶ answer ──▶ cache
//! WriteMode  how ─┘    (one algorithm)   (body, lock)     (the only one)
//! ```

pub(super) mod applied;
pub(super) mod body;
pub(super) mod intent;
pub(super) mod live;
pub(super) mod merge;
pub(super) mod mode;
pub(super) mod request;
pub(super) mod target;
pub(super) mod text;
pub(super) mod write;

mod locked;
