//! Dependents that are objects in the cluster.

mod adoption;
mod engine;
mod jobs;
mod marks;
mod of_primary;
mod remove;
mod retired;
mod settings;
mod several;
mod source;
mod write;

pub use adoption::Adoption;
pub(in crate::dependent) use engine::Single;
pub(in crate::dependent) use jobs::Jobs;
pub(crate) use jobs::forget_departed;
pub(in crate::dependent) use of_primary::OfPrimary;
pub(crate) use retired::retired;
pub(in crate::dependent) use settings::Managed;
pub(crate) use settings::{Judge, Settings, settings};
pub(in crate::dependent) use several::Several;
pub(crate) use source::SourceChoice;
