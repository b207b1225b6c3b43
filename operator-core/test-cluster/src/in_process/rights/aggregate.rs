//! ClusterRoles that consist of others, which they select by labels.

use std::sync::Arc;

use serde_json::{Value, json};

use super::RBAC;
use crate::in_process::{
    access::rbac,
    api::ApiServer,
    store::{Path, Resource},
    write::{apply_own, subresources::selects},
};

const MANAGER: &str = "clusterrole-aggregation-controller";

/// Lets roles follow what they aggregate, after a change of one.
pub(in crate::in_process) fn sync_roles(api: &mut ApiServer, changed: &Resource) {
    if changed.plural != "clusterroles" || changed.group != RBAC {
        return;
    }
    let roles = api.store.list(changed, None);
    let all: Vec<(&Path, &Arc<Value>)> = roles.collect();
    let rules = all.iter().filter_map(|(path, role)| {
        let rules = aggregated(role, &all.iter().map(|(_, role)| *role))?;
        Some(((*path).clone(), rules))
    });
    let rules: Vec<_> = rules.collect();
    let Some(kind) = api.discovery.of_resource(&rbac("clusterroles")).cloned() else { return };
    for (path, rules) in rules {
        let applied = json!({
            "apiVersion": format!("{RBAC}/v1"), "kind": "ClusterRole",
            "metadata": { "name": path.name() }, "rules": rules,
        });
        apply_own(api, &kind, &path, MANAGER, &applied);
    }
}

/// The rules that a role should have, if it doesn't have them; the others are in the order of their names.
pub(super) fn aggregated<'r>(
    role: &Value,
    all: &(impl Iterator<Item = &'r Arc<Value>> + Clone),
) -> Option<Vec<Value>> {
    let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array()?;
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors {
        for other in all.clone() {
            let is_other = other["metadata"]["name"] != role["metadata"]["name"];
            if is_other && selects(selector, &other["metadata"]["labels"]) {
                for rule in other["rules"].as_array().into_iter().flatten() {
                    if !rules.contains(rule) {
                        rules.push(rule.clone());
                    }
                }
            }
        }
    }
    let known = role["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
    (known != rules).then_some(rules)
}
