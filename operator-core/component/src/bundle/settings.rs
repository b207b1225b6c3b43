//! What a primary says about its bundle. Each answer has a default.

use std::time::Duration;

use operator_core::{
    BoxError, Permanent,
    dependent::{Adoption, Pushed},
    resource::KubeObject,
};
use serde_json::Value;

use crate::generator::LookupKey;

/// How often a bundle that is ready is looked at although nothing has happened.
const REQUEUE: Duration = Duration::from_secs(600);

/// What a primary says about its [`Bundle`](super::Bundle). Everything has a default, so that an implementation names only what
/// differs:
///
/// ```
/// use std::time::Duration;
///
/// use k8s_openapi::api::core::v1::Pod;
/// use operator_component::Settings;
///
/// struct InShop;
///
/// impl Settings<Pod> for InShop {
///     fn namespace(&self, _: &Pod) -> Option<String> {
///         Some("shop".to_owned())
///     }
///
///     fn timeout(&self, _: &Pod) -> Duration {
///         Duration::from_secs(300)
///     }
/// }
/// ```
pub trait Settings<P: KubeObject>: Send + Sync + 'static {
    /// The namespace in which it is deployed: that of objects that name none. By default the primary's.
    fn namespace(&self, primary: &P) -> Option<String> {
        primary.meta().namespace.clone()
    }

    /// Its name, for templates. By default the primary's.
    fn name(&self, primary: &P) -> String {
        primary.meta().name.clone().unwrap_or_default()
    }

    /// What templates take. By default the `spec` of the primary.
    ///
    /// # Errors
    /// If the primary can't be written as JSON.
    fn parameters(&self, primary: &P) -> Result<Value, BoxError> {
        let mut json = serde_json::to_value(primary).map_err(Permanent::new)?;
        Ok(json["spec"].take())
    }

    /// The Secrets, ConfigMaps and other objects that the primary names. Their content, without metadata and status, is a part
    /// of what the objects are made of: when it changes, the primary is woken, and a new revision begins. While one of them
    /// doesn't exist, the bundle waits for it. A generator reads them with its `lookup`. By default there are none.
    fn references(&self, _: &P) -> Vec<LookupKey> {
        Vec::new()
    }

    /// How soon a bundle that is ready is looked at again although nothing has happened. By default after ten minutes.
    fn requeue(&self, _: &P) -> Duration {
        REQUEUE
    }

    /// How long it may be processed before its state is `Error`; work goes on. The time counts from `processingSince`, which starts anew
    /// when the component or its manifests change. By default as long as [`requeue`](Self::requeue).
    fn timeout(&self, primary: &P) -> Duration {
        self.requeue(primary)
    }

    /// Whether nothing is changed for now: what exists stays as it is. A deletion is never suspended. By default it isn't.
    fn is_suspended(&self, _: &P) -> bool {
        false
    }

    /// Whether [`namespace`](Self::namespace) is made if it doesn't exist. It is never deleted. By default it is made.
    fn makes_namespaces(&self, _: &P) -> bool {
        true
    }

    /// Kinds, by group and kind, that its objects define although there is no definition among them: those that an operator
    /// among them defines by itself, for example. While there is an object of such a kind that isn't the bundle's, nothing of the bundle is deleted.
    /// By default there are none.
    fn managed_types(&self, _: &P) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The policies of an object that doesn't have some of its own. By default it is adopted if nobody owns it.
    fn defaults<'o>(&self, _: &P, object: Pushed<'o>) -> Pushed<'o> {
        object.adopt(Adoption::IfUnowned)
    }

    /// The content of a file with the address of another cluster. That isn't possible yet, and refused.
    fn kubeconfig(&self, _: &P) -> Option<Vec<u8>> {
        None
    }

    /// The user in whose name its objects are written. That isn't possible yet, and refused.
    fn impersonation(&self, _: &P) -> Option<String> {
        None
    }
}

/// All defaults.
impl<P: KubeObject> Settings<P> for () {}
