//! Kinds: the data about a type of object that the library needs to list, watch and write it.

use std::{
    any::TypeId,
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    sync::{Arc, OnceLock},
};

use k8s_openapi::NamespaceResourceScope;
use kube::{
    Resource,
    core::{ApiResource, DynamicObject, DynamicResourceScope, GroupVersionKind, TypeMeta},
};
use serde::{Serialize, de::DeserializeOwned};

use super::{ObjectKey, path_segment};

/// Every type of object that the library can watch and write: a custom resource derived with kube, a type of
/// `k8s-openapi`, or kube's `DynamicObject` and `PartialObjectMeta`. Implemented for all of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object that can be watched and written",
    note = "it needs `Clone`, `Debug`, `Serialize` and `Deserialize` beside kube's `Resource`; a custom resource gets \
            them by `#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]` on its spec"
)]
pub trait KubeObject:
    Resource<Scope: 'static, DynamicType: Clone + Send + Sync + 'static>
    + Clone
    + fmt::Debug
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
}

#[diagnostic::do_not_recommend]
impl<K> KubeObject for K where
    K: Resource<Scope: 'static, DynamicType: Clone + Send + Sync + 'static>
        + Clone
        + fmt::Debug
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static
{
}

/// Group, version, kind, plural and scope of a type of object. Cheap to clone.
///
/// JOSDK's `GroupVersionKind`, with the plural and the scope for URLs.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceType(Arc<TypeParts>);

#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct TypeParts {
    group: String,
    version: String,
    kind: String,
    plural: Plural,
    namespaced: bool,
}

/// The name in URLs. It follows from the rest, so it makes no difference between types.
#[derive(Clone)]
struct Plural {
    /// As it was declared, or as the server has reported it.
    known: OnceLock<String>,
    /// What it usually is.
    usual: String,
}

impl PartialEq for Plural {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Plural {}

impl Hash for Plural {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Ord for Plural {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}

impl PartialOrd for Plural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether each object of this Rust type has a namespace.
pub(crate) fn is_always_namespaced<K: KubeObject>() -> bool {
    TypeId::of::<K::Scope>() == TypeId::of::<NamespaceResourceScope>()
}

impl ResourceType {
    /// The type of a statically known `K`.
    #[must_use]
    pub fn of<K: KubeObject<DynamicType: Default>>() -> Self {
        Self::with::<K>(&K::DynamicType::default())
    }

    /// The type of a `K` whose group, version and kind are known at run time. A dynamic one counts as namespaced; use
    /// [`ResourceType::cluster_scoped`] if it is not.
    #[must_use]
    pub fn with<K: KubeObject>(dynamic: &K::DynamicType) -> Self {
        let is_dynamic = TypeId::of::<K::Scope>() == TypeId::of::<DynamicResourceScope>();
        let namespaced = is_dynamic || is_always_namespaced::<K>();
        let (group, version, kind) = (K::group(dynamic), K::version(dynamic), K::kind(dynamic));
        let plural = match K::plural(dynamic) {
            none if none.is_empty() => {
                let usual = ApiResource::from_gvk(&GroupVersionKind::gvk(&group, &version, &kind)).plural;
                Plural { known: OnceLock::new(), usual }
            }
            plural => Plural { known: plural.into_owned().into(), usual: String::new() },
        };
        let (group, version, kind) = (group.into_owned(), version.into_owned(), kind.into_owned());
        Self(Arc::new(TypeParts { group, version, kind, plural, namespaced }))
    }

    /// The same type, known to be cluster-scoped.
    #[must_use]
    pub fn cluster_scoped(&self) -> Self {
        let parts = &self.0;
        Self(Arc::new(TypeParts {
            group: parts.group.clone(),
            version: parts.version.clone(),
            kind: parts.kind.clone(),
            plural: parts.plural.clone(),
            namespaced: false,
        }))
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.0.group
    }

