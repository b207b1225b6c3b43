//! The one type for errors of others.

use std::error::Error as StdError;

/// Any error, as the library keeps the user's.
pub type BoxError = Box<dyn StdError + Send + Sync>;
