//! What an object's status says about it, and how to write your own.
//!
//! - [`kstatus`]: has the cluster done what an object asks for? For any kind.
//! - [`conditions`]: keeping the conditions of a status.

pub mod conditions;
pub mod kstatus;

mod error;

pub use error::Error;
