//! What is allocated, in a binary whose allocator counts.

mod bounded;
mod machine;
#[cfg(feature = "testing")]
mod primaries;
