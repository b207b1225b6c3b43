//! What the tests of both servers share.

pub(crate) mod both;
pub(crate) mod kubectl;
pub(crate) mod masks;
pub(crate) mod planes;

/// The result of a test that may end early.
pub(crate) type Tested = Result<(), Box<dyn std::error::Error>>;
