//! The kind of a node's objects: their type gives it, or the node.

use kube::core::{ApiResource, GroupVersionKind};

use crate::resource::KubeObject;

/// The type of the objects determines it.
#[derive(Clone, Copy, Debug)]
pub struct OfType;

/// The node sets it, by `.kind(…)`.
#[derive(Clone, Debug)]
pub struct AtRunTime(pub(crate) ApiResource);

/// What can specify a kind at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not specify a kind",
    label = "specifies no kind",
    note = "write version and kind, `.kind((\"gateway.networking.k8s.io/v1\", \"Gateway\"))`, or an `ApiResource` of kube"
)]
pub trait SaysKind {
    /// The kind.
    fn said(self) -> ApiResource;
}

#[diagnostic::do_not_recommend]
impl SaysKind for ApiResource {
    fn said(self) -> ApiResource {
        self
    }
}

/// Version and kind, as in an object. The plural is asked of the server.
#[diagnostic::do_not_recommend]
impl SaysKind for (&str, &str) {
    fn said(self) -> ApiResource {
        let (version, kind) = self;
        let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
        let named = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        ApiResource { plural: String::new(), ..named }
    }
}

/// Objects whose kind is given in this way. `T` distinguishes the two ways; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "the kind of a `{Self}` is known only at run time, and its node doesn't specify it",
    label = "a node of a `{Self}`",
    note = "specify it by `.kind((version, kind))` or an `ApiResource`: `gateway.kind(resource)`, or `gateway(kind(resource))` in the derive"
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

/// Objects whose kind is known only at run time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` determines its kind, so its node takes no `.kind(…)`",
    label = "leave `.kind(…)` out",
    note = "`.kind(…)` is for functions that return a `DynamicObject`"
)]
pub trait KindAtRunTime: KubeObject<DynamicType = ApiResource> {}

#[diagnostic::do_not_recommend]
impl<K: KubeObject<DynamicType = ApiResource>> KindAtRunTime for K {}
