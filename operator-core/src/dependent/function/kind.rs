//! Of which kind a node's objects are: their type says so, or the node.

use kube::core::ApiResource;

use crate::resource::KubeObject;

/// The type of the objects says it.
#[derive(Clone, Copy, Debug)]
pub struct OfType;

/// The node says it, by `.kind(…)`.
#[derive(Clone, Debug)]
pub struct AtRunTime(pub(crate) ApiResource);

/// Objects whose kind is said so. `T` tells the two ways apart; the compiler finds it.
#[diagnostic::on_unimplemented(
    message = "of which kind a `{Self}` is isn't known before run time, and its node doesn't say so",
    label = "a node of a `{Self}`",
    note = "say it by `.kind(…)` with an `ApiResource`: `gateway.kind(resource)`, or `gateway(kind(resource))` in the derive"
)]
pub trait KindOf<T>: KubeObject {
    /// The kind.
    fn kind_of(said: T) -> Self::DynamicType;
}

#[diagnostic::do_not_recommend]
impl<K: KubeObject<DynamicType: Default>> KindOf<OfType> for K {
    fn kind_of(_: OfType) -> K::DynamicType {
        K::DynamicType::default()
    }
}

#[diagnostic::do_not_recommend]
impl<K: KubeObject<DynamicType = ApiResource>> KindOf<AtRunTime> for K {
    fn kind_of(said: AtRunTime) -> ApiResource {
        said.0
    }
}

/// Objects whose kind is known at run time only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says of which kind it is, so its node takes no `.kind(…)`",
    label = "leave `.kind(…)` out",
    note = "`.kind(…)` is for functions that answer with a `DynamicObject`"
)]
pub trait KindAtRunTime: KubeObject<DynamicType = ApiResource> {}

#[diagnostic::do_not_recommend]
impl<K: KubeObject<DynamicType = ApiResource>> KindAtRunTime for K {}
