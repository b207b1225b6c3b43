//! The identity of an object within all clusters an operator talks to.

use std::{fmt, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

/// Which cluster an object lives in.
///
/// Primaries, and all that the operator writes, are in the local one; an informer may follow another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Cluster(Option<Arc<str>>);

impl Cluster {
    /// The cluster that the operator itself was configured for.
    #[must_use]
    pub(crate) const fn local() -> Self {
        Self(None)
    }

    /// Another cluster, known to the operator as `name`.
    pub(crate) fn named(name: &str) -> Self {
        Self(Some(Arc::from(name)))
    }

    /// The cluster's name; `None` for the local one.
    #[must_use]
    pub(crate) fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// Identifies an object of a given kind: cluster, namespace (none when cluster-scoped) and name.
///
/// Cheap to clone. The uid is deliberately not part of it: an object that is deleted and created again under the same
/// name has the same key, and code that must tell the two apart stores the uid as well. JOSDK: `ResourceID`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey(Arc<KeyParts>);

#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct KeyParts {
    cluster: Cluster,
    namespace: Option<Box<str>>,
    name: Box<str>,
}

impl ObjectKey {
    /// The key of an object in a namespace of the local cluster.
    #[must_use]
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        Self::new(Cluster::local(), Some(namespace), name)
    }

    /// The key of a cluster-scoped object of the local cluster.
    #[must_use]
    pub fn cluster_scoped(name: &str) -> Self {
        Self::new(Cluster::local(), None, name)
    }

    /// The general form. An empty namespace counts as none, as the API server sees it.
    #[must_use]
    pub(crate) fn new(cluster: Cluster, namespace: Option<&str>, name: &str) -> Self {
        let namespace = namespace.filter(|namespace| !namespace.is_empty()).map(Box::from);
        Self(Arc::new(KeyParts { cluster, namespace, name: Box::from(name) }))
    }

    /// The key of an object of the local cluster, read from its metadata (an object without a name has an empty one).
    pub fn of<K: Resource>(object: &K) -> Self {
        Self::in_meta(object.meta())
    }

    /// The same of an object that has this metadata.
    pub(crate) fn in_meta(meta: &ObjectMeta) -> Self {
        Self::new(Cluster::local(), meta.namespace.as_deref(), meta.name.as_deref().unwrap_or_default())
    }

    /// The key of the object of the same namespace and name in the cluster that a
    /// [`RemoteCluster`](crate::RemoteCluster) calls `name`.
    #[must_use]
    pub fn in_cluster(self, name: &str) -> Self {
        self.within(&Cluster::named(name))
    }

    /// The same in this cluster.
    pub(crate) fn within(self, cluster: &Cluster) -> Self {
        if self.cluster() == cluster {
            return self;
        }
        Self::new(cluster.clone(), self.namespace(), self.name())
    }

    /// The name of the cluster that holds the object; `None` for the operator's own.
    #[must_use]
    pub fn cluster_name(&self) -> Option<&str> {
        self.cluster().name()
    }

    /// The cluster that holds the object.
    #[must_use]
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.0.cluster
    }

    /// The namespace; `None` for a cluster-scoped object.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.0.namespace.as_deref()
    }

    /// The object's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cluster) = self.cluster().name() {
            write!(f, "{cluster}:")?;
        }
        if let Some(namespace) = self.namespace() {
            write!(f, "{namespace}/")?;
        }
        f.write_str(self.name())
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_printed_as_people_write_it() {
        assert_eq!(ObjectKey::namespaced("shop", "web").to_string(), "shop/web");
        assert_eq!(ObjectKey::cluster_scoped("web").to_string(), "web");
        assert_eq!(ObjectKey::new(Cluster::named("edge"), Some("shop"), "web").to_string(), "edge:shop/web");
    }

    #[test]
    fn an_empty_namespace_is_none() {
        assert_eq!(ObjectKey::namespaced("", "web"), ObjectKey::cluster_scoped("web"));
    }
}
