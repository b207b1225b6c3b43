//! What the order of a set depends on: an object's kind, what defines that kind, and the namespace that it lives in. Pure.

use kube::core::DynamicObject;

use super::policies::Policies;
use crate::resource::ObjectKey;

/// An object of a set, as far as the order depends on it.
#[derive(Clone, Debug)]
pub(crate) struct Ordered<'s> {
    pub(crate) group: &'s str,
    pub(crate) version: &'s str,
    pub(crate) kind: &'s str,
    /// In the namespace where it is, or will be.
    pub(crate) key: ObjectKey,
    pub(crate) policies: &'s Policies,
    /// What it defines.
    pub(crate) defines: Option<Defined>,
}

impl<'s> Ordered<'s> {
    /// The object with these policies.
    pub(crate) fn new(object: &'s DynamicObject, policies: &'s Policies) -> Self {
        let (group, version, kind) = kind_of(object);
        let key = ObjectKey::in_meta(&object.metadata);
        Self { group, version, kind, key, policies, defines: Defined::by(object) }
    }

    /// Whether it is a namespace.
    pub(super) fn is_namespace(&self) -> bool {
        (self.group, self.kind) == ("", "Namespace")
    }

    /// Whether others may stand on it.
    pub(super) fn is_ground(&self) -> bool {
        self.is_namespace() || self.defines.is_some()
    }

    /// Whether it is of one of these kinds.
    pub(super) fn is_instance(&self, defined: &[&Defined]) -> bool {
        defined.iter().any(|defined| defined.covers(self))
    }

    /// Whether it can't exist without the other one: that is its namespace, or defines its kind.
    pub(super) fn stands_on(&self, other: &Ordered<'_>) -> bool {
        other.defines.as_ref().is_some_and(|defined| defined.covers(self))
            || (other.is_namespace() && self.key.namespace() == Some(other.key.name()))
    }
}

/// All that these objects define.
pub(super) fn all_defined<'d>(objects: &'d [Ordered<'_>]) -> Vec<&'d Defined> {
    objects.iter().filter_map(|object| object.defines.as_ref()).collect()
}

pub(super) fn is_api_service(group: &str, kind: &str) -> bool {
    (group, kind) == ("apiregistration.k8s.io", "APIService")
}

pub(super) fn is_definition(group: &str, kind: &str) -> bool {
    (group, kind) == ("apiextensions.k8s.io", "CustomResourceDefinition") || is_api_service(group, kind)
}

/// Group, version and kind; empty if the object has none.
pub(super) fn kind_of(object: &DynamicObject) -> (&str, &str, &str) {
    let Some(types) = &object.types else { return ("", "", "") };
    let (group, version) = types.api_version.split_once('/').unwrap_or(("", &types.api_version));
    (group, version, &types.kind)
}

/// The kinds that an object of a set defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Defined {
    /// One, in all of its versions, by a CustomResourceDefinition.
    Kind { group: String, kind: String },
    /// All of a version, by an APIService.
    Version { group: String, version: String },
}

impl Defined {
    /// What this object defines; `None` if it isn't a definition, or an incomplete one.
    pub(crate) fn by(object: &DynamicObject) -> Option<Self> {
        let (group, _, kind) = kind_of(object);
        if !is_definition(group, kind) {
            return None;
        }
        let text = |pointer: &str| object.data.pointer(pointer)?.as_str().map(str::to_owned);
        let of_group = text("/spec/group")?;
        Some(if is_api_service(group, kind) {
            Self::Version { group: of_group, version: text("/spec/version")? }
        } else {
            Self::Kind { group: of_group, kind: text("/spec/names/kind")? }
        })
    }

    /// Whether the object is of a kind that is defined so.
    pub(crate) fn covers(&self, object: &Ordered<'_>) -> bool {
        match self {
            Self::Kind { group, kind } => (object.group, object.kind) == (group, kind),
            Self::Version { group, version } => (object.group, object.version) == (group, version),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: serde_json::Value) -> DynamicObject {
        serde_json::from_value(value).expect("it is an object")
    }

    #[test]
    fn definitions_cover_the_kinds_that_they_define() {
        let (crds, services) = ("apiextensions.k8s.io/v1", "apiregistration.k8s.io/v1");
        let spec = json!({ "group": "shop.io", "version": "v2", "names": { "kind": "Page" } });
        let defined = |version: &str, kind: &str, spec: &serde_json::Value| {
            Defined::by(&object(json!({ "apiVersion": version, "kind": kind, "spec": spec })))
        };
        let page = defined(crds, "CustomResourceDefinition", &spec).expect("a definition");
        let all = defined(services, "APIService", &spec).expect("a definition");
        assert_eq!(defined("v1", "CustomResourceDefinition", &spec), None, "of another group");
        assert_eq!(defined(crds, "CustomResourceDefinition", &json!({})), None, "incomplete");

        let policies = Policies::default();
        let covered = |version: &str, kind: &str| {
            let object = object(json!({ "apiVersion": version, "kind": kind }));
            let ordered = Ordered::new(&object, &policies);
            (page.covers(&ordered), all.covers(&ordered))
        };
        assert_eq!(covered("shop.io/v1", "Page"), (true, false));
        assert_eq!(covered("shop.io/v2", "Page"), (true, true));
        assert_eq!(covered("shop.io/v2", "Other"), (false, true));
        assert_eq!(covered("other.io/v2", "Page"), (false, false));
    }
}
