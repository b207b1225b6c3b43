//! What Go's standard library reads differently from Rust's: regular expressions, durations, addresses, URLs. Pure.

pub(super) mod address;
pub(super) mod duration;
pub(super) mod pattern;
pub(super) mod uri;
