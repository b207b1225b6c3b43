//! Resources that depend on one another: what is done about each of them, in which order.
//!
//! JOSDK: `Workflow`.

pub mod graph;

mod error;

pub use error::{Error, Mistake};
pub use graph::{Graph, NodeId};
