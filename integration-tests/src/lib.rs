//! Fixtures shared by the conformance tests: a test resource, a scene to play in, a record of runs.
//!
//! Each test has a namespace of its own, and a custom resource in an API group of its own, so that all of them run at the
//! same time on one control plane. Tests wait on conditions, with [`eventually`] or with the operator's `settled()`.

mod record;
mod scene;
mod test_resource;

pub use record::RunRecord;
pub use scene::{DEADLINE, Scene, eventually};
pub use test_resource::{TestObject, TestStatus};
