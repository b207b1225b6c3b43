//! What a generator is given.

use std::{borrow::Cow, fmt};

use operator_core::{BoxError, Permanent, resource::KubeObject};
use serde_json::{Map, Value};

use super::{Lookup, LookupKey};

/// What a [`Generator`](super::Generator) makes objects of.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_component::generator::RenderContext;
/// use serde_json::json;
///
/// let mut primary = ConfigMap::default();
/// primary.metadata.name = Some("web".into());
/// primary.metadata.namespace = Some("shop".into());
///
/// let cx = RenderContext::of(&primary).with_parameters(json!({ "replicas": 2 })).with_revision(7);
/// assert_eq!((cx.namespace(), cx.name(), cx.revision()), (Some("shop"), "web", 7));
/// assert_eq!(cx.parameters()["replicas"], 2);
/// ```
pub struct RenderContext<'a, P> {
    primary: &'a P,
    namespace: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    parameters: Cow<'a, Value>,
    revision: i64,
    digest: Cow<'a, str>,
    lookup: Option<&'a dyn Lookup>,
}

impl<'a, P: KubeObject> RenderContext<'a, P> {
    /// With the namespace and name of the primary, no parameters, revision 0, and without a cluster.
    #[must_use]
    pub fn of(primary: &'a P) -> Self {
        let metadata = primary.meta();
        Self {
            primary,
            namespace: metadata.namespace.as_deref().map(Cow::Borrowed),
            name: Cow::Borrowed(metadata.name.as_deref().unwrap_or_default()),
            parameters: Cow::Owned(Value::Object(Map::new())),
            revision: 0,
            digest: Cow::Borrowed(""),
            lookup: None,
        }
    }
}

impl<'a, P> RenderContext<'a, P> {
    /// The objects are meant for this namespace.
    #[must_use]
    pub fn with_namespace(self, namespace: impl Into<Cow<'a, str>>) -> Self {
        Self { namespace: Some(namespace.into()), ..self }
    }

    /// The bundle is deployed under this name.
    #[must_use]
    pub fn with_name(self, name: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Replaces the parameters.
    #[must_use]
    pub fn with_parameters(self, parameters: Value) -> Self {
        Self { parameters: Cow::Owned(parameters), ..self }
    }

    /// The number of different digests that the primary has had.
    #[must_use]
    pub fn with_revision(self, revision: i64) -> Self {
        Self { revision, ..self }
    }

    /// The digest of all that the objects are made of: see [`digest_of`](super::digest_of).
    #[must_use]
    pub fn with_digest(self, digest: impl Into<Cow<'a, str>>) -> Self {
        Self { digest: digest.into(), ..self }
    }

    /// Objects are looked up there.
    #[must_use]
    pub fn with_lookup(self, lookup: &'a dyn Lookup) -> Self {
        Self { lookup: Some(lookup), ..self }
    }

    /// The primary.
    #[must_use]
    pub fn primary(&self) -> &'a P {
        self.primary
    }

    /// The namespace that the objects are meant for, by default the primary's.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The name under which the bundle is deployed, by default the primary's.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameters, by default an empty mapping.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// The number of different digests that the primary has had.
    #[must_use]
    pub fn revision(&self) -> i64 {
        self.revision
    }

    /// The digest of all that the objects are made of.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// An object in the cluster; `None` if it is absent.
    ///
    /// # Errors
    /// Those of the [`Lookup`]; a permanent one if the context has none.
    pub async fn lookup(&self, key: &LookupKey) -> Result<Option<Value>, BoxError> {
        let Some(lookup) = self.lookup else {
            let what = "there is no cluster to look objects up in; use `RenderContext::with_lookup`";
            return Err(Permanent::new(what).into());
        };
        lookup.lookup(key).await
    }
}

impl<P> Clone for RenderContext<'_, P> {
    fn clone(&self) -> Self {
        Self {
            primary: self.primary,
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            parameters: self.parameters.clone(),
            revision: self.revision,
            digest: self.digest.clone(),
            lookup: self.lookup,
        }
    }
}

/// Shows no parameters: they may be a Secret's.
impl<P> fmt::Debug for RenderContext<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RenderContext")
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .field("revision", &self.revision)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}
