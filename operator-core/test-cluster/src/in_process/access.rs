//! Access control: RBAC.
//!
//! ```text
//!  request ─▶ user, groups, verb, resource ─▶ bindings that name the user ─▶ their roles' rules ─▶ allowed, or 403
//! ```
//!
//! The administrator, which is any user who isn't impersonated, may do everything. All users may query what is served
//! and review their own access.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{
    api::Reply,
    audit::verb,
    failure::Failure,
    go::json,
    identity::{AUTHENTICATED, AUTHENTICATION, User, may_impersonate},
    paths::{authorize_path, decide_path},
    read::json as json_bytes,
    request::{Request, Route, Target},
    rights::wrong_question,
    selector::Selector,
    store::{Path, Resource, Store},
    write::check_names,
};

/// The group of access reviews, which are answered and never stored.
pub(super) const REVIEWS: &str = "authorization.k8s.io";
/// The group of roles and bindings.
const RBAC: &str = "rbac.authorization.k8s.io";

/// What a user wants to do.
#[derive(Clone, Debug, Default)]
pub(super) struct Action {
    pub(super) verb: String,
    pub(super) group: String,
    pub(super) resource: String,
    pub(super) subresource: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) allowed: bool,
    pub(super) reason: String,
}

/// Refuses a request that the user is not allowed to make.
pub(super) fn authorize(store: &Store, request: &Request) -> Result<(), Failure> {
    may_impersonate(store, request)?;
    if request.user.is_administrator() {
        return Ok(());
    }
    let Route::Objects(target) = &request.route else { return authorize_path(store, request) };
    let action = Action::of(request, target);
    if action.is_about_oneself() && request.user.all_groups().iter().any(|group| group == AUTHENTICATED) {
        return Ok(());
    }
    let decision = decide(store, &request.user, &action);
    if !decision.allowed {
        return Err(action.refused(&request.user, &decision));
    }
    Ok(())
}

/// POST of an access review.
pub(super) fn review(
    store: &Store,
    warnings: &mut Vec<String>,
    request: &Request,
    target: &Target,
) -> Result<Reply, Failure> {
    let own = match (target.version.as_str(), target.plural.as_str()) {
        ("v1", "selfsubjectaccessreviews") => true,
        ("v1", "subjectaccessreviews" | "localsubjectaccessreviews") => false,
        ("v1", other) => return Err(Failure::not_modelled(format_args!("{other}.{REVIEWS}"))),
        _ => return Err(Failure::no_resource()),
    };
    if request.method != Method::POST || target.name.is_some() {
        return Err(Failure::method());
    }
    let mut review: Value = json::read(&request.body)
        .map_err(|error| Failure::bad_request(format!("the object provided is unrecognized: {error}")))?;
    let kind = match target.plural.as_str() {
        "selfsubjectaccessreviews" => "SelfSubjectAccessReview",
        "subjectaccessreviews" => "SubjectAccessReview",
        _ => "LocalSubjectAccessReview",
    };
    let unknown = drop_unknown(&mut review["spec"], own);
    check_names(warnings, request, (kind, &target.version), unknown)?;
    let spec = &review["spec"];
    let causes = wrong_question(spec, own, target.namespace.as_deref());
    if !causes.is_empty() {
        return Err(Failure::question(REVIEWS, &causes));
    }
    let text = |field: &str| spec["resourceAttributes"][field].as_str().unwrap_or_default().to_owned();
    let action = Action {
        verb: text("verb"),
        group: text("group"),
        resource: text("resource"),
        subresource: text("subresource"),
        namespace: text("namespace"),
        name: text("name"),
    };
    let groups = spec["groups"].as_array().into_iter().flatten();
    let user = User {
        name: Some(spec["user"].as_str().unwrap_or_default().to_owned()),
        groups: groups.filter_map(Value::as_str).map(str::to_owned).collect(),
        is_complete: true,
        ..User::default()
    };
    let user = if own { &request.user } else { &user };
    let path = |field: &str| spec["nonResourceAttributes"][field].as_str().unwrap_or_default();
    let decision = if spec["resourceAttributes"].is_null() {
        decide_path(store, user, path("verb"), path("path"))
    } else {
        decide(store, user, &action)
    };
    review["apiVersion"] = format!("{REVIEWS}/v1").into();
    review["kind"] = kind.into();
    if review["metadata"].is_null() {
        review["metadata"] = json!({});
    }
    if let Some(namespace) = &target.namespace {
        review["metadata"]["namespace"] = namespace.clone().into();
    }
    review["status"] = json!({ "allowed": decision.allowed });
    if !decision.reason.is_empty() {
        review["status"]["reason"] = decision.reason.into();
    }
    Ok(Reply::Json(StatusCode::CREATED, json_bytes(&review)))
}

