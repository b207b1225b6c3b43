//! The conditions that come with the library.

mod deleted;
mod ready;
pub(crate) mod served;

pub use deleted::ResourceDeleted;
pub(super) use deleted::is_deleted;
pub(super) use ready::Ready;
pub use served::served_kind;
#[doc(hidden)]
pub use served::{CrdPresent, Served};
