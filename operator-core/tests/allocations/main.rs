//! What is allocated, in a binary whose allocator counts.

mod machine;
#[cfg(feature = "testing")]
mod primaries;
