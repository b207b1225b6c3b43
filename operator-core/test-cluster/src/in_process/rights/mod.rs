//! Roles: those that every cluster has, what they aggregate, and who may grant what.
//!
//! ```text
//!  roles.json (recorded) ─▶ defaults ─▶ store
//!                                        │ a ClusterRole changes
//!                                        ▼
//!                          aggregate ─▶ rules of admin, edit, view and others with an aggregationRule
//!
//!  write of a role or binding ─▶ escalation: does the user have these rights? ─▶ 403
//! ```
//!
//! # Guarantees
//! - The first roles and bindings are those of the recorded version of Kubernetes; a test compares them with a real
//!   server's.
//! - Nobody but an administrator grants rights that they don't have, unless they may `escalate` or `bind`.

mod aggregate;
mod covers;
mod defaults;
mod escalation;
mod questions;
mod review;

pub(super) use aggregate::sync_roles;
pub(super) use defaults::first;
use escalation::Asker;
pub(super) use questions::wrong_question;
pub(super) use review::review_rules;
use serde_json::Value;

use super::{
    access::{is_subject, rbac, rules_of},
    identity::User,
    request::Request,
    store::{Path, Store},
    write::subresources::Tokens,
};

/// The group of roles and bindings.
pub(super) const RBAC: &str = "rbac.authorization.k8s.io";

/// What is known of users, besides the roles and bindings in the store.
#[derive(Clone, Debug, Default)]
pub(super) struct Rights {
    /// Who makes the request that is being answered.
    asker: Asker,
    /// The tokens of service accounts.
    pub(super) tokens: Tokens,
}

impl Rights {
    /// A request is being answered.
    pub(super) fn begin(&mut self, request: &Request) {
        self.asker = Asker::of(request);
    }

    /// From now on the server itself writes.
    pub(super) fn end(&mut self) {
        self.asker = Asker::default();
    }
}

/// All rules that apply to a user, cluster-wide and in a namespace.
fn rules_for(store: &Store, user: &User, namespace: Option<&str>) -> Vec<Value> {
    let (name, groups) = (user.name.as_deref().unwrap_or_default(), user.all_groups());
    let mut rules = Vec::new();
    let mut add = |plural: &str, namespace: Option<&str>| {
        for (path, binding) in store.list(&rbac(plural), namespace) {
            let mut subjects = binding["subjects"].as_array().into_iter().flatten();
            if subjects.any(|subject| is_subject(subject, path.namespace(), name, &groups)) {
                rules.extend(rules_of(store, binding, path.namespace()).into_iter().flatten());
            }
        }
    };
    add("clusterrolebindings", None);
    if namespace.is_some() {
        add("rolebindings", namespace);
    }
    rules
}

/// The texts of a list.
fn texts<'v>(rule: &'v Value, field: &str) -> Vec<&'v str> {
    rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A path of a role or binding that has a namespace or none.
fn path_of(name: &str) -> Path {
    match name.split_once('/') {
        Some((namespace, name)) => Path::new(Some(namespace), name),
        None => Path::new(None, name),
    }
}
