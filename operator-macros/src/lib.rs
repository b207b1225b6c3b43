//! Derive macros of `operator-core`, which re-exports them.
//!
//! There is no macro yet: controllers are declared with `operator_core::Controller::builder`, and whatever a macro
//! will generate later can be written with it by hand. The crate exists so that the library's dependency on it, and
//! the users' dependency line, stay the same when the derives arrive.