pub(super) fn decide(store: &Store, user: &User, action: &Action) -> Decision {
    if user.is_administrator() {
        return Decision { allowed: true, reason: String::new() };
    }
    let (name, groups) = (user.name.as_deref().unwrap_or_default(), user.all_groups());
    let mut missing = Vec::new();
    let in_namespace = Some(action.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    for (plural, kind, namespace) in
        [("clusterrolebindings", "ClusterRoleBinding", None), ("rolebindings", "RoleBinding", in_namespace)]
    {
        if plural == "rolebindings" && namespace.is_none() {
            continue;
        }
        for (path, binding) in store.list(&rbac(plural), namespace) {
            let subjects = binding["subjects"].as_array().into_iter().flatten();
            let Some(subject) =
                subjects.into_iter().find(|subject| is_subject(subject, path.namespace(), name, &groups))
            else {
                continue;
            };
            let Some(rules) = rules_of(store, binding, path.namespace()) else {
                let role = missing_role(binding);
                if !missing.contains(&role) {
                    missing.push(role);
                }
                continue;
            };
            if rules.iter().any(|rule| action.is_allowed_by(rule)) {
                return Decision { allowed: true, reason: allowed_by(kind, path, binding, subject) };
            }
        }
    }
    let reason = match &missing[..] {
        [] => String::new(),
        [one] => format!("RBAC: {one}"),
        several => format!("RBAC: [{}]", several.join(", ")),
    };
    Decision { allowed: false, reason }
}

/// The rules of the role that a binding names; `None` if there is no such role.
pub(super) fn rules_of(store: &Store, binding: &Value, namespace: Option<&str>) -> Option<Vec<Value>> {
    let name = binding["roleRef"]["name"].as_str()?;
    let (plural, namespace) = match binding["roleRef"]["kind"].as_str()? {
        "ClusterRole" => ("clusterroles", None),
        _ => ("roles", namespace),
    };
    let role = store.get(&rbac(plural), &Path::new(namespace, name))?;
    Some(role["rules"].as_array().cloned().unwrap_or_default())
}

/// Drops the fields that a question doesn't have, and tells them.
fn drop_unknown(spec: &mut Value, own: bool) -> Vec<String> {
    const ALL: [&str; 2] = ["resourceAttributes", "nonResourceAttributes"];
    const OTHERS: [&str; 4] = ["user", "groups", "uid", "extra"];
    let Some(spec) = spec.as_object_mut() else { return Vec::new() };
    let is_known = |field: &str| ALL.contains(&field) || !own && OTHERS.contains(&field);
    let unknown = spec.keys().filter(|field| !is_known(field));
    let unknown = unknown.map(|field| format!("unknown field {:?}", format!("spec.{field}"))).collect();
    spec.retain(|field, _| is_known(field));
    unknown
}

/// A list or watch of one object by its name is about that object.
fn listed_name(request: &Request) -> Option<String> {
    if !matches!(verb(request), "list" | "watch") {
        return None;
    }
    let selector = Selector::parse(None, request.query.get("fieldSelector")).ok()?;
    selector.exact("metadata.name").map(str::to_owned)
}

impl Action {
    pub(super) fn of(request: &Request, target: &Target) -> Self {
        let of_namespace = target.group.is_empty() && target.plural == "namespaces";
        let namespace = if of_namespace { &target.name } else { &target.namespace };
        Self {
            verb: verb(request).to_owned(),
            group: target.group.clone(),
            resource: target.plural.clone(),
            subresource: target.subresource.clone().unwrap_or_default(),
            namespace: namespace.clone().unwrap_or_default(),
            name: target.name.clone().or_else(|| listed_name(request)).unwrap_or_default(),
        }
    }

    /// Whether everybody who is known may do it: the review of one's own access and name.
    fn is_about_oneself(&self) -> bool {
        let own = match self.group.as_str() {
            REVIEWS => ["selfsubjectaccessreviews", "selfsubjectrulesreviews"].contains(&&*self.resource),
            AUTHENTICATION => self.resource == "selfsubjectreviews",
            _ => false,
        };
        own && self.verb == "create"
    }

    fn is_allowed_by(&self, rule: &Value) -> bool {
        let has = |field: &str, wanted: &dyn Fn(&str) -> bool| {
            rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).any(wanted)
        };
        let resource = |rule: &str| match (rule, self.subresource.as_str()) {
            ("*", _) => true,
            (rule, "") => rule == self.resource,
            (rule, subresource) => {
                rule == format!("{}/{subresource}", self.resource) || rule == format!("*/{subresource}")
            }
        };
        let named = rule["resourceNames"].as_array().is_some_and(|names| !names.is_empty());
        has("verbs", &|verb| verb == "*" || verb == self.verb)
            && has("apiGroups", &|group| group == "*" || group == self.group)
            && has("resources", &resource)
            && (!named || has("resourceNames", &|name| name == self.name))
    }

    /// 403, in the words of the real server.
    pub(super) fn refused(&self, user: &User, decision: &Decision) -> Failure {
        let Self { verb, group, resource, subresource, namespace, name } = self;
        let quoted = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
        let qualified = if group.is_empty() { resource.clone() } else { format!("{resource}.{group}") };
        let asked =
            if subresource.is_empty() { resource.clone() } else { format!("{resource}/{subresource}") };
        let scope = match namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace \"{namespace}\""),
        };
        let who = user.name.as_deref().unwrap_or_default();
        let mut message = format!(
            "{qualified}{quoted} is forbidden: User \"{who}\" cannot {verb} resource \"{asked}\" in API group \"{group}\" {scope}"
        );
        if !decision.reason.is_empty() {
            message = format!("{message}: {}", decision.reason);
        }
        let mut details = json!({ "kind": resource });
        for (field, value) in [("name", name), ("group", group)] {
            if !value.is_empty() {
                details[field] = value.clone().into();
            }
        }
        Failure::new(403, "Forbidden", message).with(details)
    }
}

