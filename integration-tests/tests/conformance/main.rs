//! The integration tests of the Java Operator SDK, matched one to one, on a real kube-apiserver.
//!
//! One file for each row of the conformance list, in the folder of its category; the file's first lines say what the
//! row asserts. The folder `beyond` has tests that aren't in any list.

mod base_api;
mod beyond;
mod bundles;
mod cache;
mod components;
mod dependent;
mod failures;
mod functions;
mod workflow;
mod writes;
