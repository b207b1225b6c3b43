//! Dependents that are objects in the cluster.

mod adoption;
mod declared;
mod engine;
mod inherit;
mod jobs;
mod marks;
mod of_primary;
mod read_only;
mod remove;
mod retired;
mod settings;
mod source;
mod write;

use crate::{
    reconciler::{BoxError, Context},
    resource::KubeObject,
};

pub use adoption::Adoption;
pub use declared::KubernetesDependent;
pub(in crate::dependent) use engine::Single;
pub(in crate::dependent) use jobs::Jobs;
pub(crate) use jobs::forget_departed;
pub(in crate::dependent) use of_primary::OfPrimary;
pub use read_only::ReadOnly;
pub(crate) use retired::retired;
pub(in crate::dependent) use settings::Managed;
pub(crate) use settings::{Settings, settings};
pub(crate) use source::SourceChoice;

/// What an object in the cluster should look like, for a primary of type `P`.
///
/// Name and namespace are part of it. The owner reference, or what else is needed to find the primary again, is added by
/// the framework.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it should look like for a `{P}`",
    note = "implement `operator_core::Desired<{P}>` for it"
)]
pub trait Desired<P: KubeObject>: Send + Sync + 'static {
    /// The type of the object.
    type Resource: KubeObject;

    /// The desired state: a function of its arguments, without side effects. Reads of the context are fine.
    ///
    /// # Errors
    /// When it can't be told; the node fails with that error.
    fn desired(&self, primary: &P, context: &Context<P>) -> Result<Self::Resource, BoxError>;
}
