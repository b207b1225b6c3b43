//! Discovery in one document (`apidiscovery.k8s.io/v2`), and what only that and kubectl look at.

use serde_json::{Value, json};

use super::{
    api::Reply,
    definitions::definition,
    discovery::{Discovery, entries, priority},
    kinds::Kind,
    read::json,
    request::Route,
    store::Store,
};

/// The type of the answer; clients look at it to see that they got what they wanted.
const TYPE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

impl Discovery {
    /// The core group, or all others, with everything in them.
    pub(super) fn discover_together(&self, store: &Store, route: &Route) -> Reply {
        let groups = if *route == Route::CoreVersions { vec![String::new()] } else { self.groups() };
        let items: Vec<Value> = groups.iter().map(|group| self.group_together(store, group)).collect();
        let list = json!({
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        });
        Reply::Typed(TYPE, json(&list))
    }

    fn group_together(&self, store: &Store, group: &str) -> Value {
        let of_group = || self.iter().filter(|kind| kind.group == group);
        let mut versions: Vec<&str> = of_group().map(|kind| kind.version.as_str()).collect();
        versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        versions.dedup();
        let versions: Vec<Value> = versions
            .into_iter()
            .map(|version| {
                let kinds = of_group().filter(|kind| kind.version == version);
                let resources: Vec<Value> =
                    kinds.map(|kind| together(kind, &self.entries_of(store, kind))).collect();
                json!({ "version": version, "resources": resources, "freshness": "Current" })
            })
            .collect();
        let metadata = if group.is_empty() { json!({}) } else { json!({ "name": group }) };
        json!({ "metadata": metadata, "versions": versions })
    }

    /// The entries of a kind and its subresources in the discovery of its version.
    pub(super) fn entries_of(&self, store: &Store, kind: &Kind) -> Vec<Value> {
        let mut entries = entries(kind);
        let categories = self.categories(store, kind);
        if !categories.is_empty() {
            entries[0]["categories"] = categories.into();
        }
        entries
    }

    /// The groups of kinds that a kind belongs to, as in `kubectl get all`.
    fn categories(&self, store: &Store, kind: &Kind) -> Vec<Value> {
        if kind.is_custom() {
            let names = definition(store, kind).map(|definition| &definition["spec"]["names"]["categories"]);
            return names.and_then(Value::as_array).cloned().unwrap_or_default();
        }
        match (kind.group.as_str(), kind.plural.as_str()) {
            ("", "pods" | "services" | "replicationcontrollers")
            | ("apps", "daemonsets" | "deployments" | "replicasets" | "statefulsets")
            | ("autoscaling", "horizontalpodautoscalers")
            | ("batch", "cronjobs" | "jobs") => vec!["all".into()],
            ("apiextensions.k8s.io", _) => vec!["api-extensions".into()],
            _ => Vec::new(),
        }
    }
}

/// A kind with its subresources in one entry.
fn together(kind: &Kind, entries: &[Value]) -> Value {
    let [itself, subresources @ ..] = entries else { return Value::Null };
    let of = |entry: &Value| {
        // Of Kubernetes' own kinds the group is that of the version, unless another one is named.
        let (group, version) = match (entry["group"].as_str(), kind.is_custom()) {
            (Some(group), _) => (group, entry["version"].as_str().unwrap_or_default()),
            (None, true) => (kind.group.as_str(), kind.version.as_str()),
            (None, false) => ("", ""),
        };
        json!({ "group": group, "version": version, "kind": entry["kind"] })
    };
    let mut shown = json!({
        "resource": kind.plural,
        "responseKind": of(itself),
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular,
        "verbs": itself["verbs"],
    });
    for field in ["shortNames", "categories"] {
        if itself[field].is_array() {
            shown[field] = itself[field].clone();
        }
    }
    let subresources: Vec<Value> = subresources
        .iter()
        .map(|entry| {
            let name = entry["name"].as_str().unwrap_or_default();
            let name = name.split_once('/').map_or(name, |(_, name)| name);
            json!({ "subresource": name, "responseKind": of(entry), "verbs": entry["verbs"] })
        })
        .collect();
    if !subresources.is_empty() {
        shown["subresources"] = subresources.into();
    }
    shown
}
