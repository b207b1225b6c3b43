//! The conditions that come with the library, and how to combine them.

mod combined;
mod deleted;
mod ready;
pub(crate) mod served;

pub use combined::{And, ConditionExt, Not, Or};
pub use deleted::ResourceDeleted;
pub(super) use deleted::is_deleted;
pub use ready::Ready;
pub use served::{CrdPresent, KindServed};
