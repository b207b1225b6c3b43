//! Users with few rights, for operators that haven't been granted everything.

use anyhow::Result;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use serde_json::{Value, json};

use crate::{GROUP, Scene, TestObject, eventually};

/// The rule for an operator's own primaries: to follow them, and to write them and their status.
#[must_use]
pub fn primaries() -> Value {
    let resources = ["testresources", "testresources/status"];
    json!({ "apiGroups": [GROUP], "resources": resources, "verbs": ["get", "list", "watch", "patch"] })
}

/// The rule for config maps with these verbs.
#[must_use]
pub fn maps(verbs: &[&str]) -> Value {
    json!({ "apiGroups": [""], "resources": ["configmaps"], "verbs": verbs })
}

/// The rule for config maps that an operator watches, creates, changes and deletes.
#[must_use]
pub fn managed_maps() -> Value {
    maps(&["get", "list", "watch", "create", "patch", "delete"])
}

/// Waits until `request` is refused with `code`. The server notices a moment late that rights or credentials are gone,
/// and requests in that moment still succeed.
///
/// # Errors
/// When it isn't refused in time.
pub async fn until_refused<T>(code: u16, mut request: impl AsyncFnMut() -> kube::Result<T>) -> Result<()> {
    eventually(&format!("a refusal with {code}"), async || {
        let refused = request().await.err();
        Ok(matches!(refused, Some(kube::Error::Api(status)) if status.code == code).then_some(()))
    })
    .await
}

impl<K: TestObject> Scene<K> {
    /// Gives `user` the rights of `rule` in the test's namespace.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn grant(&self, name: &str, user: &str, rule: &Value) -> Result<()> {
        self.grant_in(&self.namespace, name, user, rule).await
    }

    /// The same in another namespace.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn grant_in(&self, namespace: &str, name: &str, user: &str, rule: &Value) -> Result<()> {
        let role: Role = crate::from_json(&json!({ "metadata": { "name": name }, "rules": [rule] }))?;
        let binding: RoleBinding = crate::from_json(&json!({
            "metadata": { "name": name },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
        }))?;
        let (roles, bindings) = self.rights(namespace);
        roles.create(&PostParams::default(), &role).await?;
        bindings.create(&PostParams::default(), &binding).await?;
        Ok(())
    }

    /// Takes back the rights that were granted under that name in the test's namespace.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn revoke(&self, name: &str) -> Result<()> {
        let (roles, bindings) = self.rights(&self.namespace);
        bindings.delete(name, &DeleteParams::default()).await?;
        roles.delete(name, &DeleteParams::default()).await?;
        Ok(())
    }

    fn rights(&self, namespace: &str) -> (Api<Role>, Api<RoleBinding>) {
        let client = || self.client.clone();
        (Api::namespaced(client(), namespace), Api::namespaced(client(), namespace))
    }
}
