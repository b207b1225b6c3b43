//! Rights to paths that lead to no objects, as in `/version`. Pure.

use serde_json::{Value, json};

use super::{
    access::{Decision, allowed_by, is_subject, rbac},
    failure::Failure,
    identity::User,
    request::Request,
    store::{Path, Store},
};

/// Refuses a request for a path that the user is not allowed to make.
pub(super) fn authorize_path(store: &Store, request: &Request) -> Result<(), Failure> {
    require_path(store, &request.user, "", request)
}

/// The same for the request's sender, and for a verb with a prefix.
pub(super) fn require_path(
    store: &Store,
    user: &User,
    prefix: &str,
    request: &Request,
) -> Result<(), Failure> {
    let path = request.uri.split('?').next().unwrap_or_default();
    let verb = format!("{prefix}{}", request.method.as_str().to_lowercase());
    if decide_path(store, user, &verb, path).allowed {
        return Ok(());
    }
    let user = user.name.as_deref().unwrap_or_default();
    let message = format!("forbidden: User \"{user}\" cannot {verb} path \"{path}\"");
    Err(Failure::new(403, "Forbidden", message).with(json!({})))
}

/// Whether a user may do this with a path, by the roles of this cluster.
pub(super) fn decide_path(store: &Store, user: &User, verb: &str, path: &str) -> Decision {
    let yes = |reason: String| Decision { allowed: true, reason };
    if user.is_administrator() {
        return yes(String::new());
    }
    let groups = user.all_groups();
    let name = user.name.as_deref().unwrap_or_default();
    for (at, binding) in store.list(&rbac("clusterrolebindings"), None) {
        let mut subjects = binding["subjects"].as_array().into_iter().flatten();
        let Some(subject) = subjects.find(|subject| is_subject(subject, None, name, &groups)) else {
            continue;
        };
        let role = binding["roleRef"]["name"].as_str().unwrap_or_default();
        let role = store.get(&rbac("clusterroles"), &Path::new(None, role));
        let mut rules = role.and_then(|role| role["rules"].as_array()).into_iter().flatten();
        if rules.any(|rule| allows(rule, verb, path)) {
            return yes(allowed_by("ClusterRoleBinding", at, binding, subject));
        }
    }
    Decision { allowed: false, reason: String::new() }
}

fn allows(rule: &Value, verb: &str, path: &str) -> bool {
    let has = |field: &str, wanted: &dyn Fn(&str) -> bool| {
        rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).any(wanted)
    };
    has("verbs", &|given| given == "*" || given == verb)
        && has("nonResourceURLs", &|given| matches(given, path))
}

/// Whether a path is meant by a rule, which may end with a star.
fn matches(rule: &str, path: &str) -> bool {
    rule == "*" || rule == path || rule.strip_suffix('*').is_some_and(|start| path.starts_with(start))
}
