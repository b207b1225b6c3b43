//! The definition of a custom resource: its name, and whether it is served.

use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Resource,
    core::{ApiResource, GroupVersionKind},
};
use serde::{Deserialize, Serialize};

use crate::resource::ResourceType;

/// A definition without its schemas, which are most of it.
#[derive(Clone, Debug, Default, Resource, Serialize, Deserialize)]
#[resource(inherit = "CustomResourceDefinition")]
pub(super) struct Definition {
    metadata: ObjectMeta,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Spec {
    group: String,
    scope: String,
    names: Names,
    versions: Vec<Version>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Names {
    kind: String,
    plural: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Version {
    name: String,
    served: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Status {
    /// `null` until the server has looked at it.
    conditions: Option<Vec<Condition>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

impl Definition {
    /// Whether the server has accepted it: before that its objects can't be listed.
    pub(super) fn is_established(&self) -> bool {
        let deleted = self.metadata.deletion_timestamp.is_some();
        let established =
            |condition: &Condition| condition.kind == "Established" && condition.status == "True";
        !deleted && self.status.conditions.iter().flatten().any(established)
    }

    pub(super) fn group(&self) -> &str {
        &self.spec.group
    }

    pub(super) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// Whether both have the same content.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.metadata.generation == other.metadata.generation && self.offer() == other.offer()
    }

    /// Whether objects of that kind are served because of it.
    pub(super) fn serves(&self, kind: &ResourceType) -> bool {
        self.spec.group == kind.group() && self.offered(Some(kind.version()), kind.kind()).is_some()
    }

    /// That kind, in this version or else the first one, if objects of it are served because of it.
    pub(super) fn served(&self, version: Option<&str>, kind: &str) -> Option<ResourceType> {
        let Spec { group, scope, names, .. } = &self.spec;
        let version = &self.offered(version, kind)?.name;
        let named = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let kind = ResourceType::from(&ApiResource { plural: names.plural.clone(), ..named });
        Some(if scope == "Cluster" { kind.cluster_scoped() } else { kind })
    }

    /// This version, or else the first one, in which objects of that kind are served.
    fn offered(&self, version: Option<&str>, kind: &str) -> Option<&Version> {
        let is_it = |one: &&Version| one.served && version.is_none_or(|version| version == one.name);
        let is_served = self.spec.names.kind == kind && self.is_established();
        self.spec.versions.iter().find(is_it).filter(|_| is_served)
    }

    /// The part that decides the answers: the versions that are served; `None` while it isn't established.
    pub(super) fn offer(&self) -> Option<Vec<&str>> {
        let served = self.spec.versions.iter().filter(|version| version.served);
        self.is_established().then(|| served.map(|version| version.name.as_str()).collect())
    }
}

#[cfg(test)]
mod tests {
    use kube::core::DynamicObject;
    use serde_json::json;

    use super::*;

    fn definition(established: &str) -> Definition {
        serde_json::from_value(json!({
            "metadata": { "name": "routes.example.com" },
            "spec": {
                "group": "example.com",
                "names": { "kind": "Route", "plural": "routes" },
                "scope": "Namespaced",
                "versions": [
                    { "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {} } },
                    { "name": "v1alpha1", "served": false, "storage": false },
                ],
            },
            "status": { "conditions": [{ "type": "Established", "status": established }] },
        }))
        .unwrap()
    }

    fn kind(version: &str, kind: &str) -> ResourceType {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", version, kind));
        ResourceType::with::<DynamicObject>(&resource)
    }

    #[test]
    fn a_kind_is_served_in_the_versions_that_are_once_it_is_established() {
        let route = definition("True");
        assert!(route.serves(&kind("v1", "Route")));
        assert!(!route.serves(&kind("v1alpha1", "Route")) && !route.serves(&kind("v1", "Gateway")));
        assert!(!definition("False").serves(&kind("v1", "Route")));
        assert_eq!(route.offer(), Some(vec!["v1"]));
        assert_ne!(route.offer(), definition("False").offer());
    }

    #[test]
    fn a_new_definition_that_the_server_has_not_looked_at_serves_nothing() {
        let mut new = serde_json::to_value(definition("True")).unwrap();
        new["status"] = json!({
            "acceptedNames": { "kind": "", "plural": "" }, "conditions": null, "storedVersions": null,
        });
        let new: Definition = serde_json::from_value(new).unwrap();
        assert!(!new.serves(&kind("v1", "Route")));
    }

    #[test]
    fn a_kind_is_found_with_its_plural_and_its_scope() {
        let mut route = definition("True");
        let found = route.served(None, "Route").unwrap();
        assert_eq!((found.plural(), found.version(), found.is_namespaced()), ("routes", "v1", true));
        route.spec.scope = "Cluster".to_owned();
        assert_eq!(route.served(Some("v1"), "Route").map(|found| found.is_namespaced()), Some(false));
    }

    #[test]
    fn a_kind_without_a_version_is_used_in_the_first_that_is_served() {
        let mut route = definition("True");
        let version = |route: &Definition, kind: &str| {
            route.served(None, kind).map(|found| found.version().to_owned()).unwrap_or_default()
        };
        assert_eq!((&*version(&route, "Route"), &*version(&route, "Gateway")), ("v1", ""));
        assert_eq!(version(&definition("False"), "Route"), "", "its objects can't be listed yet");
        assert!(route.served(Some("v1alpha1"), "Route").is_none());
        route.spec.versions.reverse();
        assert_eq!(version(&route, "Route"), "v1", "v1alpha1 isn't served");
        route.spec.versions[0].served = true;
        assert_eq!(version(&route, "Route"), "v1alpha1");
        route.spec.versions.iter_mut().for_each(|version| version.served = false);
        assert_eq!(version(&route, "Route"), "");
        assert!(!route.serves(&kind("v1", "Route")));
    }

    #[test]
    fn one_that_is_being_deleted_serves_nothing() {
        let mut route = definition("True");
        route.metadata.deletion_timestamp =
            Some(serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap());
        assert!(!route.is_established());
        assert!(route.offer().is_none() && route.served(None, "Route").is_none());
    }
}
