//! Objects in the cluster that a generator asks for.

use std::fmt;

use futures::future::BoxFuture;
use kube::{
    Api, Client,
    api::DynamicObject,
    core::GroupVersionKind,
    discovery::{self, Scope},
    error::DiscoveryError,
};
use operator_core::{BoxError, Objects, Permanent};
use serde_json::Value;

/// Which object is looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LookupKey {
    /// Group and version, such as `apps/v1`; for the core group only the version.
    pub api_version: String,
    /// The kind, such as `Secret`.
    pub kind: String,
    /// Empty for a kind without namespaces.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl fmt::Display for LookupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { api_version, kind, namespace, name } = self;
        let separator = if namespace.is_empty() { "" } else { "/" };
        write!(f, "{kind} {namespace}{separator}{name} ({api_version})")
    }
}

/// Reads objects for a generator. For tests, [`Objects`] are a cluster in which only these objects exist. A
/// [`Client`] reads each object from the API server; two requests for each.
///
/// ```
/// use std::pin::Pin;
///
/// use operator_component::generator::{Lookup, LookupKey};
/// use operator_core::BoxError;
/// use serde_json::Value;
///
/// /// There is no object.
/// struct Empty;
///
/// impl Lookup for Empty {
///     fn lookup<'a>(
///         &'a self,
///         _: &'a LookupKey,
///     ) -> Pin<Box<dyn Future<Output = Result<Option<Value>, BoxError>> + Send + 'a>> {
///         Box::pin(async { Ok(None) })
///     }
/// }
/// ```
pub trait Lookup: Send + Sync {
    /// The object; `None` if it is absent, or its kind is.
    ///
    /// # Errors
    /// If that isn't known. It is retried unless it is [`Permanent`].
    fn lookup<'a>(&'a self, key: &'a LookupKey) -> BoxFuture<'a, Result<Option<Value>, BoxError>>;
}

impl Lookup for Objects {
    fn lookup<'a>(&'a self, key: &'a LookupKey) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(async move {
            let found = self.iter().find(|object| {
                object
                    .types
                    .as_ref()
                    .is_some_and(|types| types.api_version == key.api_version && types.kind == key.kind)
                    && object.metadata.namespace.as_deref().unwrap_or_default() == key.namespace
                    && object.metadata.name.as_deref() == Some(&key.name)
            });
            Ok(found.map(serde_json::to_value).transpose()?)
        })
    }
}

impl Lookup for Client {
    fn lookup<'a>(&'a self, key: &'a LookupKey) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(async move {
            let (group, version) = key.api_version.rsplit_once('/').unwrap_or(("", &key.api_version));
            let gvk = GroupVersionKind::gvk(group, version, &key.kind);
            let (resource, capabilities) = match discovery::pinned_kind(self, &gvk).await {
                Ok(served) => served,
                Err(error) if is_absent(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            let api: Api<DynamicObject> = match (capabilities.scope, &*key.namespace) {
                (Scope::Cluster, _) => Api::all_with(self.clone(), &resource),
                (Scope::Namespaced, "") => {
                    let what = format!("a {} is in a namespace, and none is given", key.kind);
                    return Err(Permanent::new(what).into());
                }
                (Scope::Namespaced, namespace) => Api::namespaced_with(self.clone(), namespace, &resource),
            };
            Ok(api.get_opt(&key.name).await?.map(serde_json::to_value).transpose()?)
        })
    }
}

/// Whether the server doesn't have the kind, or its whole group.
fn is_absent(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 404,
        kube::Error::Discovery(DiscoveryError::MissingKind(_) | DiscoveryError::MissingApiGroup(_)) => true,
        _ => false,
    }
}
