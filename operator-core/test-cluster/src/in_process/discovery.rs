//! Discovery: what is served.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{
    api::Reply,
    failure::Failure,
    kinds::{Kind, builtin, qualified},
    openapi::openapi,
    request::{Route, Target},
    store::{Resource, Store},
    write::subresources,
};

/// All served kinds, by group, version and plural.
#[derive(Clone, Debug)]
pub(super) struct Discovery {
    kinds: Arc<BTreeMap<(String, String, String), Arc<Kind>>>,
    /// Whether definitions may have parts that can't be checked.
    is_lenient: bool,
}

impl Discovery {
    /// Kubernetes' own kinds.
    pub(super) fn builtin() -> Self {
        let mut discovery = Self { kinds: Arc::default(), is_lenient: false };
        builtin::all().for_each(|kind| discovery.serve(kind));
        discovery
    }

    /// Lets definitions have parts that can't be checked.
    pub(super) fn be_lenient(&mut self) {
        self.is_lenient = true;
    }

    /// Whether definitions may have parts that can't be checked.
    pub(super) fn is_lenient(&self) -> bool {
        self.is_lenient
    }

    /// Serves one more kind, or another form of one.
    pub(super) fn serve(&mut self, kind: Kind) {
        let key = (kind.group.clone(), kind.version.clone(), kind.plural.clone());
        Arc::make_mut(&mut self.kinds).insert(key, Arc::new(kind));
    }

    /// Stops serving all versions of a resource.
    pub(super) fn withdraw(&mut self, resource: &Resource) {
        let is_other = |kind: &Kind| kind.group != resource.group || kind.plural != resource.plural;
        Arc::make_mut(&mut self.kinds).retain(|_, kind| is_other(kind));
    }

    /// The kind that a request is about.
    pub(super) fn find(&self, target: &Target) -> Result<Arc<Kind>, Failure> {
        let is_meant = |kind: &&Arc<Kind>| {
            kind.plural == target.plural && kind.group == target.group && kind.version == target.version
        };
        match self.iter().find(is_meant) {
            Some(kind) => Ok(Arc::clone(kind)),
            None if builtin::is_missing(&target.group, &target.plural) => {
                let what = qualified(&target.plural, &target.group);
                Err(Failure::not_modelled(format_args!("{what} in version {}", target.version)))
            }
            None if self.has_builtin_group(&target.group) => Err(Failure::no_resource()),
            None => Err(Failure::Page),
        }
    }

    /// A kind by `apiVersion` and `kind`, as in owner references.
    pub(super) fn of_object(&self, api_version: &str, kind: &str) -> Option<&Arc<Kind>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.iter().find(|known| known.group == group && known.version == version && known.kind == kind)
    }

    /// Some version of the resource: all share what is stored.
    pub(super) fn of_resource(&self, resource: &Resource) -> Option<&Arc<Kind>> {
        let mut versions =
            self.iter().filter(|kind| kind.group == resource.group && kind.plural == resource.plural);
        let first = versions.next()?;
        let storage = |kind: &&Arc<Kind>| kind.version == kind.storage_version;
        Some(if storage(&first) { first } else { versions.find(storage).unwrap_or(first) })
    }

    /// Whether a group has any kind.
    pub(super) fn has_group(&self, group: &str) -> bool {
        self.iter().any(|kind| kind.group == group)
    }

    /// Whether the real server has a group that is entirely missing here.
    pub(super) fn is_missing_group(group: &str) -> bool {
        builtin::MISSING_GROUPS.contains(&group)
    }

    /// Whether a group is one of Kubernetes' own.
    pub(super) fn has_builtin_group(&self, group: &str) -> bool {
        self.iter().any(|kind| kind.group == group && !kind.is_custom())
    }

    /// Whether a kind is still served, in the same form.
    pub(super) fn serves(&self, kind: &Arc<Kind>) -> bool {
        self.iter().any(|served| Arc::ptr_eq(served, kind))
    }

    /// All kinds, by group, version and plural.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.kinds.values()
    }
}

impl Discovery {
    /// Answers a path that is not about objects.
    pub(super) fn discover(&self, store: &Store, route: &Route) -> Result<Reply, Failure> {
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
            Route::OpenApi(path) => openapi(store, self, path),
            Route::Health => Ok(Reply::Text("ok")),
            Route::CoreVersions => Ok(Reply::value(
                &json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] }),
            )),
            Route::Groups => {
                let groups: Vec<Value> = self.groups().into_iter().map(|name| self.group(&name)).collect();
                Ok(Reply::value(&json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })))
            }
            Route::Group(name) | Route::Resources(name, _) if Self::is_missing_group(name) => {
                Err(Failure::not_modelled(format_args!("the group {name}")))
            }
            Route::Group(name) if !name.is_empty() && self.has_group(name) => {
                let mut group = self.group(name);
                group["kind"] = "APIGroup".into();
                group["apiVersion"] = "v1".into();
                Ok(Reply::value(&group))
            }
            Route::Resources(group, version) => self.resources(store, group, version),
            Route::Group(_) | Route::Objects(_) | Route::Unknown => Err(Failure::Page),
        }
    }

    /// The names of all groups but the core group.
    pub(super) fn groups(&self) -> Vec<String> {
        let mut groups: Vec<String> = self.iter().map(|kind| kind.group.clone()).collect();
        groups.dedup();
        groups.retain(|group| !group.is_empty());
        // Names that several groups have mean the first one's kind.
        groups.sort_by_key(|group| GROUPS.iter().position(|known| known == group).unwrap_or(GROUPS.len()));
        groups
    }

    /// A group with its versions, the most stable and newest first.
    fn group(&self, name: &str) -> Value {
        let of_group = self.iter().filter(|kind| kind.group == name);
        let mut versions: Vec<&str> = of_group.map(|kind| kind.version.as_str()).collect();
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        versions.dedup();
        let versions: Vec<Value> = versions
            .into_iter()
            .map(|version| json!({ "groupVersion": format!("{name}/{version}"), "version": version }))
            .collect();
        json!({ "name": name, "preferredVersion": versions.first(), "versions": versions })
    }

    fn resources(&self, store: &Store, group: &str, version: &str) -> Result<Reply, Failure> {
        let served: Vec<&Kind> = self
            .iter()
            .filter(|kind| kind.group == group && kind.version == version)
            .map(|kind| &**kind)
            .collect();
        let Some(first) = served.first() else {
            return Err(if self.has_group(group) { Failure::no_resource() } else { Failure::Page });
        };
        let resources: Vec<Value> = served.iter().flat_map(|kind| self.entries_of(store, kind)).collect();
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
