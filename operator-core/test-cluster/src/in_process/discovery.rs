//! Discovery: what is served.

use serde_json::{Value, json};

use super::{
    failure::Failure,
    kinds::{Kind, Kinds},
    request::Route,
    state::{Reply, State},
    write::subresources,
};

impl State {
    /// Answers a path that is not about objects.
    pub(super) fn discover(&self, route: &Route) -> Result<Reply, Failure> {
        match route {
            Route::Version => Ok(Reply::value(&json!({
                "major": "1",
                "minor": "36",
                "gitVersion": "v1.36.3",
                "gitCommit": "",
                "gitTreeState": "",
                "buildDate": "1970-01-01T00:00:00Z",
                "goVersion": "",
                "compiler": "",
                "platform": "in-process",
            }))),
            Route::OpenApi(path) => self.openapi(path),
            Route::Health => Ok(Reply::Text("ok")),
            Route::CoreVersions => Ok(Reply::value(
                &json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] }),
            )),
            Route::Groups => {
                let groups: Vec<Value> = self.groups().into_iter().map(|name| self.group(&name)).collect();
                Ok(Reply::value(&json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })))
            }
            Route::Group(name) | Route::Resources(name, _) if Kinds::is_missing_group(name) => {
                Err(Failure::not_modelled(format_args!("the group {name}")))
            }
            Route::Group(name) if !name.is_empty() && self.kinds.has_group(name) => {
                let mut group = self.group(name);
                group["kind"] = "APIGroup".into();
                group["apiVersion"] = "v1".into();
                Ok(Reply::value(&group))
            }
            Route::Resources(group, version) => self.resources(group, version),
            Route::Group(_) | Route::Objects(_) | Route::Unknown => Err(Failure::Page),
        }
    }

    /// The names of all groups but the core group.
    pub(super) fn groups(&self) -> Vec<String> {
        let mut groups: Vec<String> = self.kinds.iter().map(|kind| kind.group.clone()).collect();
        groups.dedup();
        groups.retain(|group| !group.is_empty());
        // Names that several groups have mean the first one's kind.
        groups.sort_by_key(|group| GROUPS.iter().position(|known| known == group).unwrap_or(GROUPS.len()));
        groups
    }

    /// A group with its versions, the most stable and newest first.
    fn group(&self, name: &str) -> Value {
        let of_group = self.kinds.iter().filter(|kind| kind.group == name);
        let mut versions: Vec<&str> = of_group.map(|kind| kind.version.as_str()).collect();
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        versions.dedup();
        let versions: Vec<Value> = versions
            .into_iter()
            .map(|version| json!({ "groupVersion": format!("{name}/{version}"), "version": version }))
            .collect();
        json!({ "name": name, "preferredVersion": versions.first(), "versions": versions })
    }

    fn resources(&self, group: &str, version: &str) -> Result<Reply, Failure> {
        let served: Vec<&Kind> = self
            .kinds
            .iter()
            .filter(|kind| kind.group == group && kind.version == version)
            .map(|kind| &**kind)
            .collect();
        let Some(first) = served.first() else {
            return Err(if self.kinds.has_group(group) { Failure::no_resource() } else { Failure::Page });
        };
        let resources: Vec<Value> = served.iter().flat_map(|kind| self.entries_of(kind)).collect();
        Ok(Reply::value(&json!({
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": first.api_version(),
            "resources": resources,
        })))
    }
}

/// Kubernetes' own groups in the order of their priority; those of definitions come after them.
const GROUPS: [&str; 20] = [
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
];

/// The entries of a kind: itself and its subresources.
pub(super) fn entries(kind: &Kind) -> Vec<Value> {
    let verbs = if kind.is_custom() {
        ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
    } else {
        ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
    };
    let mut itself = json!({
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": verbs,
    });
    if kind.is_namespace() {
        itself["verbs"] = json!(["create", "delete", "get", "list", "patch", "update", "watch"]);
    }
    if !kind.short_names.is_empty() {
        itself["shortNames"] = kind.short_names.clone().into();
    }
    let mut entries = vec![itself];
    entries.extend(subresources::discovery(kind));
    if kind.status {
        entries.push(json!({
            "name": format!("{}/status", kind.plural),
            "singularName": "",
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": ["get", "patch", "update"],
        }));
    }
    entries
}

/// The rank of a version: stable before beta before alpha, then the higher number; anything else last, by its name in
/// reverse order.
pub(super) fn priority(version: &str) -> (u8, u64, u64) {
    let digits = |text: &str| text.parse().ok();
    let parsed = (|| {
        let rest = version.strip_prefix('v')?;
        for (rank, stage) in [(2, "beta"), (1, "alpha")] {
            if let Some((major, minor)) = rest.split_once(stage) {
                let minor = if minor.is_empty() { 0 } else { digits(minor)? };
                return Some((rank, digits(major)?, minor));
            }
        }
        Some((3, digits(rest)?, 0))
    })();
    parsed.unwrap_or((0, 0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_and_newer_versions_come_first() {
        let mut versions = ["foo", "v1alpha1", "v2", "v1beta2", "v1", "v10", "v1beta10"];
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        assert_eq!(versions, ["v10", "v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "foo"]);
    }
}
