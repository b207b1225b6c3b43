//! Whether a type includes the definition of its kind.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

/// A custom resource whose type has its definition, as kube's derive makes it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't include the definition of its kind",
    label = "has no definition",
    note = "for a kind whose definition isn't this operator's write `Controller::of_existing::<{Self}>()`"
)]
pub trait HasDefinition {
    /// The definition.
    fn definition() -> CustomResourceDefinition;
}

#[diagnostic::do_not_recommend]
impl<P: CustomResourceExt> HasDefinition for P {
    fn definition() -> CustomResourceDefinition {
        P::crd()
    }
}
