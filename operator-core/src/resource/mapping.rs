//! Mapping annotations: how an object shows which primary it belongs to if an owner reference can't.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Cluster, ObjectKey, ResourceType};

/// The keys of the annotations that show which primary an object belongs to if there is no owner reference: across
/// namespaces, or because the object must not be deleted with its primary automatically.
///
/// By default they are those of the Java Operator SDK, `io.javaoperatorsdk/primary-name` and so on: a ported operator
/// finds the objects that it made before. JOSDK's `Mappers.fromDefaultAnnotations` and `fromAnnotation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingAnnotations {
    name: Cow<'static, str>,
    namespace: Cow<'static, str>,
    primary_type: Option<Cow<'static, str>>,
}

impl Default for MappingAnnotations {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed("io.javaoperatorsdk/primary-name"),
            namespace: Cow::Borrowed("io.javaoperatorsdk/primary-namespace"),
            primary_type: Some(Cow::Borrowed("io.javaoperatorsdk/primary-type")),
        }
    }
}

impl MappingAnnotations {
    /// Custom keys, for the primary's name and for its namespace. Use them for primaries of one type only, or name the
    /// type: see [`MappingAnnotations::primary_type`].
    #[must_use]
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self { name: Cow::Owned(name.into()), namespace: Cow::Owned(namespace.into()), primary_type: None }
    }

    /// The key of a further annotation, for the primary's type.
    #[must_use]
    pub fn primary_type(mut self, key: impl Into<String>) -> Self {
        self.primary_type = Some(Cow::Owned(key.into()));
        self
    }

    /// The keys of the annotations.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        [&self.name, &self.namespace].into_iter().chain(&self.primary_type).map(|key| &**key)
    }

    /// The annotations of objects that belong to `primary`.
    pub(crate) fn of(&self, primary: &ObjectKey, primary_type: &ResourceType) -> Vec<(String, String)> {
        let mut annotations = vec![(self.name.to_string(), primary.name().to_owned())];
        if let Some(namespace) = primary.namespace() {
            annotations.push((self.namespace.to_string(), namespace.to_owned()));
        }
        if let Some(key) = &self.primary_type {
            let value = format!("{}/{}", primary_type.api_version(), primary_type.kind());
            annotations.push((key.to_string(), value));
        }
        annotations
    }

    /// The primary of type `primary_type` that an object with this metadata belongs to. If no type is named, it is that
    /// one; the version of a named one is ignored, as in an owner reference. If no namespace is named, it is the
    /// object's own.
    pub(crate) fn primary_in(&self, meta: &ObjectMeta, primary_type: &ResourceType) -> Option<ObjectKey> {
        let annotations = meta.annotations.as_ref()?;
        self.primary_by(|name| annotations.get(name).cloned(), meta.namespace.as_deref(), primary_type)
    }

    /// The same for an object in this namespace whose annotations are looked up.
    pub(crate) fn primary_by(
        &self,
        annotation: impl Fn(&str) -> Option<String>,
        own: Option<&str>,
        primary_type: &ResourceType,
    ) -> Option<ObjectKey> {
        let name = annotation(&self.name)?;
        if let Some(named) = self.primary_type.as_ref().and_then(|key| annotation(key))
            && !is_type(&named, primary_type)
        {
            return None;
        }
        let named = annotation(&self.namespace);
        let namespace = named.as_deref().or(own).filter(|_| primary_type.is_namespaced());
        Some(ObjectKey::new(Cluster::local(), namespace, &name))
    }
}

/// Whether `named`, of the form `group/version/kind` or `version/kind`, means this type.
fn is_type(named: &str, primary_type: &ResourceType) -> bool {
    let Some((api_version, kind)) = named.rsplit_once('/') else { return false };
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    (group, kind) == (primary_type.group(), primary_type.kind())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Node, Pod},
    };

    use proptest::prelude::*;

    use super::*;

    fn annotated(annotations: Vec<(String, String)>) -> ConfigMap {
        let metadata = ObjectMeta {
            namespace: Some("elsewhere".to_owned()),
            annotations: Some(annotations.into_iter().collect()),
            ..ObjectMeta::default()
        };
        ConfigMap { metadata, ..ConfigMap::default() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (keys, pod) = (MappingAnnotations::default(), ResourceType::of::<Pod>());
        let primary = ObjectKey::namespaced("shop", "web");
        let object = annotated(keys.of(&primary, &pod));
        assert_eq!(keys.primary_in(&object.metadata, &pod), Some(primary));
        assert_eq!(keys.primary_in(&object.metadata, &ResourceType::of::<Deployment>()), None);
        let node = ObjectKey::cluster_scoped("one");
        let object = annotated(keys.of(&node, &ResourceType::of::<Node>()));
        assert_eq!(keys.primary_in(&object.metadata, &ResourceType::of::<Node>()), Some(node));
    }

    #[test]
    fn the_version_of_the_primary_does_not_count() {
        let keys = MappingAnnotations::new("a/name", "a/namespace").primary_type("a/type");
        let of = |value: &str| {
            let annotations = [("a/name", "web"), ("a/type", value)];
            let owned = annotations.map(|(key, value)| (key.to_owned(), value.to_owned()));
            keys.primary_in(&annotated(owned.into()).metadata, &ResourceType::of::<Deployment>())
        };
        assert_eq!(of("apps/v1beta1/Deployment"), Some(ObjectKey::namespaced("elsewhere", "web")));
        assert_eq!(of("v1/Deployment"), None);
        assert_eq!(of("Deployment"), None);
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn names_of_any_kind_are_read_as_they_were_written(namespace in ".{1,9}", name in ".{1,9}") {
            let (keys, pod) = (MappingAnnotations::default(), ResourceType::of::<Pod>());
            let primary = ObjectKey::namespaced(&namespace, &name);
            prop_assert_eq!(keys.primary_in(&annotated(keys.of(&primary, &pod)).metadata, &pod), Some(primary));
        }

        #[test]
        fn a_type_that_makes_no_sense_is_nobodys(named in "[a-zA-Z0-9./]{0,12}|.{0,8}") {
            let keys = MappingAnnotations::new("a/name", "a/namespace").primary_type("a/type");
            let annotations = [("a/name", "web"), ("a/type", &*named)];
            let object = annotated(annotations.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
            let is_primary = keys.primary_in(&object.metadata, &ResourceType::of::<Deployment>()).is_some();
            let parts: Vec<&str> = named.split('/').collect();
            prop_assert_eq!(is_primary, matches!(parts[..], ["apps", _, "Deployment"]));
        }
    }
}
