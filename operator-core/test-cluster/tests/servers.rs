//! The in-process server beside the real one. One binary, so that all of it shares two control planes:
//!
//! ```text
//!  both, definitions, listen ─▶ plain: etcd and the API server
//!  kubectl, listen::operators, steps ─▶ busy: with all controllers and a node
//! ```
//!
//! Each test has namespaces, kinds or names of its own; what is about a whole cluster is on the busy one, and is told there
//! with a lock.

mod both;
#[expect(clippy::unwrap_used, reason = "a test that can't go on fails")]
mod definitions;
mod harness;
mod kubectl;
mod listen;
#[allow(dead_code, reason = "its `main` is for a cluster")]
#[path = "../examples/plain_kube.rs"]
mod plain_kube;
mod steps;