    /// The version within the group, for example `v1`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// The kind, for example `Deployment`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// The plural name in URLs and role rules, for example `deployments`. If the type was declared without it, it is what plurals
    /// usually are until the server has reported it.
    #[must_use]
    pub fn plural(&self) -> &str {
        self.0.plural.known.get().unwrap_or(&self.0.plural.usual)
    }

    /// The plural, if it was declared without one and the server hasn't reported it yet.
    pub(crate) fn missing_plural(&self) -> Option<&OnceLock<String>> {
        Some(&self.0.plural.known).filter(|known| known.get().is_none())
    }

    /// Whether both are of one kind, in whatever version.
    pub(crate) fn is_kind_of(&self, other: &Self) -> bool {
        (self.group(), self.kind()) == (other.group(), other.kind())
    }

    /// Whether objects of this type live in a namespace.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        self.0.namespaced
    }

    /// `group/version`, or only the version for the core group.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.0.group.is_empty() {
            self.0.version.clone()
        } else {
            format!("{}/{}", self.0.group, self.0.version)
        }
    }

    /// Version and kind, as an object says them.
    pub(crate) fn types(&self) -> TypeMeta {
        TypeMeta { api_version: self.api_version(), kind: self.kind().to_owned() }
    }

    /// `plural.group`, the name under which a custom resource definition is stored; only the plural for core types.
    #[must_use]
    pub fn full_name(&self) -> String {
        if self.0.group.is_empty() {
            self.plural().to_owned()
        } else {
            format!("{}.{}", self.plural(), self.0.group)
        }
    }

    /// The path of an object; `None` if nothing can have its name, or be in such a namespace.
    pub(crate) fn object_path(&self, key: &ObjectKey) -> Option<String> {
        if key.namespace().is_some_and(|name| path_segment(name).as_deref() != Some(name)) {
            return None;
        }
        Some(format!("{}/{}", self.collection_path(key.namespace()), path_segment(key.name())?))
    }

    /// The path of the collection in `namespace`, or of the collection in all namespaces.
    #[must_use]
    pub fn collection_path(&self, namespace: Option<&str>) -> String {
        match namespace.filter(|_| self.0.namespaced) {
            Some(namespace) => {
                format!("{}/namespaces/{namespace}/{}", self.version_path(), self.plural())
            }
            None => format!("{}/{}", self.version_path(), self.plural()),
        }
    }

    /// The type as kube names it.
    pub(crate) fn api_resource(&self) -> ApiResource {
        ApiResource {
            group: self.group().to_owned(),
            version: self.version().to_owned(),
            api_version: self.api_version(),
            kind: self.kind().to_owned(),
            plural: self.plural().to_owned(),
        }
    }

    /// The path where the server reports the kinds of this group and version.
    pub(crate) fn version_path(&self) -> String {
        let root = if self.0.group.is_empty() { "api" } else { "apis" };
        format!("/{root}/{}", self.api_version())
    }
}

/// Counts as namespaced; use [`ResourceType::cluster_scoped`] if it is not.
impl From<&ApiResource> for ResourceType {
    fn from(resource: &ApiResource) -> Self {
        Self::with::<DynamicObject>(resource)
    }
}

impl fmt::Display for ResourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.kind)
    }
}

impl fmt::Debug for ResourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version(), self.0.kind)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Namespace};

    use super::*;

    #[test]
    fn knows_scope_and_path_of_typed_objects() {
        let deployment = ResourceType::of::<Deployment>();
        assert!(deployment.is_namespaced());
        assert_eq!(deployment.collection_path(Some("shop")), "/apis/apps/v1/namespaces/shop/deployments");
        assert_eq!(deployment.collection_path(None), "/apis/apps/v1/deployments");

        let namespace = ResourceType::of::<Namespace>();
        assert!(!namespace.is_namespaced());
        assert_eq!(namespace.collection_path(Some("ignored")), "/api/v1/namespaces");
        assert_eq!(namespace.full_name(), "namespaces");
    }
}