pub(super) fn rbac(plural: &str) -> Resource {
    Resource::new(RBAC, plural)
}

pub(super) fn is_subject(subject: &Value, namespace: Option<&str>, user: &str, groups: &[String]) -> bool {
    let name = subject["name"].as_str().unwrap_or_default();
    match subject["kind"].as_str().unwrap_or_default() {
        "User" => name == user,
        "Group" => groups.iter().any(|group| group == name),
        "ServiceAccount" => {
            let namespace = subject["namespace"].as_str().or(namespace).unwrap_or_default();
            user == format!("system:serviceaccount:{namespace}:{name}")
        }
        _ => false,
    }
}

fn missing_role(binding: &Value) -> String {
    let text = |field: &str| binding["roleRef"][field].as_str().unwrap_or_default();
    format!("{}.{RBAC} \"{}\" not found", text("kind").to_lowercase(), text("name"))
}

pub(super) fn allowed_by(kind: &str, path: &Path, binding: &Value, subject: &Value) -> String {
    let text = |object: &Value, field: &str| object[field].as_str().unwrap_or_default().to_owned();
    let binding_name = match path.namespace() {
        Some(namespace) => format!("{}/{namespace}", path.name()),
        None => path.name().to_owned(),
    };
    let mut who = text(subject, "name");
    if subject["kind"] == "ServiceAccount" {
        who = format!("{who}/{}", text(subject, "namespace"));
    }
    format!(
        "RBAC: allowed by {kind} \"{binding_name}\" of {} \"{}\" to {} \"{who}\"",
        text(&binding["roleRef"], "kind"),
        text(&binding["roleRef"], "name"),
        text(subject, "kind"),
    )
}
