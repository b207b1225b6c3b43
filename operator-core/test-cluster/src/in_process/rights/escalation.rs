//! Who may write which roles and bindings: nobody grants what they don't have.

use serde_json::{Value, json};

use super::{RBAC, Rights, covers::lacking, rules_for};
use crate::in_process::{
    access::{Action, decide, rules_of},
    failure::Failure,
    identity::User,
    kinds::Kind,
    request::{Request, Route},
    store::{Path, Store},
};

/// Who makes the request that is being answered, and which object its path names.
#[derive(Clone, Debug, Default)]
pub(in crate::in_process) struct Asker {
    user: User,
    name: Option<String>,
}

impl Asker {
    /// Who makes a request. The server itself is the default.
    pub(in crate::in_process) fn of(request: &Request) -> Self {
        let name = match &request.route {
            Route::Objects(target) if target.group == RBAC => target.name.clone(),
            _ => None,
        };
        Self { user: request.user.clone(), name }
    }
}

impl Rights {
    /// Refuses an object that its writer may only change, if it isn't there: an apply and a PUT create it, too.
    pub(in crate::in_process) fn may_create(
        &self,
        store: &Store,
        kind: &Kind,
        path: &Path,
    ) -> Result<(), Failure> {
        let user = &self.asker.user;
        if user.is_administrator() {
            return Ok(());
        }
        let namespace = if kind.is_namespace() { Some(path.name()) } else { path.namespace() };
        let create = Action {
            verb: "create".to_owned(),
            group: kind.group.clone(),
            resource: kind.plural.clone(),
            name: path.name().to_owned(),
            namespace: namespace.unwrap_or_default().to_owned(),
            ..Action::default()
        };
        let decision = decide(store, user, &create);
        if decision.allowed { Ok(()) } else { Err(create.refused(user, &decision)) }
    }

    /// Refuses a role or binding by which its writer would grant more than they have.
    pub(in crate::in_process) fn may_grant(
        &self,
        store: &Store,
        kind: &Kind,
        path: &Path,
        before: Option<&Value>,
        object: &Value,
    ) -> Result<(), Failure> {
        if kind.group != RBAC || self.asker.user.is_administrator() {
            return Ok(());
        }
        if before.is_some_and(|before| same_rights(before, object)) {
            return Ok(());
        }
        match kind.plural.as_str() {
            "roles" | "clusterroles" => self.may_grant_rules(store, kind, path, before, object),
            _ => self.may_bind(store, kind, path, object),
        }
    }

    fn may_grant_rules(
        &self,
        store: &Store,
        kind: &Kind,
        path: &Path,
        before: Option<&Value>,
        object: &Value,
    ) -> Result<(), Failure> {
        let escalate = Action {
            verb: "escalate".to_owned(),
            group: RBAC.to_owned(),
            resource: kind.plural.clone(),
            name: self.asker.name.clone().unwrap_or_default(),
            namespace: path.namespace().unwrap_or_default().to_owned(),
            ..Action::default()
        };
        if decide(store, &self.asker.user, &escalate).allowed {
            return Ok(());
        }
        let rules = object["rules"].as_array().cloned().unwrap_or_default();
        self.has_all(store, kind, path, &rules)?;
        let aggregates = |role: &Value| {
            let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array();
            selectors.is_some_and(|selectors| !selectors.is_empty())
        };
        let everything = [
            json!({ "apiGroups": ["*"], "resources": ["*"], "verbs": ["*"] }),
            json!({ "nonResourceURLs": ["*"], "verbs": ["*"] }),
        ];
        if (aggregates(object) || before.is_some_and(aggregates))
            && self.has_all(store, kind, path, &everything).is_err()
        {
            let why = "must have cluster-admin privileges to use the aggregationRule";
            return Err(Failure::forbidden(kind, path.name(), why));
        }
        Ok(())
    }

    fn may_bind(&self, store: &Store, kind: &Kind, path: &Path, object: &Value) -> Result<(), Failure> {
        let text = |field: &str| object["roleRef"][field].as_str().unwrap_or_default().to_owned();
        let bind = Action {
            verb: "bind".to_owned(),
            group: text("apiGroup"),
            resource: if text("kind") == "ClusterRole" { "clusterroles" } else { "roles" }.to_owned(),
            name: text("name"),
            namespace: path.namespace().unwrap_or_default().to_owned(),
            ..Action::default()
        };
        if decide(store, &self.asker.user, &bind).allowed {
            return Ok(());
        }
        match rules_of(store, object, path.namespace()) {
            Some(rules) => self.has_all(store, kind, path, &rules),
            // It is told as if the binding weren't there.
            None => Err(Failure::not_found(kind, &text("name"))),
        }
    }

    fn has_all(&self, store: &Store, kind: &Kind, path: &Path, rules: &[Value]) -> Result<(), Failure> {
        let user = &self.asker.user;
        let missing = lacking(&rules_for(store, user, path.namespace()), rules);
        if missing.is_empty() {
            return Ok(());
        }
        let name = user.name.as_deref().unwrap_or_default();
        let groups: Vec<String> = user.all_groups().iter().map(|group| format!("{group:?}")).collect();
        let why = format!(
            "user {name:?} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
            groups.join(" "),
            missing.join("\n")
        );
        Err(Failure::forbidden(kind, path.name(), &why))
    }
}

/// Whether only owners and finalizers differ.
fn same_rights(before: &Value, object: &Value) -> bool {
    let rest = |object: &Value| {
        let mut object = object.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            for field in ["ownerReferences", "finalizers", "selfLink", "managedFields"] {
                metadata.remove(field);
            }
        }
        object
    };
    rest(before) == rest(object)
}
