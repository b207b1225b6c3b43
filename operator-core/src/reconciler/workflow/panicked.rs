//! A panic of user code as an error.

use std::{any::Any, error::Error, fmt};

/// A part of a workflow that panicked: the error of its node.
#[derive(Debug)]
pub(crate) struct Panicked(String);

impl Panicked {
    /// `what` is the part that panicked, `payload` the payload of the panic.
    pub(crate) fn new(what: &impl fmt::Display, payload: &(dyn Any + Send)) -> Self {
        Self(format!("the {what} panicked: {}", panic_text(payload)))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Panicked {}

/// The text of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}
