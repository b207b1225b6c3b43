//! The integration tests of the Java Operator SDK, matched one to one, on a real kube-apiserver.
//!
//! One file for each row of the conformance list; the file says in its first lines what the row asserts.

mod base_api;
mod writes;
