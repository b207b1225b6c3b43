//! The conditions that come with the library.

pub(in crate::workflow) mod activation;
pub(in crate::workflow) mod condition;
mod deleted;
mod ready;
pub(crate) mod served;

pub use deleted::ResourceDeleted;
pub(super) use deleted::is_deleted;
pub(super) use ready::Ready;
pub use served::served_kind;
#[doc(hidden)]
pub use served::{CrdPresent, Served};
