//! Whole operators under bad luck: simulated.
mod choice;
mod shrink;
pub use choice::{Choices, Tape};
